#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_layers.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"

namespace troupe::cuda {
namespace {

DnnInterpolateArguments interpolate_arguments(DnnInterpolation way, bool aligns_corners, const op::View& x,
                                              const op::View& y, const LaneTools& on) {
  DnnInterpolateArguments m{};
  m.x = array_of(x, on);
  m.y = array_of(y, on);
  m.channels = x.shape[1];
  m.way = static_cast<int>(way);
  m.aligns_corners = aligns_corners;
  const op::SpaceNumbers in = space_extents(x), out = space_extents(y);
  for (std::size_t i = 0; i < op::kMaxSpace; ++i) {
    m.in[i] = in[i];
    m.out[i] = out[i];
  }
  return m;
}

}  // namespace

Result<void> run_op(const op::DnnInterpolate& op, const LaneTools& on) {
  DnnInterpolateArguments m = interpolate_arguments(op.way, op.aligns_corners, op.x, op.y, on);
  m.count = op::element_count(op.y);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnInterpolateKernel::dnn_interpolate, op.y.dtype)), m.count, &m);
}

Result<void> run_op(const op::DnnInterpolateGradient& op, const LaneTools& on) {
  DnnInterpolateArguments m = interpolate_arguments(op.way, op.aligns_corners, op.dx, op.dy, on);
  m.count = op::element_count(op.dx);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnInterpolateKernel::dnn_interpolate_gradient, op.dx.dtype)), m.count,
                    &m);
}

}  // namespace troupe::cuda

#endif
