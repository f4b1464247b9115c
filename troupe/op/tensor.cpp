#include "troupe/op/tensor.hpp"

#include <string>

namespace troupe::op {
namespace {

Unexpected refuse(std::string_view op, std::string_view why) {
  return fail(ErrorKind::invalid_argument, std::string(op) + ": " + std::string(why));
}

Result<void> check_layout(std::string_view op, const View& view) {
  TROUPE_TRY(troupe::check(view.shape));
  if (view.shape.rank() == view.strides.rank()) return {};
  return refuse(op, "strides " + view.strides.to_string() + " for a shape " + view.shape.to_string());
}

Result<void> check_type(std::string_view op, DType dtype, bool takes_complex) {
  if (is_tensor_type(dtype) && (takes_complex || !is_complex(dtype))) return {};
  return fail(ErrorKind::unsupported, std::string(op) + " does not take " + std::string(name(dtype)));
}

template <class Op>
Result<void> check_elementwise(const Op& op) {
  TROUPE_TRY(check_layout(Op::kName, op.out));
  TROUPE_TRY(check_type(Op::kName, op.out.dtype, takes_complex(op.function)));
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    if (op.is_number(i)) continue;
    TROUPE_TRY(check_layout(Op::kName, op.in[i]));
    bool is_condition = false;
    if constexpr (Op::kInputs == 3) is_condition = i == 0 && op.function == Ternary::select;
    if (op.in[i].shape != op.out.shape) return refuse(Op::kName, "the shapes differ");
    if (op.in[i].dtype != (is_condition ? DType::boolean : op.out.dtype)) return refuse(Op::kName, "the types differ");
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
  TROUPE_TRY(check_layout(Reduce::kName, op.in));
  TROUPE_TRY(check_layout(Reduce::kName, op.out));
  TROUPE_TRY(check_type(Reduce::kName, op.in.dtype, takes_complex(op.function)));
  if (op.in.shape.rank() != op.out.shape.rank()) return refuse(Reduce::kName, "the ranks differ");
  const DType expected = op.function == Reduction::norm ? real_type(op.in.dtype) : op.in.dtype;
  if (op.out.dtype != expected) return refuse(Reduce::kName, "the types differ");
  for (int i = 0; i < op.in.shape.rank(); ++i)
    if (op.out.shape[i] != op.in.shape[i] && op.out.shape[i] != 1)
      return refuse(Reduce::kName, op.in.shape.to_string() + " is not reduced to " + op.out.shape.to_string());
  return {};
}

Result<void> check(const Contract& op) {
  for (const View* view : {&op.a, &op.b, &op.c}) {
    TROUPE_TRY(check_layout(Contract::kName, *view));
    if (view->dtype != op.c.dtype) return refuse(Contract::kName, "the types differ");
  }
  TROUPE_TRY(check_type(Contract::kName, op.c.dtype, true));
  const ContractionGroups& groups = op.groups;
  if (op.a.shape.rank() != groups.batch + groups.rows + groups.depth + groups.summed_a ||
      op.b.shape.rank() != groups.batch + groups.depth + groups.columns + groups.summed_b ||
      op.c.shape.rank() != groups.batch + groups.rows + groups.columns)
    return refuse(Contract::kName, "the ranks are not those of the groups");
  const int after_batch = groups.batch;
  if (agree(op.a, 0, op.c, 0, groups.batch + groups.rows) && agree(op.b, 0, op.c, 0, groups.batch) &&
      agree(op.a, after_batch + groups.rows, op.b, after_batch, groups.depth) &&
      agree(op.b, after_batch + groups.depth, op.c, after_batch + groups.rows, groups.columns))
    return {};
  return refuse(Contract::kName, op.a.shape.to_string() + " and " + op.b.shape.to_string() + " do not contract to " +
                                     op.c.shape.to_string());
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

}  // namespace troupe::op
