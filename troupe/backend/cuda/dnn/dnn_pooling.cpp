#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_layers.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"

namespace troupe::cuda {
namespace {

/// All but the indices and what is counted.
DnnPoolArguments pool_arguments(const op::DnnPool& pool, const op::View& x, const op::View& y, const LaneTools& on) {
  DnnPoolArguments m{};
  m.x = array_of(x, on);
  m.y = array_of(y, on);
  m.channels = x.shape[1];
  const int space = space_of(x);
  const op::DnnWindow window = in_three(pool.window, space);
  const op::SpaceNumbers in = space_extents(x), out = space_extents(y), extent = op::in_three(pool.extent, space, 1);
  for (std::size_t i = 0; i < op::kMaxSpace; ++i)
    m.axes[i] = {.in = in[i],
                 .out = out[i],
                 .extent = extent[i],
                 .stride = window.stride[i],
                 .before = window.before[i],
                 .dilation = window.dilation[i],
                 .adaptive = pool.adaptive != 0};
  return m;
}
void add_indices(DnnPoolArguments& m, const op::View& indices, const LaneTools& on) {
  m.indices = array_of(indices, on);
  m.wide_indices = indices.dtype == DType::i64;
}

}  // namespace

Result<void> run_op(const op::DnnMaxPool& op, const LaneTools& on) {
  DnnPoolArguments m = pool_arguments(op.pool, op.x, op.y, on);
  if (op.has_indices) add_indices(m, op.indices, on);
  m.count = op::element_count(op.y);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnPoolingKernel::dnn_max_pool, op.y.dtype)), m.count, &m);
}

Result<void> run_op(const op::DnnMaxPoolGradient& op, const LaneTools& on) {
  DnnPoolArguments m = pool_arguments(op.pool, op.dx, op.dy, on);
  add_indices(m, op.indices, on);
  m.count = op::element_count(op.dx);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnPoolingKernel::dnn_max_pool_gradient, op.dx.dtype)), m.count, &m);
}

Result<void> run_op(const op::DnnAveragePool& op, const LaneTools& on) {
  DnnPoolArguments m = pool_arguments(op.pool, op.x, op.y, on);
  m.counts_padding = op.counts_padding;
  m.count = op::element_count(op.y);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnPoolingKernel::dnn_average_pool, op.y.dtype)), m.count, &m);
}

Result<void> run_op(const op::DnnAveragePoolGradient& op, const LaneTools& on) {
  DnnPoolArguments m = pool_arguments(op.pool, op.dx, op.dy, on);
  m.counts_padding = op.counts_padding;
  m.count = op::element_count(op.dx);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnPoolingKernel::dnn_average_pool_gradient, op.dx.dtype)), m.count, &m);
}

}  // namespace troupe::cuda

#endif
