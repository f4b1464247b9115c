#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"
#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/kernels/axes_builder.hpp"

namespace troupe::cuda {
namespace {

Result<void> launch_activate(const LaneTools& on, DnnPointwiseKernel kernel, DnnActivateArguments& m, const op::View& x,
                             const op::View& dy, const op::View& out) {
  AxesBuilder<3> axes;
  for (int i = 0; i < out.shape.rank(); ++i) axes.add(out.shape[i], {x.strides[i], dy.strides[i], out.strides[i]});
  m.axes = axes.arranged(2);
  m.x = on.data(x);
  m.dy = on.data(dy);
  m.out = on.data(out);
  std::array<void*, 1> arguments{&m};
  return on.launch(TROUPE_TRY(on.kernel(kernel, out.dtype)), m.axes.count, arguments);
}

}  // namespace

Result<void> run_op(const op::DnnActivate& op, const LaneTools& on) {
  DnnActivateArguments m{};
  m.alpha = op.alpha;
  m.function = static_cast<int>(op.function);
  return launch_activate(on, DnnPointwiseKernel::dnn_activate, m, op.x, op.x, op.y);
}

Result<void> run_op(const op::DnnActivateGradient& op, const LaneTools& on) {
  DnnActivateArguments m{};
  m.alpha = op.alpha;
  m.function = static_cast<int>(op.function);
  return launch_activate(on, DnnPointwiseKernel::dnn_activate_gradient, m, op.x, op.dy, op.dx);
}

}  // namespace troupe::cuda

#endif
