#include "troupe/op/tensor.hpp"

#include <cmath>
#include <string>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::initializer_list<DType> kTypes = {DType::f32,  DType::f64, DType::f16,
                                                 DType::bf16, DType::c64, DType::c128};
constexpr std::initializer_list<DType> kRealTypes = {DType::f32, DType::f64, DType::f16, DType::bf16};

constexpr std::array<std::string_view, 3> kOperandNames{"a", "b", "c"};
constexpr std::array<std::string_view, 3> kFactorNames{"alpha", "beta", "gamma"};

Result<void> check_tensor_type(std::string_view call, const NamedView& view, bool takes_complex) {
  return check_type_is_one_of(call, view, takes_complex ? kTypes : kRealTypes);
}

template <class Op>
Result<void> check_elementwise(const Op& op) {
  const std::string_view call = name(op.function);
  TROUPE_TRY(check_tensor_type(call, {"out", op.out}, detail::takes_complex(op.function)));
  if (op.numbers >> Op::kInputs != 0)
    return refuse(call, "numbers is " + std::to_string(op.numbers) + "; it must be below " +
                            std::to_string(1U << Op::kInputs) + ", one bit for each operand");
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    const std::string_view operand = kOperandNames[i];
    bool is_condition = false;
    if constexpr (Op::kInputs == 3) is_condition = i == 0 && op.function == Ternary::select;
    if (op.is_number(i)) {
      if (is_condition) return refuse(call, "a, the condition, is a number; it must be an array of bool");
      if (!std::isnan(op.factors[i].template as<double>()))  // a number may be anything; a factor is none
        TROUPE_TRY(check_factor(call, {operand, op.factors[i]}, op.out.dtype));
      continue;
    }
    TROUPE_TRY(check_factor(call, {kFactorNames[i], op.factors[i]}, op.out.dtype));
    TROUPE_TRY(check_type(call, {operand, op.in[i]}, is_condition ? DType::boolean : op.out.dtype));
    TROUPE_TRY(check_shape(call, {operand, op.in[i]}, op.out.shape));
  }
  return {};
}

/// Whether `count` extents of both, from `x_first` and `y_first` on, are the same.
bool agree(const View& x, int x_first, const View& y, int y_first, int count) {
  for (int i = 0; i < count; ++i)
    if (x.shape[x_first + i] != y.shape[y_first + i]) return false;
  return true;
}

}  // namespace

Result<void> check(const UnaryOp& op) { return check_elementwise(op); }
Result<void> check(const BinaryOp& op) { return check_elementwise(op); }
Result<void> check(const TernaryOp& op) { return check_elementwise(op); }

Result<void> check(const Reduce& op) {
  const std::string_view call = name(op.function);
  TROUPE_TRY(check_tensor_type(call, {"in", op.in}, detail::takes_complex(op.function)));
  const DType expected = op.function == Reduction::norm ? detail::real_type(op.in.dtype) : op.in.dtype;
  TROUPE_TRY(check_type(call, {"out", op.out}, expected));
  TROUPE_TRY(check_factor(call, {"alpha", op.alpha}, op.out.dtype));
  TROUPE_TRY(check_factor(call, {"beta", op.beta}, op.out.dtype));
  bool fits = op.in.shape.rank() == op.out.shape.rank();
  for (int i = 0; fits && i < op.in.shape.rank(); ++i) fits = op.out.shape[i] == op.in.shape[i] || op.out.shape[i] == 1;
  if (!fits)
    return refuse(call, "in is " + op.in.shape.to_string() + " and out is " + op.out.shape.to_string() +
                            "; each extent of out must be that of in, or 1 where it is reduced");
  const bool has_none =
      op.function == Reduction::min || op.function == Reduction::max || op.function == Reduction::mean;
  if (has_none && element_count(op.in) == 0 && element_count(op.out) != 0)
    return refuse(call, "in is " + op.in.shape.to_string() + "; it must have at least one element");
  return {};
}

Result<void> check(const Contract& op) {
  constexpr std::string_view kCall = "einsum";
  TROUPE_TRY(check_same_types(kCall, {{"a", op.a}, {"b", op.b}, {"c", op.c}}));
  TROUPE_TRY(check_tensor_type(kCall, {"c", op.c}, true));
  TROUPE_TRY(check_factor(kCall, {"alpha", op.alpha}, op.c.dtype));
  TROUPE_TRY(check_factor(kCall, {"beta", op.beta}, op.c.dtype));
  const ContractionGroups& groups = op.groups;
  if (op.a.shape.rank() != groups.batch + groups.rows + groups.depth + groups.summed_a ||
      op.b.shape.rank() != groups.batch + groups.depth + groups.columns + groups.summed_b ||
      op.c.shape.rank() != groups.batch + groups.rows + groups.columns)
    return refuse(kCall, "a is " + op.a.shape.to_string() + ", b is " + op.b.shape.to_string() + " and c is " +
                             op.c.shape.to_string() + "; they must have as many axes as the groups say");
  const int after_batch = groups.batch;
  if (agree(op.a, 0, op.c, 0, groups.batch + groups.rows) && agree(op.b, 0, op.c, 0, groups.batch) &&
      agree(op.a, after_batch + groups.rows, op.b, after_batch, groups.depth) &&
      agree(op.b, after_batch + groups.depth, op.c, after_batch + groups.rows, groups.columns))
    return {};
  return refuse(kCall, "a is " + op.a.shape.to_string() + ", b is " + op.b.shape.to_string() + " and c is " +
                           op.c.shape.to_string() + "; an axis that two of them share must have one extent");
}

std::uint64_t Contract::work() const noexcept {
  std::uint64_t work = 1;
  bool is_huge = false;
  for (const std::int64_t extent : c.shape) is_huge |= __builtin_mul_overflow(work, std::uint64_t(extent), &work);
  const int first = groups.batch + groups.rows;
  for (int i = first; i < first + groups.depth && i < a.shape.rank(); ++i)
    is_huge |= __builtin_mul_overflow(work, std::uint64_t(a.shape[i]), &work);
  return is_huge ? ~std::uint64_t{0} : work;
}

extern const FamilyOps tensor_ops = register_ops("tensor", TensorOps{});

}  // namespace troupe::inline v0::op
