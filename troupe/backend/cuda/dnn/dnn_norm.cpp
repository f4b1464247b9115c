#if TROUPE_CUDA_BACKEND

#include <algorithm>

#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_layers.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/kernels/axes_builder.hpp"

namespace troupe::cuda {
namespace {

/// The arrays of a normalization or of its gradient; null where there is none.
struct NormViews {
  const op::View* x = nullptr;
  const op::View* back = nullptr;
  const op::View* out = nullptr;
  const op::View* scale = nullptr;
  const op::View* shift = nullptr;  // forward; `dshift` is not among them
};

long long stride_of(const op::View* view, int axis) { return view ? view->strides[axis] : 0; }
/// Where the parameters have an axis of their own.
long long parameter_stride(const op::View* view, int axis) { return view && axis >= 0 ? view->strides[axis] : 0; }

/// Axis `axis` of x, with as many elements as told and so many elements of it from one to the next.
AxesBuilder<kNormArrays>::Strides norm_strides(const NormViews& of, int axis, int parameter_axis, std::int64_t apart) {
  return {stride_of(of.x, axis) * apart, stride_of(of.back, axis) * apart, stride_of(of.out, axis) * apart,
          parameter_stride(of.scale, parameter_axis) * apart, parameter_stride(of.shift, parameter_axis) * apart};
}

/// Which axes are rows, and which are within them.
struct NormAxes {
  AxesBuilder<kNormArrays> rows;
  AxesBuilder<kNormArrays> inner;
  std::int64_t row_count = 1;
};
NormAxes layer_axes(const NormViews& of, int axes) {
  NormAxes made;
  const Shape& x = of.x->shape;
  const int first = x.rank() - axes;
  for (int i = 0; i < x.rank(); ++i) {
    const auto strides = norm_strides(of, i, i - first, 1);
    (i < first ? made.rows : made.inner).add(x[i], strides);
    if (i < first) made.row_count *= x[i];
  }
  return made;
}
NormAxes group_axes(const NormViews& of, std::int64_t groups) {
  NormAxes made;
  const Shape& x = of.x->shape;
  const std::int64_t channels = x[1] / groups;
  made.rows.add(x[0], norm_strides(of, 0, -1, 1));
  made.rows.add(groups, norm_strides(of, 1, 0, channels));
  made.inner.add(channels, norm_strides(of, 1, 0, 1));
  for (int i = 2; i < x.rank(); ++i) made.inner.add(x[i], norm_strides(of, i, -1, 1));
  made.row_count = x[0] * groups;
  return made;
}
NormAxes channel_axes(const NormViews& of) {
  NormAxes made;
  const Shape& x = of.x->shape;
  made.rows.add(x[1], norm_strides(of, 1, 0, 1));
  for (int i = 0; i < x.rank(); ++i)
    if (i != 1) made.inner.add(x[i], norm_strides(of, i, -1, 1));
  made.row_count = x[1];
  return made;
}

DnnNormArguments norm_arguments(const NormViews& of, NormAxes& axes, double epsilon, bool centred,
                                const LaneTools& on) {
  DnnNormArguments m{};
  m.x = on.data(*of.x);
  if (of.back) m.back = on.data(*of.back);
  m.out = on.data(*of.out);
  if (of.scale) m.scale = on.data(*of.scale);
  if (of.shift) m.shift = on.data(*of.shift);
  m.epsilon = epsilon;
  m.centred = centred;
  m.rows = axes.rows.merged();
  m.inner = axes.inner.merged();
  return m;
}

/// Whether a row lies side by side in all arrays, begins where 16 bytes do, and fits into registers.
bool is_whole(const DnnNormArguments& m, DType dtype) {
  const long long items = 16 / size_bytes(dtype);
  if (m.inner.rank > 1 || m.inner.count % items != 0 || m.inner.count > items * kDnnNormThreads * kDnnNormGroups)
    return false;
  const auto lies_so = [&](int array) { return m.inner.rank == 0 || m.inner.strides[array][0] == 1; };
  const auto begins_so = [&](int array, const void* data) {
    bool is_aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
    for (int i = 0; i < m.rows.rank; ++i) is_aligned &= m.rows.strides[array][i] % items == 0;
    return is_aligned;
  };
  const auto stays = [&](int array, const void* data) {  // a parameter for each element of a row, the same for all rows
    if (!data) return true;
    for (int i = 0; i < m.rows.rank; ++i)
      if (m.rows.strides[array][i] != 0) return false;
    return lies_so(array);
  };
  return lies_so(kNormX) && lies_so(kNormOut) && begins_so(kNormX, m.x) && begins_so(kNormOut, m.out) &&
         stays(kNormScale, m.scale) && stays(kNormShift, m.shift);
}

Result<void> launch_rows(const LaneTools& on, DnnNormKernel kernel, DnnNormArguments& m, DType dtype) {
  constexpr long long kMostBlocks = 1 << 20;  // a block takes several rows then
  if (m.inner.count == 0) return {};
  return on.launch_blocks(TROUPE_TRY(on.kernel(kernel, dtype)), std::min(m.rows.count, kMostBlocks), kDnnNormThreads,
                          &m);
}

template <class Op>
NormViews forward_views(const Op& op) {
  return {.x = &op.x,
          .back = nullptr,
          .out = &op.y,
          .scale = op.has_scale ? &op.scale : nullptr,
          .shift = op.has_shift ? &op.shift : nullptr};
}
template <class Op>
bool has_wide_parameters(const Op& op) {
  const op::View* any = nullptr;
  if constexpr (requires { op.dshift; }) {
    if (op.gives_shift) any = &op.dshift;
    if (op.gives_scale) any = &op.dscale;
  } else if constexpr (requires { op.running_mean; }) {
    if (op.has_running) any = &op.running_mean;
    if (op.has_shift) any = &op.shift;
  } else if (op.has_shift) {
    any = &op.shift;
  }
  if (op.has_scale) any = &op.scale;
  return any && any->dtype != op.x.dtype;
}

template <class Op>
Result<void> norm_forward(const Op& op, NormAxes axes, bool centred, const LaneTools& on) {
  DnnNormArguments m = norm_arguments(forward_views(op), axes, op.epsilon, centred, on);
  m.wide_parameters = has_wide_parameters(op);
  return launch_rows(on, is_whole(m, op.x.dtype) ? DnnNormKernel::dnn_norm_whole : DnnNormKernel::dnn_norm, m,
                     op.x.dtype);
}

/// What the sums of a parameter go over: axes of x, and of the moments.
AxesBuilder<kSumArrays>::Strides sum_strides(const op::View& x, const op::View& back, int axis, std::int64_t apart,
                                             std::int64_t moments, std::int64_t scale, std::int64_t shift) {
  return {x.strides[axis] * apart, back.strides[axis] * apart, moments, scale, shift};
}
struct SumAxes {
  AxesBuilder<kSumArrays> kept;
  AxesBuilder<kSumArrays> summed;
  int width = 1;
};

template <class Op>
Result<void> norm_backward(const Op& op, NormAxes axes, bool centred, SumAxes sums, const LaneTools& on) {
  const NormViews of{
      .x = &op.x, .back = &op.dy, .out = &op.dx, .scale = op.has_scale ? &op.scale : nullptr, .shift = nullptr};
  DnnNormArguments m = norm_arguments(of, axes, op.epsilon, centred, on);
  m.wide_parameters = has_wide_parameters(op);
  const bool has_sums = op.gives_scale || op.gives_shift;
  const std::int64_t moment_bytes = 2 * (op.x.dtype == DType::f64 ? 8 : 4);
  const StreamScratch moments =
      TROUPE_TRY(on.scratch(has_sums ? static_cast<std::uint64_t>(axes.row_count * moment_bytes) : 0));
  if (has_sums) m.moments = moments.data();
  TROUPE_TRY(launch_rows(on, DnnNormKernel::dnn_norm_gradient, m, op.x.dtype));
  if (!has_sums) return {};
  DnnNormSumArguments s{};
  s.x = m.x;
  s.back = m.back;
  s.moments = moments.data();
  if (op.gives_scale) s.scale = on.data(op.dscale);
  if (op.gives_shift) s.shift = on.data(op.dshift);
  s.wide_parameters = m.wide_parameters;
  s.width = sums.width;
  s.kept = sums.kept.merged();
  s.summed = sums.summed.merged();
  return on.launch_blocks(TROUPE_TRY(on.kernel(DnnNormKernel::dnn_norm_sums, op.x.dtype)),
                          (s.kept.count + s.width - 1) / s.width, kDnnNormThreads, &s);
}

template <class Op>
std::int64_t scale_stride(const Op& op, int axis) {
  return op.gives_scale ? op.dscale.strides[axis] : 0;
}
template <class Op>
std::int64_t shift_stride(const Op& op, int axis) {
  return op.gives_shift ? op.dshift.strides[axis] : 0;
}

/// Axes behind the channels, over which parameters of channels are summed.
template <class Op>
void add_space(SumAxes& sums, const Op& op) {
  for (int i = 2; i < op.x.shape.rank(); ++i) sums.summed.add(op.x.shape[i], sum_strides(op.x, op.dy, i, 1, 0, 0, 0));
}

}  // namespace

Result<void> run_op(const op::DnnLayerNorm& op, const LaneTools& on) {
  return norm_forward(op, layer_axes(forward_views(op), op.axes), op.centred, on);
}

Result<void> run_op(const op::DnnGroupNorm& op, const LaneTools& on) {
  return norm_forward(op, group_axes(forward_views(op), op.groups == 0 ? op.x.shape[1] : op.groups), true, on);
}

Result<void> run_op(const op::DnnBatchNormTraining& op, const LaneTools& on) {
  NormAxes axes = channel_axes(forward_views(op));
  DnnNormArguments m = norm_arguments(forward_views(op), axes, op.epsilon, true, on);
  m.wide_parameters = has_wide_parameters(op);
  m.momentum = op.momentum;
  if (op.has_running) {
    m.running_mean = on.data(op.running_mean);
    m.running_variance = on.data(op.running_variance);
    m.running_mean_stride = op.running_mean.strides[0];
    m.running_variance_stride = op.running_variance.strides[0];
  }
  return launch_rows(on, DnnNormKernel::dnn_norm, m, op.x.dtype);
}

Result<void> run_op(const op::DnnLayerNormGradient& op, const LaneTools& on) {
  constexpr int kNeighbours = 32;
  const NormViews of{
      .x = &op.x, .back = &op.dy, .out = &op.dx, .scale = op.has_scale ? &op.scale : nullptr, .shift = nullptr};
  SumAxes sums;
  sums.width = kNeighbours;
  const int rank = op.x.shape.rank(), first = rank - op.axes;
  for (int i = first; i < rank; ++i)
    sums.kept.add(op.x.shape[i],
                  sum_strides(op.x, op.dy, i, 1, 0, scale_stride(op, i - first), shift_stride(op, i - first)));
  std::int64_t rows = 1;
  for (int i = 0; i < first; ++i) rows *= op.x.shape[i];
  for (int i = 0; i < first; ++i) {
    rows = op.x.shape[i] == 0 ? 0 : rows / op.x.shape[i];
    sums.summed.add(op.x.shape[i], sum_strides(op.x, op.dy, i, 1, rows, 0, 0));
  }
  return norm_backward(op, layer_axes(of, op.axes), op.centred, sums, on);
}

Result<void> run_op(const op::DnnGroupNormGradient& op, const LaneTools& on) {
  const NormViews of{
      .x = &op.x, .back = &op.dy, .out = &op.dx, .scale = op.has_scale ? &op.scale : nullptr, .shift = nullptr};
  const std::int64_t groups = op.groups == 0 ? op.x.shape[1] : op.groups;
  const std::int64_t channels = op.x.shape[1] / groups;
  SumAxes sums;
  sums.kept.add(
      groups, sum_strides(op.x, op.dy, 1, channels, 1, scale_stride(op, 0) * channels, shift_stride(op, 0) * channels));
  sums.kept.add(channels, sum_strides(op.x, op.dy, 1, 1, 0, scale_stride(op, 0), shift_stride(op, 0)));
  sums.summed.add(op.x.shape[0], sum_strides(op.x, op.dy, 0, 1, groups, 0, 0));
  add_space(sums, op);
  return norm_backward(op, group_axes(of, groups), true, sums, on);
}

Result<void> run_op(const op::DnnBatchNormGradient& op, const LaneTools& on) {
  const NormViews of{
      .x = &op.x, .back = &op.dy, .out = &op.dx, .scale = op.has_scale ? &op.scale : nullptr, .shift = nullptr};
  SumAxes sums;
  sums.kept.add(op.x.shape[1], sum_strides(op.x, op.dy, 1, 1, 1, scale_stride(op, 0), shift_stride(op, 0)));
  sums.summed.add(op.x.shape[0], sum_strides(op.x, op.dy, 0, 1, 0, 0, 0));
  add_space(sums, op);
  return norm_backward(op, channel_axes(of), true, sums, on);
}

Result<void> run_op(const op::DnnBatchNorm& op, const LaneTools& on) {
  DnnGivenNormArguments m{};
  m.x = on.data(op.x);
  m.out = on.data(op.y);
  m.mean = on.data(op.mean);
  m.variance = on.data(op.variance);
  if (op.has_scale) m.scale = on.data(op.scale);
  if (op.has_shift) m.shift = on.data(op.shift);
  m.epsilon = op.epsilon;
  m.wide_parameters = op.mean.dtype != op.x.dtype;
  AxesBuilder<kGivenArrays> axes;
  for (int i = 0; i < op.x.shape.rank(); ++i) {
    const bool is_channel = i == 1;
    axes.add(
        op.x.shape[i],
        {op.x.strides[i], op.y.strides[i], is_channel ? op.mean.strides[0] : 0, is_channel ? op.variance.strides[0] : 0,
         is_channel && op.has_scale ? op.scale.strides[0] : 0, is_channel && op.has_shift ? op.shift.strides[0] : 0});
  }
  m.axes = axes.arranged(kGivenOut);
  return launch_one(on, TROUPE_TRY(on.kernel(DnnNormKernel::dnn_norm_given, op.x.dtype)), m.axes.count, &m);
}

}  // namespace troupe::cuda

#endif
