// The handle of an array as Python sees it: what it is, its views, its content, and how memory is made and filled.
#include <cstring>

#include "handle.hpp"

namespace troupe::python {
namespace {

nb::object view(const Handle& self, Result<AnyArray> made) { return wrap(checked(std::move(made)), self.device); }

std::vector<int> numbers_from(nb::handle list) {
  std::vector<int> numbers;
  for (const nb::handle item : list) numbers.push_back(nb::cast<int>(item));
  return numbers;
}

/// Any number of Python's, as what the op keeps.
Call<void> fill_call(const Handle& self, nb::handle value) {
  const auto fill = [&](auto number) { return self.device.fill(self.array, number); };
  if (PyBool_Check(value.ptr())) return fill(value.ptr() == Py_True);
  if (PyLong_Check(value.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return fill(static_cast<std::int64_t>(number));
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (!PyErr_Occurred()) return fill(static_cast<std::uint64_t>(large));
    PyErr_Clear();
    const double rounded = PyLong_AsDouble(value.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return fill(rounded);
  }
  if (PyComplex_Check(value.ptr()))
    return fill(std::complex<double>(PyComplex_RealAsDouble(value.ptr()), PyComplex_ImagAsDouble(value.ptr())));
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return fill(number);
}

nb::object broadcast_to(const Handle& self, const Shape& shape) { return view(self, self.array.broadcast(shape)); }

/// The address of the first element where the app sees it, and 0 where not.
std::uintptr_t address(const Handle& self) { return reinterpret_cast<std::uintptr_t>(address_of(self.array)); }

nb::object reshape(const Handle& self, nb::handle extents) {
  std::vector<std::int64_t> numbers;
  for (const nb::handle extent : extents) numbers.push_back(nb::cast<std::int64_t>(extent));
  const Shape shape(numbers);
  if (self.array.is_contiguous()) return view(self, self.array.reshape(shape));
  AnyArray whole = allocate(self.device, self.array.dtype(), self.array.shape());
  submit(self.device, [&] { return self.device.copy(self.array, whole); });
  return view(self, whole.reshape(shape));
}

std::string content(const Handle& self) {
  switch (self.array.content()) {
    case Content::whole: return "whole";
    case Content::empty: return "empty";
    case Content::skipped: return "skipped";
    case Content::unknown: break;
  }
  return "unknown";
}

/// The first element as a number of Python's; None where the app does not see it. Needs an array of one element.
nb::object item(const Handle& self) {
  wait_until_ready(self.device, self.array);
  const std::byte* const at = address_of(self.array);
  if (at == nullptr) return nb::none();
  return visit(self.array.dtype(), [&]<class T>(std::type_identity<T>) -> nb::object {
    T element;
    std::memcpy(&element, at, sizeof(T));
    if constexpr (std::same_as<T, bool>)
      return nb::bool_(element);
    else if constexpr (std::integral<T>)
      return nb::int_(element);
    else if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>)
      return nb::steal(PyComplex_FromDoubles(element.real(), element.imag()));
    else
      return nb::float_(static_cast<double>(static_cast<detail::ComputeType<T>>(element)));
  });
}

void bind_handle(nb::module_& module) {
  nb::class_<Handle>(module, "Handle", nb::is_weak_referenceable())
      .def_prop_ro("shape",
                   [](const Handle& self) { return tuple_of({self.array.shape().begin(), self.array.shape().end()}); })
      .def_prop_ro("ndim", [](const Handle& self) { return self.array.rank(); })
      .def_prop_ro("size", [](const Handle& self) { return self.array.element_count(); })
      .def_prop_ro("dtype_number", [](const Handle& self) { return static_cast<int>(self.array.dtype()); })
      .def_prop_ro(
          "element_strides",
          [](const Handle& self) { return tuple_of({self.array.strides().begin(), self.array.strides().end()}); })
      .def_prop_ro("is_contiguous", [](const Handle& self) { return self.array.is_contiguous(); })
      .def_prop_ro("is_sealed", [](const Handle& self) { return self.array.is_sealed(); })
      .def_prop_ro("content", &content)
      .def_prop_ro("address", &address)
      .def_prop_ro("device_handle", [](const Handle& self) { return self.device; })
      .def("wait", [](const Handle& self) { wait_until_ready(self.device, self.array); })
      .def("is_same_memory",
           [](const Handle& self, const Handle& other) { return self.array.view() == other.array.view(); })
      .def("may_share_memory",
           [](const Handle& self, const Handle& other) { return self.array.range().overlaps(other.array.range()); })
      .def("view_reshaped", &reshape)
      .def("view_transposed", [](const Handle& self) { return wrap(self.array.transpose(), self.device); })
      .def("view_permuted",
           [](const Handle& self, nb::handle order) { return view(self, self.array.permute(numbers_from(order))); })
      .def("view_broadcast",
           [](const Handle& self, nb::handle extents) { return broadcast_to(self, shape_from(extents)); })
      .def("first_element", &item)
      .def("accept_skipped", [](const Handle& self) { check(self.array.accept_skipped()); });
}

}  // namespace

void bind_arrays(nb::module_& module) {
  bind_handle(module);
  module.def("allocate", [](const Device& device, nb::handle shape, int dtype, int place) {
    return wrap(allocate(device, dtype_from(dtype), shape_from(shape), static_cast<Place>(place)), device);
  });
  module.def("fill",
             [](const Handle& self, nb::handle value) { submit(self.device, [&] { return fill_call(self, value); }); });
  module.def("copy", [](const Handle& from, const Handle& to) {
    submit(to.device, [&] { return to.device.copy(from.array, to.array); });
  });
  module.def("cast", [](const Handle& from, const Handle& to) {
    submit(to.device, [&] { return to.device.cast(from.array, to.array); });
  });
  module.def("seal", [](const Handle& self) { wait_for_end(self.device, self.device.seal(self.array)); });
  module.def("unseal", [](const Handle& self) { wait_for_end(self.device, self.device.unseal(self.array)); });
}

}  // namespace troupe::python
