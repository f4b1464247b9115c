// Functions of elements and reductions, with NumPy's types: arrays are promoted by `op::promoted`, and a plain number
// of Python is weak: it has the type of the arrays beside it, unless it is of a higher kind (bool, integer, float,
// complex).
#include "handle.hpp"
#include "troupe/library/scope/inferred.hpp"
#include "troupe/library/tensor/broadcast.hpp"
#include "troupe/op/promotion.hpp"

namespace troupe::python {
namespace {

enum class NumberKind : int { boolean, integer, floating, complex };

NumberKind kind_of(DType dtype) noexcept {
  if (is_complex(dtype)) return NumberKind::complex;
  if (is_floating(dtype)) return NumberKind::floating;
  return dtype == DType::boolean ? NumberKind::boolean : NumberKind::integer;
}

/// An operand: an array, or a plain number of Python.
class Term {
 public:
  /// `beside` is the array that other objects are converted for.
  Term(nb::handle object, nb::handle beside) {
    if (is_array(object)) {
      array_ = &handle_of(object);
    } else if (PyBool_Check(object.ptr())) {
      set(NumberKind::boolean, static_cast<std::int64_t>(object.ptr() == Py_True));
    } else if (PyLong_CheckExact(object.ptr())) {
      set_integer(object);
    } else if (PyFloat_CheckExact(object.ptr())) {
      set(NumberKind::floating, PyFloat_AsDouble(object.ptr()));
    } else if (PyComplex_CheckExact(object.ptr())) {
      set(NumberKind::complex,
          std::complex<double>(PyComplex_RealAsDouble(object.ptr()), PyComplex_ImagAsDouble(object.ptr())));
    } else {
      kept_ = registry().convert(object, beside);
      array_ = &handle_of(kept_);
    }
  }

  const Handle* array() const noexcept { return array_; }
  NumberKind kind() const noexcept { return kind_; }

  /// Whether a number can be that without loss of what NumPy keeps.
  bool fits(DType dtype) const {
    if (kind_ != NumberKind::integer || !is_integer(dtype)) return true;
    return visit(dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::integral<T> && !std::same_as<T, bool>)
        return is_large_ ? sizeof(T) == 8 && std::unsigned_integral<T> && !is_huge_ : std::in_range<T>(integer_);
      else
        return true;
    });
  }
  detail::Operand operand() const {
    if (array_) return array_->array;
    if (converted_) return converted_->array;
    switch (kind_) {
      case NumberKind::boolean:
      case NumberKind::integer: return is_large_ ? detail::Operand(natural_) : detail::Operand(integer_);
      case NumberKind::floating: return real_;
      case NumberKind::complex: break;
    }
    return complex_;
  }
  std::string text() const { return nb::cast<std::string>(nb::str(nb::handle(object_))); }

  /// Makes an array of a number: of a kind that the other arrays are not.
  void become_array(const Device& device, DType dtype) {
    AnyArray made = allocate(device, dtype, Shape());
    submit(device, [&] {
      switch (kind_) {
        case NumberKind::boolean:
        case NumberKind::integer: return is_large_ ? device.fill(made, natural_) : device.fill(made, integer_);
        case NumberKind::floating: return device.fill(made, real_);
        case NumberKind::complex: break;
      }
      return device.fill(made, complex_);
    });
    converted_.emplace(Handle{std::move(made), device});
  }
  /// The array, or the one that it has become; null for a number.
  const AnyArray* as_array() const noexcept {
    if (array_) return &array_->array;
    return converted_ ? &converted_->array : nullptr;
  }

 private:
  void set(NumberKind kind, std::int64_t number) {
    kind_ = kind, integer_ = number, real_ = static_cast<double>(number);
  }
  void set(NumberKind kind, double number) { kind_ = kind, real_ = number; }
  void set(NumberKind kind, std::complex<double> number) { kind_ = kind, complex_ = number; }
  void set_integer(nb::handle object) {
    object_ = object.ptr();
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    set(NumberKind::integer, static_cast<std::int64_t>(number));
    if (overflow == 0) return;
    is_large_ = true;
    natural_ = overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
    is_huge_ = overflow < 0 || PyErr_Occurred() != nullptr;
    PyErr_Clear();
    if (is_huge_) {
      real_ = PyLong_AsDouble(object.ptr());
      if (PyErr_Occurred()) throw nb::python_error();
      set(NumberKind::floating, real_);
      is_large_ = false;
    }
  }

  nb::object kept_;
  PyObject* object_ = nullptr;  // an integer of the caller's
  const Handle* array_ = nullptr;
  std::optional<Handle> converted_;
  NumberKind kind_ = NumberKind::boolean;
  bool is_large_ = false;  // an integer that only u64 holds
  bool is_huge_ = false;   // one that no integer type holds
  std::int64_t integer_ = 0;
  std::uint64_t natural_ = 0;
  double real_ = 0;
  std::complex<double> complex_;
};

/// What NumPy makes of a number beside arrays of a lower kind.
DType type_beside(NumberKind number, DType arrays) noexcept {
  switch (number) {
    case NumberKind::boolean: return DType::boolean;
    case NumberKind::integer: return DType::i64;
    case NumberKind::floating: return DType::f64;
    case NumberKind::complex: break;
  }
  return is_floating(arrays) ? op::promoted(arrays, DType::c64) : DType::c128;
}

void refuse_integer(const Term& term, DType dtype) {
  PyErr_Format(PyExc_OverflowError, "Python integer %s out of bounds for %s", term.text().c_str(),
               std::string(name(dtype)).c_str());
  throw nb::python_error();
}

/// The one type that all operands are computed in. Numbers that this type cannot hold become arrays.
DType common_type(const Device& device, std::span<Term*> terms, bool compares) {
  std::vector<DType> types;
  for (const Term* term : terms)
    if (term->array()) types.push_back(term->array()->array.dtype());
  const DType arrays = op::promoted(types);
  for (Term* term : terms) {
    if (term->array()) continue;
    if (term->kind() > kind_of(arrays)) {
      const DType type = type_beside(term->kind(), arrays);
      term->become_array(device, type);
      types.push_back(type);
    } else if (!term->fits(arrays)) {
      if (!compares) refuse_integer(*term, arrays);
      term->become_array(device, term->fits(DType::i64) ? DType::i64 : DType::u64);
    }
  }
  return op::promoted(types);
}

Shape common_shape(std::string_view call, std::span<Term*> terms) {
  Shape shape;
  for (const Term* term : terms) {
    const AnyArray* const array = term->as_array();
    if (!array) continue;
    const Shape before = shape;
    if (!broadcast_shapes(shape, array->shape())) raise_no_broadcast(call, before, array->shape());
  }
  return shape;
}

/// Where a result goes: a new array, or the one that is given, which must be as the result is.
class Output {
 public:
  Output(nb::handle given, const Device& device, DType dtype, const Shape& shape, std::string_view call)
      : device_(device) {
    if (given.is_none()) {
      array_ = allocate(device, dtype, shape);
      return;
    }
    given_ = nb::borrow(given);
    array_ = handle_of(given).array;
    if (array_.shape() != shape)
      raise(ErrorKind::invalid_argument, std::string(call) + ": the result is " + shape.to_string() +
                                             ", and the array that it goes to is " + array_.shape().to_string());
    if (array_.dtype() != dtype) final_ = std::exchange(array_, allocate(device, dtype, shape));
  }
  const AnyArray& array() const noexcept { return array_; }
  /// The same in memory of its own: where an input lies across the output.
  void detach() { final_ = std::exchange(array_, allocate(device_, array_.dtype(), array_.shape())); }
  nb::object finish() {
    if (final_) {
      const bool casts = final_->dtype() != array_.dtype();
      submit(device_, [&] { return casts ? device_.cast(array_, *final_) : device_.copy(array_, *final_); });
    }
    return given_.is_valid() ? given_ : wrap(std::move(array_), device_);
  }

 private:
  Device device_;
  nb::object given_;
  AnyArray array_;
  std::optional<AnyArray> final_;
};

void keep_apart(Output& output, std::span<Term*> terms) {
  for (const Term* term : terms) {
    const AnyArray* const array = term->as_array();
    if (array && array->range().overlaps(output.array().range()) && !(array->view() == output.array().view()))
      return output.detach();
  }
}

const Device& device_of(std::span<Term*> terms) {
  for (const Term* term : terms)
    if (term->array()) return term->array()->device;
  throw nb::type_error("an operand must be an array");
}

DType result_of(Binary function, DType common) noexcept {
  if (detail::is_comparison(function)) return DType::boolean;
  if (function == Binary::div && !is_floating(common) && !is_complex(common)) return DType::f64;
  return common;
}

nb::object binary(int number, nb::handle a, nb::handle b, nb::handle out) {
  const auto function = static_cast<Binary>(number);
  const nb::handle beside = is_array(a) ? a : b;
  Term left(a, beside);
  Term right(b, beside);
  std::array<Term*, 2> terms{&left, &right};
  const Device& device = device_of(terms);
  const DType common = common_type(device, terms, detail::is_comparison(function));
  Output output(out, device, result_of(function, common), common_shape(name(function), terms), name(function));
  if (!out.is_none()) keep_apart(output, terms);
  submit(device, [&] { return device.tensor().binary(function, left.operand(), right.operand(), output.array()); });
  return output.finish();
}

/// Functions that integers have not are computed in floats.
DType result_of(Unary function, DType dtype) noexcept {
  if (dtype == DType::boolean && detail::takes_bool(function)) return dtype;
  if (is_integer(dtype) && detail::takes_integers(function)) return dtype;
  if (is_floating(dtype) || is_complex(dtype)) return dtype;
  switch (size_bytes(dtype)) {
    case 1: return DType::f16;
    case 2: return DType::f32;
    default: return DType::f64;
  }
}

nb::object unary(int number, const Handle& a, nb::handle out) {
  const auto function = static_cast<Unary>(number);
  Output output(out, a.device, result_of(function, a.array.dtype()), a.array.shape(), name(function));
  submit(a.device, [&] { return a.device.tensor().unary(function, a.array, output.array()); });
  return output.finish();
}

nb::object ternary(int number, nb::handle a, nb::handle b, nb::handle c) {
  const auto function = static_cast<Ternary>(number);
  const nb::handle beside = is_array(a) ? a : is_array(b) ? b : c;
  Term first(a, beside);
  Term second(b, beside);
  Term third(c, beside);
  std::array<Term*, 3> all{&first, &second, &third};
  const std::span<Term*> typed = function == Ternary::select ? std::span<Term*>(all).subspan(1) : std::span<Term*>(all);
  const Device& device = device_of(all);
  if (typed.size() == 2 && !second.array() && !third.array())
    second.become_array(device, type_beside(second.kind(), DType::f64));
  DType common = common_type(device, typed, false);
  if (const AnyArray* const made = second.as_array(); made && !second.array())
    common = op::promoted(common, made->dtype());
  Output output(nb::none(), device, common, common_shape(name(function), all), name(function));
  submit(device, [&] {
    return device.tensor().ternary(function, first.operand(), second.operand(), third.operand(), output.array());
  });
  return output.finish();
}

DType result_of(Reduction function, DType dtype) noexcept {
  const bool is_whole = !is_floating(dtype) && !is_complex(dtype);
  switch (function) {
    case Reduction::sum:
    case Reduction::product:
      if (!is_whole) return dtype;
      return dtype == DType::boolean || is_signed(dtype) ? DType::i64 : DType::u64;
    case Reduction::mean: return is_whole ? DType::f64 : dtype;
    case Reduction::norm: return detail::real_type(dtype);
    default: return dtype;
  }
}

/// The axes as they are given: None is all of them.
detail::Axes axes_from(nb::handle given, int rank) {
  std::vector<int> axes;
  if (given.is_none())
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  else
    for (const nb::handle axis : given) axes.push_back(nb::cast<int>(axis));
  for (int& axis : axes) {
    if (axis < -rank || axis >= rank)
      raise(ErrorKind::invalid_argument,
            "axis " + std::to_string(axis) + " is out of bounds for an array of dimension " + std::to_string(rank));
    if (axis < 0) axis += rank;
  }
  return axes;
}

nb::object reduce(int number, const Handle& a, nb::handle given_axes, bool keeps, int dtype) {
  const auto function = static_cast<Reduction>(number);
  const detail::Axes axes = axes_from(given_axes, a.array.rank());
  const DType result = dtype < 0 ? result_of(function, a.array.dtype()) : dtype_from(dtype);
  AnyArray out = allocate(a.device, result, detail::shape_of_reduction(a.array.shape(), axes, keeps));
  submit(a.device, [&] { return a.device.tensor().reduce(function, a.array, axes, out); });
  return wrap(std::move(out), a.device);
}

template <class E>
nb::dict numbered() {
  nb::dict all;
  for (int i = 0; i <= static_cast<int>(E::kLast); ++i) {
    const std::string_view word = name(static_cast<E>(i));
    all[nb::str(word.data(), word.size())] = i;
  }
  return all;
}

}  // namespace

void bind_elementwise(nb::module_& module) {
  module.def("binary", &binary, nb::arg("function"), nb::arg("a").none(), nb::arg("b").none(),
             nb::arg("out").none() = nb::none());
  module.def("unary", &unary, nb::arg("function"), nb::arg("a"), nb::arg("out").none() = nb::none());
  module.def("ternary", &ternary);
  module.def("reduce", &reduce, nb::arg("function"), nb::arg("a"), nb::arg("axes").none(), nb::arg("keeps"),
             nb::arg("dtype"));
  module.def("promoted", [](int a, int b) { return static_cast<int>(op::promoted(dtype_from(a), dtype_from(b))); });
  module.attr("UNARY") = numbered<Unary>();
  module.attr("BINARY") = numbered<Binary>();
  module.attr("TERNARY") = numbered<Ternary>();
  module.attr("REDUCTION") = numbered<Reduction>();
}

}  // namespace troupe::python
