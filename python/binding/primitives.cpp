// Primitives: sorts, scans, searches and moves by indices. Python's side makes the arrays that are written.
#include "handle.hpp"

namespace troupe::python {
namespace {

Combine combine_from(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(Combine::kLast); ++i)
    if (word == name(static_cast<Combine>(i))) return static_cast<Combine>(i);
  raise(ErrorKind::invalid_argument, "there is no way \"" + word + "\" to put elements together");
}

SortOptions sort_options(int axis, bool descending) {
  return {.order = descending ? SortOrder::descending : SortOrder::ascending, .axis = axis};
}

void scan(const std::string& function, const Handle& x, const Handle& y, int axis, bool exclusive) {
  const Combine combine = combine_from(function);
  submit(x.device,
         [&] { return x.device.primitives().scan(combine, x.array, y.array, {.axis = axis, .exclusive = exclusive}); });
}

void arg_reduce(const Handle& x, const Handle& indices, int axis, bool greatest) {
  submit(x.device, [&] {
    const Primitives primitives = x.device.primitives();
    return greatest ? primitives.argmax(x.array, indices.array, {.axis = axis})
                    : primitives.argmin(x.array, indices.array, {.axis = axis});
  });
}

void sort(const Handle& keys, const Handle& sorted, int axis, bool descending) {
  submit(keys.device,
         [&] { return keys.device.primitives().sort(keys.array, sorted.array, sort_options(axis, descending)); });
}

void argsort(const Handle& keys, const Handle& indices, int axis, bool descending) {
  submit(keys.device,
         [&] { return keys.device.primitives().argsort(keys.array, indices.array, sort_options(axis, descending)); });
}

void top_k(const Handle& keys, const Handle& best, const Handle& indices, int axis, bool greatest) {
  submit(keys.device, [&] {
    return keys.device.primitives().top_k(keys.array, best.array, indices.array, {.greatest = greatest, .axis = axis});
  });
}

void search(const Handle& sorted, const Handle& keys, const Handle& places, bool right) {
  submit(keys.device, [&] {
    const Primitives primitives = keys.device.primitives();
    return right ? primitives.upper_bound(sorted.array, keys.array, places.array)
                 : primitives.lower_bound(sorted.array, keys.array, places.array);
  });
}

void gather(const Handle& x, const Handle& indices, const Handle& y, int axis) {
  submit(x.device, [&] { return x.device.primitives().gather(x.array, indices.array, y.array, {.axis = axis}); });
}

}  // namespace

void bind_primitives(nb::module_& module) {
  module.def("scan", &scan);
  module.def("arg_reduce", &arg_reduce);
  module.def("sort", &sort);
  module.def("argsort", &argsort);
  module.def("top_k", &top_k);
  module.def("search", &search);
  module.def("gather", &gather);
  module.def("select", [](const Handle& x, const Handle& flags, const Handle& y, const Handle& count) {
    submit(x.device, [&] { return x.device.primitives().select(x.array, flags.array, y.array, count.array); });
  });
  module.def("unique", [](const Handle& sorted, const Handle& y, const Handle& count) {
    submit(y.device, [&] { return y.device.primitives().unique(sorted.array, y.array, count.array); });
  });
  module.def("histogram", [](const Handle& x, const Handle& bounds, const Handle& counts) {
    submit(x.device, [&] { return x.device.primitives().histogram(x.array, bounds.array, counts.array); });
  });
}

}  // namespace troupe::python
