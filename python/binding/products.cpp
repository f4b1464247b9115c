// Products of matrices, contractions and Fourier transforms. Results are made by Python's side, but for the product of
// two matrices, which has to be quick.

#include "handle.hpp"
#include "troupe/library/scope/inferred.hpp"

namespace troupe::python {
namespace {

/// What `matmul` multiplies without the help of Python's side.
bool is_multiplied(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

/// None for types and shapes that are no business of `matmul().multiply`.
nb::object product(const Handle& a, const Handle& b) {
  const DType dtype = a.array.dtype();
  if (dtype != b.array.dtype() || !is_multiplied(dtype)) return nb::none();
  if (a.array.rank() < 2 || b.array.rank() < 2) return nb::none();
  const Shape shape = checked(detail::shape_of_product(a.array.shape(), b.array.shape()));
  AnyArray out = allocate(a.device, dtype, shape);
  submit(a.device, [&] { return a.device.matmul().multiply(a.array, b.array, out); });
  return wrap(std::move(out), a.device);
}

const AnyArray* array_or_none(nb::handle object) { return object.is_none() ? nullptr : &handle_of(object).array; }

Activation activation_from(const std::string& word) {
  if (word == "relu") return Activation::relu;
  if (word == "gelu_tanh") return Activation::gelu_tanh;
  if (word == "none") return Activation::none;
  raise(ErrorKind::invalid_argument, "activation is \"" + word + "\"; it can be none, relu or gelu_tanh");
}

void layer(const Handle& a, const Handle& b, const Handle& out, double alpha, const std::string& activation,
           nb::handle bias, nb::handle preactivation) {
  MatmulOptions options;
  options.alpha = alpha;
  options.activation = activation_from(activation);
  options.bias = array_or_none(bias);
  options.preactivation = array_or_none(preactivation);
  submit(a.device, [&] { return a.device.matmul().multiply(a.array, b.array, out.array, options); });
}

void layer_gradient(const Handle& a, const Handle& b, const Handle& out, double alpha, const std::string& activation,
                    nb::handle preactivation, nb::handle bias_gradient) {
  MatmulGradientOptions options;
  options.alpha = alpha;
  options.activation = activation_from(activation);
  options.preactivation = array_or_none(preactivation);
  options.bias_gradient = array_or_none(bias_gradient);
  submit(a.device, [&] { return a.device.matmul().gradient(a.array, b.array, out.array, options); });
}

std::vector<AnyArray> arrays_from(nb::handle list) {
  std::vector<AnyArray> arrays;
  for (const nb::handle item : list) arrays.push_back(handle_of(item).array);
  return arrays;
}

nb::object einsum(const std::string& text, nb::handle list) {
  const std::vector<AnyArray> operands = arrays_from(list);
  if (operands.empty()) raise(ErrorKind::invalid_argument, "einsum: there are no operands");
  const Device& device = handle_of(nb::object(list[0])).device;
  const detail::Operands all(operands);
  AnyArray out = allocate(device, operands.front().dtype(), checked(detail::shape_of_einsum(device, text, all.all())));
  submit(device, [&] { return device.tensor().einsum(text, detail::Operands(operands), out); });
  return wrap(std::move(out), device);
}

std::vector<int> axes_from(nb::handle axes) {
  std::vector<int> numbers;
  for (const nb::handle axis : axes) numbers.push_back(nb::cast<int>(axis));
  return numbers;
}

FftOptions fft_options(nb::handle axes, const std::string& norm) {
  FftOptions options{.axes = axes_from(axes)};
  if (norm == "ortho")
    options.norm = FftNorm::ortho;
  else if (norm == "forward")
    options.norm = FftNorm::forward;
  else if (norm != "backward")
    raise(ErrorKind::invalid_argument, "norm is \"" + norm + "\"; it can be backward, ortho or forward");
  return options;
}

}  // namespace

void bind_products(nb::module_& module) {
  module.def("product", &product);
  module.def("layer", &layer, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("alpha"), nb::arg("activation"),
             nb::arg("bias").none(), nb::arg("preactivation").none());
  module.def("layer_gradient", &layer_gradient, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("alpha"),
             nb::arg("activation"), nb::arg("preactivation").none(), nb::arg("bias_gradient").none());
  module.def("gemm_group", [](nb::handle a, nb::handle b, nb::handle c, double alpha, double beta) {
    const std::vector<AnyArray> left = arrays_from(a), right = arrays_from(b), out = arrays_from(c);
    if (out.empty()) raise(ErrorKind::invalid_argument, "gemm_group: there are no products");
    const Device device = handle_of(nb::object(c[0])).device;
    submit(device, [&] { return device.blas().gemm_group(left, right, out, {.alpha = alpha, .beta = beta}); });
  });
  module.def("einsum", &einsum);
  module.def("gemm", [](const Handle& a, const Handle& b, const Handle& out) {
    submit(a.device, [&] { return a.device.blas().gemm(a.array, b.array, out.array); });
  });
  module.def("fft", [](const Handle& x, const Handle& y, nb::handle axes, const std::string& norm, bool is_inverse) {
    const FftOptions options = fft_options(axes, norm);
    submit(x.device, [&] {
      return is_inverse ? x.device.fft().inverse(x.array, y.array, options)
                        : x.device.fft().forward(x.array, y.array, options);
    });
  });
  module.def("fftshift", [](const Handle& x, const Handle& y, nb::handle axes, bool is_inverse) {
    const detail::Axes along = axes_from(axes);
    submit(x.device, [&] {
      return is_inverse ? x.device.fft().ifftshift(x.array, y.array, along)
                        : x.device.fft().fftshift(x.array, y.array, along);
    });
  });
}

}  // namespace troupe::python
