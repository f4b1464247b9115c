// Ops of BLAS that give a number: they wait for it, without the interpreter lock.
#include "handle.hpp"

namespace troupe::python {
namespace {

template <class T>
nb::object number_of(T number) {
  if constexpr (std::integral<T>)
    return nb::int_(number);
  else if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>)
    return nb::steal(PyComplex_FromDoubles(number.real(), number.imag()));
  else
    return nb::float_(static_cast<double>(number));
}

template <class T>
nb::object given(Call<T> call) {
  Result<T> end = [&] {
    nb::gil_scoped_release released;
    return std::move(call).get(std::source_location());
  }();
  return number_of(checked(std::move(end)));
}

/// Calls `function` with the array as one of its type; `invalid_argument` for types other than these four.
template <class Function>
nb::object typed(const char* call, const Handle& x, const Function& function) {
  switch (x.array.dtype()) {
    case DType::f32: return function(checked(x.array.as<float>()));
    case DType::f64: return function(checked(x.array.as<double>()));
    case DType::c64: return function(checked(x.array.as<std::complex<float>>()));
    case DType::c128: return function(checked(x.array.as<std::complex<double>>()));
    default: break;
  }
  raise(ErrorKind::unsupported,
        std::string(call) + " takes f32, f64, c64 or c128; this is " + std::string(name(x.array.dtype())));
}

}  // namespace

void bind_numbers(nb::module_& module) {
  module.def("dot", [](const Handle& x, const Handle& y, bool conjugate) {
    return typed("dot", x, [&]<class T>(const Array<T>& a) {
      return given(x.device.blas().dot(a, checked(y.array.as<T>()), {.conjugate = conjugate}));
    });
  });
  module.def("nrm2", [](const Handle& x) {
    return typed("nrm2", x, [&](const auto& a) { return given(x.device.blas().nrm2(a)); });
  });
  module.def("asum", [](const Handle& x) {
    return typed("asum", x, [&](const auto& a) { return given(x.device.blas().asum(a)); });
  });
  module.def("iamax", [](const Handle& x) { return given(x.device.blas().iamax(x.array)); });
  module.def("iamin", [](const Handle& x) { return given(x.device.blas().iamin(x.array)); });
  module.def("rot", [](const Handle& x, const Handle& y, double cosine, nb::handle given_sine) {
    const std::complex<double> sine(PyComplex_RealAsDouble(given_sine.ptr()), PyComplex_ImagAsDouble(given_sine.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
    submit(x.device, [&] { return x.device.blas().rot(x.array, y.array, cosine, sine); });
  });
}

}  // namespace troupe::python
