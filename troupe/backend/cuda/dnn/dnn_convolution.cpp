#if TROUPE_CUDA_BACKEND

#include <algorithm>

#include "troupe/backend/cuda/dnn/dnn_by_cudnn.hpp"
#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_layers.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"

namespace troupe::cuda {
namespace {

/// The three arrays of a convolution with three axes of space; w's first two axes are filters and channels of a group.
struct ConvolutionArrays {
  DnnArray x;
  DnnArray w;
  DnnArray y;
  op::SpaceNumbers in;
  op::SpaceNumbers extent;
  op::SpaceNumbers out;
  op::DnnWindow window;
  long long batch;
  long long groups;
  long long channels;  // of a group
  long long filters;   // of a group
};
ConvolutionArrays arrays_of(const op::View& x, const op::View& w, const op::View& y, const op::DnnWindow& window,
                            std::int64_t groups, const LaneTools& on) {
  return {.x = array_of(x, on),
          .w = array_of(w, on),
          .y = array_of(y, on),
          .in = space_extents(x),
          .extent = space_extents(w),
          .out = space_extents(y),
          .window = in_three(window, space_of(x)),
          .batch = x.shape[0],
          .groups = groups,
          .channels = x.shape[1] / groups,
          .filters = w.shape[0] / groups};
}

/// An axis of a product: `outer` times what is in space.
DnnProductAxis product_axis(long long outer, const op::SpaceNumbers& extents, long long stride,
                            const long long* space_strides, long long outer_stride) {
  DnnProductAxis axis{};
  axis.count = outer * extents[0] * extents[1] * extents[2];
  axis.strides[0] = stride;
  axis.outer_stride = outer_stride;
  for (std::size_t i = 0; i < op::kMaxSpace; ++i) {
    axis.extents[i] = extents[i];
    axis.strides[i + 1] = space_strides[i];
  }
  return axis;
}
void set_places(DnnProductAxis& axis, const op::SpaceNumbers& factor, const op::SpaceNumbers& offset, int sign) {
  for (std::size_t i = 0; i < op::kMaxSpace; ++i) {
    axis.factor[i] = factor[i];
    axis.offset[i] = sign * offset[i];
  }
}
/// The array that is looked up, and the one beside it.
void set_factors(DnnProductArguments& m, const DnnArray& a, const DnnArray& b, const op::SpaceNumbers& extents_b,
                 const op::SpaceNumbers& step) {
  m.a = a.data;
  m.b = b.data;
  for (std::size_t i = 0; i < op::kMaxSpace; ++i) {
    m.extents[i] = extents_b[i];
    m.strides[i] = b.strides[i + 2];
    m.step[i] = step[i];
  }
}

Result<void> launch_product(const LaneTools& on, DnnProductArguments& m, long long groups, DType dtype) {
  constexpr long long kMostLayers = 65535;
  const CUfunction kernel = TROUPE_TRY(on.kernel(DnnConvolutionKernel::dnn_product, dtype));
  m.row_tiles = (m.rows + kDnnTile - 1) / kDnnTile;
  const long long blocks = m.row_tiles * ((m.columns.count + kDnnTile - 1) / kDnnTile);
  for (m.group = 0; m.group < groups; m.group += kMostLayers)
    TROUPE_TRY(
        on.launch_blocks(kernel, blocks, kDnnProductThreads, &m, std::min<long long>(kMostLayers, groups - m.group)));
  return {};
}

void set_bias(DnnProductArguments& m, const op::View& bias, const LaneTools& on) {
  m.bias = on.data(bias);
  m.bias_stride = bias.strides[0];
}

constexpr op::SpaceNumbers kOnes{1, 1, 1};
constexpr op::SpaceNumbers kZeros{0, 0, 0};

}  // namespace

Result<void> run_op(const op::DnnConvolve& op, const LaneTools& on) {
  if (TROUPE_TRY(convolve_by_cudnn(op, on))) return {};
  const ConvolutionArrays of = arrays_of(op.x, op.w, op.y, op.window, op.groups, on);
  DnnProductArguments m{};
  set_factors(m, of.w, of.x, of.in, kOnes);
  m.out = of.y.data;
  m.activation = static_cast<int>(op.activation);
  m.alpha = op.alpha;
  m.rows = of.filters;
  m.row_stride_a = of.w.strides[0];
  m.row_stride_out = of.y.strides[1];
  m.group_a = of.filters * of.w.strides[0];
  m.group_b = of.channels * of.x.strides[1];
  m.group_out = of.filters * of.y.strides[1];
  m.depth = product_axis(of.channels, of.extent, of.w.strides[1], &of.w.strides[2], of.x.strides[1]);
  set_places(m.depth, of.window.dilation, kZeros, 1);
  m.columns = product_axis(of.batch, of.out, of.y.strides[0], &of.y.strides[2], of.x.strides[0]);
  set_places(m.columns, of.window.stride, of.window.before, -1);
  if (op.has_bias) set_bias(m, op.bias, on);
  if (op.has_addend) {
    const DnnArray addend = array_of(op.addend, on);
    m.addend = addend.data;
    m.row_stride_addend = addend.strides[1];
    m.group_addend = of.filters * addend.strides[1];
    m.columns.addend_strides[0] = addend.strides[0];
    for (int i = 1; i < 4; ++i) m.columns.addend_strides[i] = addend.strides[i + 1];
  }
  return launch_product(on, m, of.groups, op.y.dtype);
}

Result<void> run_op(const op::DnnConvolveInput& op, const LaneTools& on) {
  if (TROUPE_TRY(convolve_by_cudnn(op, on))) return {};
  const ConvolutionArrays of = arrays_of(op.x, op.w, op.y, op.window, op.groups, on);
  DnnProductArguments m{};
  set_factors(m, of.w, of.y, of.out, of.window.stride);
  m.divides = 1;
  m.out = of.x.data;
  m.activation = static_cast<int>(op.activation);
  m.alpha = op.alpha;
  m.rows = of.channels;
  m.row_stride_a = of.w.strides[1];
  m.row_stride_out = of.x.strides[1];
  m.group_a = of.filters * of.w.strides[0];
  m.group_b = of.filters * of.y.strides[1];
  m.group_out = of.channels * of.x.strides[1];
  m.depth = product_axis(of.filters, of.extent, of.w.strides[0], &of.w.strides[2], of.y.strides[1]);
  set_places(m.depth, of.window.dilation, kZeros, 1);
  m.columns = product_axis(of.batch, of.in, of.x.strides[0], &of.x.strides[2], of.y.strides[0]);
  set_places(m.columns, kOnes, of.window.before, 1);
  if (op.has_bias) set_bias(m, op.bias, on);
  return launch_product(on, m, of.groups, op.x.dtype);
}

Result<void> run_op(const op::DnnConvolveFilter& op, const LaneTools& on) {
  if (TROUPE_TRY(convolve_by_cudnn(op, on))) return {};
  const ConvolutionArrays of = arrays_of(op.x, op.w, op.y, op.window, op.groups, on);
  DnnProductArguments m{};
  set_factors(m, of.y, of.x, of.in, kOnes);
  m.out = of.w.data;
  m.rows = of.filters;
  m.row_stride_a = of.y.strides[1];
  m.row_stride_out = of.w.strides[0];
  m.group_a = of.filters * of.y.strides[1];
  m.group_b = of.channels * of.x.strides[1];
  m.group_out = of.filters * of.w.strides[0];
  m.depth = product_axis(of.batch, of.out, of.y.strides[0], &of.y.strides[2], of.x.strides[0]);
  set_places(m.depth, of.window.stride, of.window.before, -1);
  m.columns = product_axis(of.channels, of.extent, of.w.strides[1], &of.w.strides[2], of.x.strides[1]);
  set_places(m.columns, of.window.dilation, kZeros, 1);
  return launch_product(on, m, of.groups, op.w.dtype);
}

}  // namespace troupe::cuda

#endif
