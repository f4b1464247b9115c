#if TROUPE_CUDA_BACKEND

#include <algorithm>

#include "troupe/backend/cuda/dnn/cudnn_call.hpp"
#include "troupe/backend/cuda/dnn/cudnn_problems.hpp"
#include "troupe/backend/cuda/dnn/dnn_by_cudnn.hpp"
#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

/// Behind batch and channels cuDNN has two axes of space, or three.
std::size_t axes_of(int space) { return space == 3 ? 5 : 4; }

/// An array as cuDNN gets it: where it is, if it lies in the order for which cuDNN has its kernels, and packed
/// otherwise. That is channels last for types of 16 bits, which tensor cores take so, and first for f32.
class CudnnPacked {
 public:
  CudnnPacked(const op::View& view, const LaneTools& on) : dtype_(view.dtype), data_(on.at(view)) {
    const std::size_t axes = axes_of(op::space_of(view));
    const std::size_t missing = axes - static_cast<std::size_t>(view.shape.rank());
    told_.extents.fill(0);
    std::int64_t stride = 1;
    const auto lay = [&](std::size_t axis) {
      const bool is_there = axis < 2 || axis >= 2 + missing;
      const int at = static_cast<int>(axis < 2 ? axis : axis - missing);
      const std::int64_t extent = is_there ? view.shape[at] : 1;
      told_.extents[axis] = extent;
      told_.strides[axis] = stride;
      stride *= extent;
      if (!is_there || extent == 1) return;
      packing_.add(extent, {view.strides[at], told_.strides[axis]});
      unpacking_.add(extent, {told_.strides[axis], view.strides[at]});
      is_packed_ |= view.strides[at] != told_.strides[axis];
    };
    const bool is_channels_last = view.dtype != DType::f32;
    if (is_channels_last) lay(1);
    for (std::size_t axis = axes; axis-- > 2;) lay(axis);
    if (!is_channels_last) lay(1);
    lay(0);
    elements_ = stride;
    if (is_packed_) return;
    constexpr CUdeviceptr kMost = CudnnOperand::kMostAlignment;
    told_.alignment_bytes = static_cast<std::int64_t>(std::min(data_ & (~data_ + 1), kMost));
  }

  const CudnnOperand& told() const noexcept { return told_; }
  CUdeviceptr address() const noexcept { return packed_ ? packed_->address() : data_; }
  /// More elements than an index of 32 bits counts.
  bool is_too_large() const noexcept { return elements_ > 0x7fffffff; }

  Result<void> allocate(const LaneTools& on) {
    if (is_packed_) packed_.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(elements_ * size_bytes(dtype_)))));
    return {};
  }
  Result<void> pack(const LaneTools& on) const {
    if (!is_packed_) return {};
    return move_elements(on, dtype_, data_, address(), packing_);
  }
  Result<void> unpack(const LaneTools& on) const {
    if (!is_packed_) return {};
    return move_elements(on, dtype_, address(), data_, unpacking_);
  }

 private:
  DType dtype_;
  CUdeviceptr data_;
  CudnnOperand told_;
  bool is_packed_ = false;
  AxesBuilder<2> packing_;
  AxesBuilder<2> unpacking_;
  std::int64_t elements_ = 1;
  std::optional<StreamScratch> packed_;
};

/// A vector for the channels as an array of the others' axes.
op::View as_channels(const op::View& vector, const Shape& like) {
  op::View view = vector;
  view.shape = like;
  for (int i = 0; i < like.rank(); ++i) view.shape[i] = i == 1 ? vector.shape[0] : 1;
  view.strides = contiguous_strides(view.shape);
  view.strides[1] = vector.strides[0];
  return view;
}

/// What the three ops have in common: out is made of a and b, then of the bias and the addend.
struct CudnnConvolutionOp {
  CudnnConvolution which;
  const op::DnnWindow& window;
  const op::View& a;
  const op::View& b;
  const op::View& out;
  DnnActivation activation = DnnActivation::none;
  double alpha = 0;
  const op::View* bias = nullptr;
  const op::View* addend = nullptr;
};

class CudnnConvolutionCall {
 public:
  CudnnConvolutionCall(const CudnnConvolutionOp& op, const LaneTools& on) : on_(on), call_(on) {
    problem_.which = op.which;
    problem_.dtype = op.out.dtype;
    problem_.axes = axes_of(op::space_of(op.a));
    problem_.window = window_of(op);
    problem_.activation = op.activation;
    problem_.alpha = op.activation == DnnActivation::none ? 0 : op.alpha;
    problem_.has_bias = op.bias != nullptr;
    problem_.has_addend = op.addend != nullptr;
    arrays_.reserve(5);  // in the graph's order
    add(op.a, problem_.a);
    add(op.b, problem_.b);
    add(op.out, problem_.out);
    if (op.bias) add(as_channels(*op.bias, op.out.shape), problem_.bias);
    if (op.addend) add(*op.addend, problem_.addend);
  }

  /// False: do without.
  bool prepare() {
    if (std::ranges::any_of(arrays_, &CudnnPacked::is_too_large)) return false;
    if (!call_.prepare(problem_.key(), [&] { return problem_.graph(); }, problem_.dtype != DType::f32)) return false;
    for (CudnnPacked& array : arrays_)
      if (!array.allocate(on_)) {
        call_.keep();
        return false;
      }
    return true;
  }
  Result<void> run() {
    constexpr std::size_t kOut = 2;
    std::vector<CUdeviceptr> addresses;
    for (const CudnnPacked& array : arrays_) {
      if (addresses.size() != kOut) TROUPE_TRY(array.pack(on_));
      addresses.push_back(array.address());
    }
    TROUPE_TRY(call_.run(addresses));
    TROUPE_TRY(arrays_[kOut].unpack(on_));
    call_.keep();
    return {};
  }

 private:
  void add(const op::View& view, CudnnOperand& told) { told = arrays_.emplace_back(view, on_).told(); }
  /// By the axes of space that cuDNN is told of.
  static op::DnnWindow window_of(const CudnnConvolutionOp& op) {
    const int space = op::space_of(op.a);
    const auto missing = static_cast<std::ptrdiff_t>(op::kMaxSpace + 2 - axes_of(space));
    op::DnnWindow window = op::in_three(op.window, space);
    for (op::SpaceNumbers* const numbers : {&window.stride, &window.before, &window.after, &window.dilation})
      std::shift_left(numbers->begin(), numbers->end(), missing);
    return window;
  }

  const LaneTools& on_;
  CudnnCall call_;
  CudnnConvolutionProblem problem_;
  std::vector<CudnnPacked> arrays_;
};

Result<bool> run_by_cudnn(const CudnnConvolutionOp& op, std::uint64_t products, const LaneTools& on) {
  if (products < CudnnCall::kLeastProducts || op.out.dtype == DType::f64) return false;
  // cuDNN 9.19's gradients of filters in f32, of engines said to use no tensor cores, were ten times as far from f64 as
  // its convolutions.
  if (op.out.dtype == DType::f32 && op.which == CudnnConvolution::filter) return false;
  if (op.out.dtype == DType::f32 && op.activation != DnnActivation::none) {
    // A kernel of its own: sums of floats are rounded nowhere on the way, and cuDNN's functions are less exact.
    CudnnConvolutionOp sums = op;
    sums.activation = DnnActivation::none;
    if (!TROUPE_TRY(run_by_cudnn(sums, products, on))) return false;
    TROUPE_TRY(run_op(op::DnnActivate{.function = op.activation, .alpha = op.alpha, .x = op.out, .y = op.out}, on));
    return true;
  }
  if (!has_cudnn_activation(op.activation)) return false;
  CudnnConvolutionCall call(op, on);
  if (!call.prepare()) return false;
  TROUPE_TRY(call.run());
  return true;
}

}  // namespace

Result<bool> convolve_by_cudnn(const op::DnnConvolve& op, const LaneTools& on) {
  return run_by_cudnn({.which = CudnnConvolution::forward,
                       .window = op.window,
                       .a = op.x,
                       .b = op.w,
                       .out = op.y,
                       .activation = op.activation,
                       .alpha = op.alpha,
                       .bias = op.has_bias ? &op.bias : nullptr,
                       .addend = op.has_addend ? &op.addend : nullptr},
                      op.work(), on);
}
Result<bool> convolve_by_cudnn(const op::DnnConvolveInput& op, const LaneTools& on) {
  return run_by_cudnn({.which = CudnnConvolution::input,
                       .window = op.window,
                       .a = op.y,
                       .b = op.w,
                       .out = op.x,
                       .activation = op.activation,
                       .alpha = op.alpha,
                       .bias = op.has_bias ? &op.bias : nullptr},
                      op.work(), on);
}
Result<bool> convolve_by_cudnn(const op::DnnConvolveFilter& op, const LaneTools& on) {
  return run_by_cudnn({.which = CudnnConvolution::filter, .window = op.window, .a = op.x, .b = op.y, .out = op.w},
                      op.work(), on);
}

}  // namespace troupe::cuda

#endif
