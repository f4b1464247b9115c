#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::host {
namespace {

template <class T>
void scale(const op::DnnScale& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  const auto alpha = static_cast<T>(op.alpha);
  const auto beta = static_cast<T>(op.beta);
  walk<2>({&x, &y}, [=](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) store(at[1] + i * step[1], alpha * load<T>(at[0] + i * step[0]) + beta);
  });
}

}  // namespace

Result<void> run_op(const op::DnnScale& op, const HostViews& here) {
  op.y.dtype == DType::f64 ? scale<double>(op, here) : scale<float>(op, here);
  return {};
}

void add_dnn(RunTable& table) { table.add(op::DnnOps{}); }

}  // namespace troupe::host
