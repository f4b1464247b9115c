#include "troupe/op/tensor.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

/// What there are functions of.
constexpr std::array kNumberTypes{DType::f32,  DType::f64,     DType::f16, DType::bf16, DType::c64,
                                  DType::c128, DType::boolean, DType::i8,  DType::u8,   DType::i16,
                                  DType::u16,  DType::i32,     DType::u32, DType::i64,  DType::u64};
constexpr std::initializer_list<DType> kEinsumTypes = {DType::f32,  DType::f64, DType::f16,
                                                       DType::bf16, DType::c64, DType::c128};

constexpr std::array<std::string_view, 3> kOperandNames{"a", "b", "c"};
constexpr std::array<std::string_view, 3> kFactorNames{"alpha", "beta", "gamma"};

/// "f32, f64 or i8": the types of which that is so.
template <class Is>
std::string names_where(const Is& is) {
  std::vector<DType> types;
  for (const DType type : kNumberTypes)
    if (is(type)) types.push_back(type);
  return names_of(types);
}

/// The arrays whose types count, each as "a is i32". Of numbers alone it is the output.
template <class Op>
std::vector<std::string> types_of(const Op& op) {
  std::vector<std::string> all;
  const auto add = [&](std::string_view called, DType type) {
    all.push_back(std::string(called) + " is " + std::string(name(type)));
  };
  for (std::size_t i = 0; i < Op::kInputs; ++i)
    if (!op.is_number(i) && !op.is_condition(i)) add(kOperandNames[i], op.in[i].dtype);
  if (all.empty()) add("out", op.out.dtype);
  return all;
}
/// "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  std::string list = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) list += (i + 1 == words.size() ? " and " : ", ") + words[i];
  return list;
}

template <class Op>
Result<void> check_types(const Op& op) {
  const std::string_view call = name(op.function);
  bool is_good = takes(op.function, op.computed_in());
  bool has_arrays = false;
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    if (op.is_number(i) || op.is_condition(i)) continue;
    has_arrays = true;
    is_good &= size_bytes(op.in[i].dtype) > 1 || !is_floating(op.in[i].dtype);
  }
  if (!is_good) {
    const auto has = [&](DType type) { return takes(op.function, has_arrays ? computed_in(op.function, type) : type); };
    const std::vector<std::string> types = types_of(op);
    return refuse_unsupported(call,
                              listed(types) + (types.size() > 1 ? "; they" : "; it") + " must be " + names_where(has));
  }
  if (op.out.dtype == op.out_type()) return {};
  return refuse(call, listed(types_of(op)) + ", so out must be " + std::string(name(op.out_type())) + "; it is " +
                          std::string(name(op.out.dtype)));
}

template <class Op>
Result<void> check_elementwise(const Op& op) {
  const std::string_view call = name(op.function);
  if (op.numbers >> Op::kInputs != 0)
    return refuse(call, "numbers is " + std::to_string(op.numbers) + "; it must be below " +
                            std::to_string(1U << Op::kInputs) + ", one bit for each operand");
  TROUPE_TRY(check_types(op));
  const DType computed = op.computed_in();
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    const std::string_view operand = kOperandNames[i];
    if (op.is_number(i)) {
      if (op.is_condition(i)) return refuse(call, "a, the condition, is a number; it must be an array of bool");
      const bool may_be_nan = !is_integer(computed) && computed != DType::boolean;  // a factor is none
      if (!may_be_nan || !std::isnan(op.factors[i].template as<double>()))
        TROUPE_TRY(check_number(call, {operand, op.factors[i]}, computed));
      continue;
    }
    TROUPE_TRY(check_number(call, {kFactorNames[i], op.factors[i]}, computed));
    if (op.is_condition(i)) TROUPE_TRY(check_type(call, {operand, op.in[i]}, DType::boolean));
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
  const auto is_taken = [&](DType type) {
    return takes(op.function, type) || (op.function == Reduction::mean && !is_floating(type));
  };
  if (!is_taken(op.in.dtype))
    return refuse_unsupported(call,
                              "in is " + std::string(name(op.in.dtype)) + "; it must be " + names_where(is_taken));
  const auto is_made = [&](DType type) { return is_reduced_to(op.function, op.in.dtype, type); };
  if (!is_made(op.out.dtype))
    return refuse(call, "in is " + std::string(name(op.in.dtype)) + ", so out must be " + names_where(is_made) +
                            "; it is " + std::string(name(op.out.dtype)));
  TROUPE_TRY(check_number(call, {"alpha", op.alpha}, op.out.dtype));
  TROUPE_TRY(check_number(call, {"beta", op.beta}, op.out.dtype));
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
  TROUPE_TRY(check_type_is_one_of(kCall, {"c", op.c}, kEinsumTypes));
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
