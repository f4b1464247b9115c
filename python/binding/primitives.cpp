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

template <class Choice>
Choice choice_from(const std::string& word, std::initializer_list<std::string_view> words) {
  const auto* const found = std::ranges::find(words, word);
  if (found == words.end()) raise(ErrorKind::invalid_argument, "\"" + word + "\" is no choice here");
  return static_cast<Choice>(found - words.begin());
}

SortOrder order_from(bool descending) { return descending ? SortOrder::descending : SortOrder::ascending; }

void scatter(const Handle& x, const Handle& indices, const Handle& y, const std::string& duplicates, int axis) {
  const auto choice = choice_from<Duplicates>(duplicates, {"last", "add", "min", "max"});
  submit(x.device, [&] {
    return x.device.primitives().scatter(x.array, indices.array, y.array, {.duplicates = choice, .axis = axis});
  });
}

void sets(const std::string& operation, const Handle& a, const Handle& b, const Handle& y, const Handle& count) {
  const auto choice =
      choice_from<SetOperation>(operation, {"unite", "intersect", "difference", "symmetric_difference"});
  submit(a.device, [&] { return a.device.primitives().sets(choice, a.array, b.array, y.array, count.array); });
}

void sort_with_values(const Handle& keys, const Handle& values, const Handle& sorted, const Handle& moved, int axis,
                      bool descending) {
  submit(keys.device, [&] {
    return keys.device.primitives().sort(keys.array, values.array, sorted.array, moved.array,
                                         sort_options(axis, descending));
  });
}

void bind_segments(nb::module_& module) {
  module.def("segmented_sort", [](const Handle& offsets, const Handle& keys, const Handle& sorted, bool descending) {
    submit(keys.device, [&] {
      return keys.device.primitives().segmented_sort(offsets.array, keys.array, sorted.array, order_from(descending));
    });
  });
  module.def("segmented_reduce", [](const std::string& function, const Handle& offsets, const Handle& x,
                                    const Handle& y) {
    const Combine combine = combine_from(function);
    submit(x.device, [&] { return x.device.primitives().segmented_reduce(combine, offsets.array, x.array, y.array); });
  });
  module.def("segmented_scan",
             [](const std::string& function, const Handle& offsets, const Handle& x, const Handle& y, bool exclusive) {
               const Combine combine = combine_from(function);
               submit(x.device, [&] {
                 return x.device.primitives().segmented_scan(combine, offsets.array, x.array, y.array, exclusive);
               });
             });
}

}  // namespace

void bind_primitives(nb::module_& module) {
  bind_segments(module);
  module.def("scan", &scan);
  module.def("scatter", &scatter);
  module.def("sets", &sets);
  module.def("sort_with_values", &sort_with_values);
  module.def("reduce_rows", [](const std::string& function, const Handle& x, const Handle& y, int axis) {
    const Combine combine = combine_from(function);
    submit(x.device, [&] { return x.device.primitives().reduce(combine, x.array, y.array, {.axis = axis}); });
  });
  module.def("partition", [](const Handle& x, const Handle& flags, const Handle& y, const Handle& count) {
    submit(x.device, [&] { return x.device.primitives().partition(x.array, flags.array, y.array, count.array); });
  });
  module.def("positions", [](const Handle& flags, const Handle& y, const Handle& count) {
    submit(y.device, [&] { return y.device.primitives().positions(flags.array, y.array, count.array); });
  });
  module.def("run_lengths", [](const Handle& x, const Handle& y, const Handle& lengths, const Handle& count) {
    submit(x.device, [&] { return x.device.primitives().run_lengths(x.array, y.array, lengths.array, count.array); });
  });
  module.def("histogram_between", [](const Handle& x, double low, double high, const Handle& counts) {
    submit(x.device, [&] { return x.device.primitives().histogram(x.array, low, high, counts.array); });
  });
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
