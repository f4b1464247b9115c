// Expressions: Python's side builds them while it runs a function of the user's; here they are computed in one op.
#include "handle.hpp"

namespace troupe::python {
namespace {

Expression number_from(nb::handle number) {
  const std::complex<double> value(PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr()));
  if (PyErr_Occurred()) throw nb::python_error();
  return Expression(value);
}

void reduce(int function, const Expression& expression, nb::handle given_axes, const Handle& out) {
  std::vector<int> axes;
  for (const nb::handle axis : given_axes) axes.push_back(nb::cast<int>(axis));
  submit(out.device, [&] {
    return out.device.tensor().reduce(static_cast<Reduction>(function), expression, detail::Axes(axes), out.array);
  });
}

}  // namespace

void bind_expressions(nb::module_& module) {
  nb::class_<Expression>(module, "Expression").def("to_string", &Expression::to_string);
  module.def("expression_of_array", [](const Handle& array) { return Expression(array.array); });
  module.def("expression_of_number", &number_from);
  module.def("expression_unary",
             [](int function, const Expression& a) { return Expression::of(static_cast<Unary>(function), a); });
  module.def("expression_binary", [](int function, const Expression& a, const Expression& b) {
    return Expression::of(static_cast<Binary>(function), a, b);
  });
  module.def("expression_ternary", [](int function, const Expression& a, const Expression& b, const Expression& c) {
    return Expression::of(static_cast<Ternary>(function), a, b, c);
  });
  module.def("evaluate", [](const Expression& expression, const Handle& out) {
    submit(out.device, [&] { return out.device.tensor().evaluate(expression, out.array); });
  });
  module.def("evaluate_reduce", &reduce);
}

}  // namespace troupe::python
