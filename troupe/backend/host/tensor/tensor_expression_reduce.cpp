// Expressions that end in a reduction, on the CPU: each block is computed in the nearest cache and put together there;
// nothing but results is written. Shared out as other reductions are, so every team gives the same bits.
#include <complex>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/tensor/expression_rows.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_reduce.hpp"
#include "troupe/backend/host/tensor/tensor_reducer.hpp"

namespace troupe::host {
namespace {

using ExpressionNest = NestOf<op::kMaxExpressionInputs + 1>;
static_assert(kRowBlock <= kExpressionBlock, "what is reduced at a time is computed at a time");

/// What the expression makes, of type `C`, as terms of type `A`.
template <Reduction function, class A, class C>
class ExpressionTerms {
 public:
  ExpressionTerms(const op::EvaluateReduce& op, double count)
      : rows_(op), store_(store_row_for<A>(op.out.dtype)), count_(count) {}

  A fold(const ExpressionNest::Pointers& from, const ExpressionNest::Steps& steps, std::int64_t done,
         std::int64_t length) const noexcept {
    const C* const terms = computed(from, steps, done, length);
    if constexpr (std::same_as<C, A>) {
      return fold_rows<A>().fold[kFunction](terms, length);
    } else if constexpr (std::same_as<C, float>) {
      return fold_rows<A>().fold_f32[kFunction](terms, length);
    } else {
      const Block<A> wide = widened(terms, length);
      return fold_rows<A>().fold[kFunction](wide.data(), length);
    }
  }
  void gather(const ExpressionNest::Pointers& from, const ExpressionNest::Steps& steps, std::int64_t done,
              std::int64_t length, Block<A>& sums) const noexcept {
    const C* const terms = computed(from, steps, done, length);
    if constexpr (std::same_as<C, A>) {
      fold_rows<A>().gather[kFunction](sums.data(), terms, length);
    } else if constexpr (std::same_as<C, float>) {
      fold_rows<A>().gather_f32[kFunction](sums.data(), terms, length);
    } else {
      const Block<A> wide = widened(terms, length);
      fold_rows<A>().gather[kFunction](sums.data(), wide.data(), length);
    }
  }
  void write(Block<A>& sums, std::byte* to, std::int64_t step, std::int64_t length) const noexcept {
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      sums[i] = tensor::finish<function>(sums[i], count_);
    store_(sums.data(), length, to, step);
  }

 private:
  static constexpr auto kFunction = static_cast<std::size_t>(function);

  const C* computed(const ExpressionNest::Pointers& from, const ExpressionNest::Steps& steps, std::int64_t done,
                    std::int64_t length) const noexcept {
    return rows_.compute(from, steps, rows_.singles(from, steps, length), done, length);
  }
  static Block<A> widened(const C* terms, std::int64_t length) noexcept {
    Block<A> wide;
    for (std::int64_t i = 0; i < length; ++i) wide[static_cast<std::size_t>(i)] = to_number<A>(terms[i]);
    return wide;
  }

  ExpressionRows<C> rows_;
  StoreRow<A> store_;
  double count_;
};

template <class A, class C>
void reduce_as(const op::EvaluateReduce& op, const HostViews& here) {
  const HostView out = here(op.out);
  if (out.data == nullptr) return;
  const std::int64_t out_size = size_bytes(op.out.dtype);
  std::array<HostView, op::kMaxExpressionInputs> views;
  ExpressionNest::Pointers at{};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    views[i] = here(op.inputs[i].view);
    at[i] = views[i].data;
  }
  at[op::kMaxExpressionInputs] = out.data;
  ExpressionNest kept, reduced;
  for (int axis = 0; axis < op.shape().rank(); ++axis) {
    const bool is_kept = op.shape()[axis] == op.out.shape[axis];
    ExpressionNest::Steps steps{};
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      steps[i] = views[i].strides[axis] * size_bytes(op.inputs[i].view.dtype);
    if (is_kept) steps[op::kMaxExpressionInputs] = out.strides[axis] * out_size;
    (is_kept ? kept : reduced).add(op.shape()[axis], steps);
  }
  if (reduced.is_empty()) kept.stay_in_inputs();
  kept.arrange_by_all();
  reduced.arrange_by_all();
  const bool by_strips = choose_strips(kept, reduced);
  tensor::with_function<A>(op.function, [&]<Reduction function>(std::integral_constant<Reduction, function>) {
    using Terms = ExpressionTerms<function, A, C>;
    Reducer<function, A, ExpressionNest, Terms>(Terms(op, reduced.elements()), at, kept, reduced)
        .run(by_strips, here.team());
  });
}

}  // namespace

Result<void> run_op(const op::EvaluateReduce& op, const HostViews& here) {
  using Complex = std::complex<double>;
  switch (op.computed_in()) {
    case DType::f64: reduce_as<double, double>(op, here); break;
    case DType::c64: reduce_as<Complex, std::complex<float>>(op, here); break;
    case DType::c128: reduce_as<Complex, Complex>(op, here); break;
    default: reduce_as<double, float>(op, here); break;
  }
  return {};
}

}  // namespace troupe::host
