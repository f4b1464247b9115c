// Expressions on the CPU: only the result goes out, and where it lies well, the last step writes it there.
#include <complex>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/tensor/expression_rows.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"

namespace troupe::host {
namespace {

template <class C>
void run_as(const op::Evaluate& op, const HostViews& here) {
  const HostView out = here(op.out);
  if (out.data == nullptr) return;
  HostView nowhere = out;  // for inputs that are not there: no steps
  for (int i = 0; i < nowhere.shape.rank(); ++i) nowhere.strides[i] = 0;
  std::array<HostView, op::kMaxExpressionInputs> views;
  std::array<const HostView*, op::kMaxExpressionInputs + 1> all;
  std::int64_t bytes = size_bytes(op.out.dtype);
  for (std::size_t i = 0; i < op::kMaxExpressionInputs; ++i) {
    all[i] = &nowhere;
    if (i >= op.inputs.size()) continue;
    views[i] = here(op.inputs[i].view);
    all[i] = &views[i];
    bytes += size_bytes(op.inputs[i].view.dtype);
  }
  all[op::kMaxExpressionInputs] = &out;
  const ExpressionRows<C> rows(op);
  const StoreRow<C> store = store_row_for<C>(op.out.dtype);
  const bool out_is_plain = op.out.dtype == dtype_of<C>;
  const Grain grain = Grain::smaller(Grain::of_ns(ns_per_element<C>(op)), Grain::of_bytes(bytes));
  Walk<op::kMaxExpressionInputs + 1>(all).run(
      here.team(), grain,
      [&](const Pointers<op::kMaxExpressionInputs + 1>& at, const Steps<op::kMaxExpressionInputs + 1>& step,
          std::int64_t count) noexcept {
        const bool in_place =
            out_is_plain && ExpressionRows<C>::lies_well(at[op::kMaxExpressionInputs], step[op::kMaxExpressionInputs]);
        const auto singles = rows.singles(at, step, count);
        for (std::int64_t done = 0; done < count; done += kExpressionBlock) {
          const std::int64_t length = std::min(kExpressionBlock, count - done);
          std::byte* const to = at[op::kMaxExpressionInputs] + done * step[op::kMaxExpressionInputs];
          const C* const result =
              rows.compute(at, step, singles, done, length, in_place ? reinterpret_cast<C*>(to) : nullptr);
          if (!in_place) store(result, length, to, step[op::kMaxExpressionInputs]);
        }
      });
}

}  // namespace

Result<void> run_op(const op::Evaluate& op, const HostViews& here) {
  switch (op.computed_in()) {
    case DType::f64: run_as<double>(op, here); break;
    case DType::c64: run_as<std::complex<float>>(op, here); break;
    case DType::c128: run_as<std::complex<double>>(op, here); break;
    default: run_as<float>(op, here); break;
  }
  return {};
}

}  // namespace troupe::host
