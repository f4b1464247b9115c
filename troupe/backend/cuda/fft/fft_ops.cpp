#if TROUPE_CUDA_BACKEND

#include <optional>

#include "troupe/backend/cuda/fft/cufft.hpp"
#include "troupe/backend/cuda/fft/fft_kernels.hpp"
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/op/fft.hpp"

namespace troupe::cuda {
namespace {

/// The axes of a view in the order in which cuFFT sees them: the batch, then those that are transformed.
struct AxisOrder {
  std::array<int, kMaxRank> axes{};
  int rank = 0;
  int batch = 0;  // how many of them

  static AxisOrder of(const op::FftAxes& transformed, int rank, bool is_real) {
    AxisOrder order{.axes = {}, .rank = 0, .batch = rank - transformed.count};
    const auto add = [&](int axis) { order.axes[static_cast<std::size_t>(order.rank++)] = axis; };
    const auto is_transformed = [&](int axis) {
      for (int i = 0; i < transformed.count; ++i)
        if (transformed[i] == axis) return true;
      return false;
    };
    for (int axis = 0; axis < rank; ++axis)
      if (!is_transformed(axis)) add(axis);
    // Only the axis of half a spectrum must be the last one.
    for (int axis = 0; axis < rank; ++axis)
      if (is_transformed(axis) && !(is_real && axis == transformed.last())) add(axis);
    if (is_real) add(transformed.last());
    return order;
  }
  op::View apply(const op::View& view) const {
    op::View turned = view;
    for (int i = 0; i < rank; ++i) {
      turned.shape[i] = view.shape[axes[static_cast<std::size_t>(i)]];
      turned.strides[i] = view.strides[axes[static_cast<std::size_t>(i)]];
    }
    return turned;
  }
};

/// How cuFFT is told where a view's elements are, the batch first; none when it cannot be.
std::optional<CufftSide> side_of(const op::View& view, int batch) {
  CufftSide side;
  const int rank = view.shape.rank(), transformed = rank - batch;
  side.stride = view.strides[rank - 1];
  if (side.stride < 1) return std::nullopt;
  long long step = side.stride;
  for (int i = transformed - 1; i > 0; --i) {
    const long long outer = view.strides[batch + i - 1];
    if (outer % step != 0 || outer / step < view.shape[batch + i]) return std::nullopt;
    side.embed[static_cast<std::size_t>(i)] = outer / step;
    step = outer;
  }
  side.embed[0] = view.shape[batch];
  bool is_first = true;
  long long next = 0;
  for (int i = batch - 1; i >= 0; --i) {
    if (view.shape[i] == 1) continue;
    if (!is_first && view.strides[i] != next) return std::nullopt;
    if (is_first) side.distance = view.strides[i];
    if (view.strides[i] < 1) return std::nullopt;
    is_first = false;
    next = view.strides[i] * view.shape[i];
  }
  return side;
}

/// A view without gaps of the same shape.
op::View packed(const op::View& view) {
  op::View dense = view;
  dense.strides = contiguous_strides(view.shape);
  return dense;
}

/// cuFFT reads and writes pairs of real numbers, and complex ones whole.
bool is_aligned(CUdeviceptr at, DType dtype) {
  return at % static_cast<CUdeviceptr>(size_bytes(dtype) * (is_complex(dtype) ? 1 : 2)) == 0;
}

cufftType type_of(const op::View& x, const op::View& y) {
  if (!is_complex(x.dtype)) return x.dtype == DType::f64 ? CUFFT_D2Z : CUFFT_R2C;
  if (!is_complex(y.dtype)) return y.dtype == DType::f64 ? CUFFT_Z2D : CUFFT_C2R;
  return x.dtype == DType::c128 ? CUFFT_Z2Z : CUFFT_C2C;
}

Result<void> execute(const CufftTable& cufft, cufftHandle plan, cufftType type, CUdeviceptr in, CUdeviceptr out,
                     int direction) {
  const auto at = []<class T>(std::type_identity<T>, CUdeviceptr address) { return reinterpret_cast<T*>(address); };
  constexpr std::type_identity<cufftComplex> kComplex;
  constexpr std::type_identity<cufftDoubleComplex> kDoubleComplex;
  switch (type) {
    case CUFFT_R2C: return cufft.cufftExecR2C(plan, at(std::type_identity<cufftReal>{}, in), at(kComplex, out));
    case CUFFT_C2R: return cufft.cufftExecC2R(plan, at(kComplex, in), at(std::type_identity<cufftReal>{}, out));
    case CUFFT_D2Z:
      return cufft.cufftExecD2Z(plan, at(std::type_identity<cufftDoubleReal>{}, in), at(kDoubleComplex, out));
    case CUFFT_Z2D:
      return cufft.cufftExecZ2D(plan, at(kDoubleComplex, in), at(std::type_identity<cufftDoubleReal>{}, out));
    case CUFFT_Z2Z: return cufft.cufftExecZ2Z(plan, at(kDoubleComplex, in), at(kDoubleComplex, out), direction);
    default: return cufft.cufftExecC2C(plan, at(kComplex, in), at(kComplex, out), direction);
  }
}

Result<void> scale(const op::View& y, double factor, const LaneTools& on) {
  Layout layout = layout_of(y, nullptr);
  CUdeviceptr at = on.at(y);
  std::array<void*, 3> arguments{&at, &factor, &layout};  // in the order of the kernel's parameters
  return on.launch(TROUPE_TRY(on.kernel(FftKernel::fft_scale, y.dtype)), layout.count, arguments);
}

/// Runs a transform whose sides are told; a work area that the plan has not is there until it has run.
Result<void> run_plan(const CufftProblem& problem, CUdeviceptr in, CUdeviceptr out, bool is_inverse,
                      const LaneTools& on) {
  Cufft& cufft = *TROUPE_TRY(on.handle<Cufft>());
  const CufftTable& functions = cufft.functions();
  std::unique_ptr<CufftPlan> plan = TROUPE_TRY(cufft.take(problem, on));
  std::optional<StreamScratch> work;
  if (plan->missing_work_bytes() != 0) {
    work.emplace(TROUPE_TRY(on.scratch(plan->missing_work_bytes())));
    TROUPE_TRY(functions.cufftSetWorkArea(plan->handle(), work->data()));
  }
  const int direction = is_inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
  if (problem.is_f16)
    TROUPE_TRY(
        functions.cufftXtExec(plan->handle(), reinterpret_cast<void*>(in), reinterpret_cast<void*>(out), direction));
  else
    TROUPE_TRY(execute(functions, plan->handle(), problem.type, in, out, direction));
  cufft.keep(std::move(plan));
  return {};
}

/// A side of numbers of f16 as cuFFT takes it: without gaps, the batch first, complex numbers as pairs.
struct F16Side {
  op::View view;  // the numbers, and the axis of pairs behind them
  bool is_real;

  static F16Side of(const op::View& view, bool is_real, const AxisOrder& order) {
    return {order.apply(view), is_real};  // which leaves the axis of pairs where it is
  }
  bool is_in_place(CUdeviceptr at) const {
    return is_contiguous(view.shape, view.strides) && at % static_cast<CUdeviceptr>(2 * size_bytes(DType::f16)) == 0;
  }
  CufftSide told(int batch) const {
    op::View numbers = view;
    numbers.shape = op::shape_of_numbers(view, is_real);
    numbers.strides = contiguous_strides(numbers.shape);
    return *side_of(numbers, batch);
  }
};

template <class Op>
Result<void> run_f16_transform(const Op& op, const LaneTools& on) {
  const bool from_half = op.is_real() && Op::kIsInverse, to_half = op.is_real() && !Op::kIsInverse;
  const op::View& whole = op.whole();
  const Shape numbers = op::shape_of_numbers(whole, op.is_real());
  const AxisOrder order = AxisOrder::of(op.axes, numbers.rank(), op.is_real());
  const F16Side x = F16Side::of(op.x, to_half, order), y = F16Side::of(op.y, from_half, order);
  CUdeviceptr in = on.at(op.x), out = on.at(op.y);
  std::optional<StreamScratch> packed_x, packed_y;
  if (from_half || !x.is_in_place(in)) {  // what comes from half a spectrum may write its input
    packed_x.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(op::element_count(x.view) * 2))));
    TROUPE_TRY(copy_elements(x.view, in, packed(x.view), packed_x->address(), on));
    in = packed_x->address();
  }
  if (!y.is_in_place(out)) {
    packed_y.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(op::element_count(y.view) * 2))));
    out = packed_y->address();
  }
  CufftProblem problem{.type = from_half ? CUFFT_C2R
                               : to_half ? CUFFT_R2C
                                         : CUFFT_C2C,
                       .is_f16 = true,
                       .rank = op.axes.count,
                       .lengths = {},
                       .in = x.told(order.batch),
                       .out = y.told(order.batch),
                       .batch = 1};
  for (int i = 0; i < order.rank; ++i) {
    const std::int64_t extent = numbers[order.axes[static_cast<std::size_t>(i)]];
    if (i < order.batch)
      problem.batch *= extent;
    else
      problem.lengths[static_cast<std::size_t>(i - order.batch)] = extent;
  }
  TROUPE_TRY(run_plan(problem, in, out, Op::kIsInverse, on));
  if (packed_y) TROUPE_TRY(copy_elements(packed(y.view), out, y.view, on.at(op.y), on));
  const double factor = op::fft_factor(Op::kIsInverse, op.norm, op.axes, numbers);
  return factor == 1 ? Result<void>() : scale(op.y, factor, on);
}

template <class Op>
Result<void> run_transform(const Op& op, const LaneTools& on) {
  if (op::element_count(op.y) == 0) return {};
  if (op.x.dtype == DType::f16) return run_f16_transform(op, on);
  const AxisOrder order = AxisOrder::of(op.axes, op.x.shape.rank(), op.is_real());
  const op::View x = order.apply(op.x), y = order.apply(op.y);
  const cufftType type = type_of(x, y);
  CUdeviceptr in = on.at(x), out = on.at(y);

  // What comes from half a spectrum may write its input; no op does that.
  const bool writes_input = type == CUFFT_C2R || type == CUFFT_Z2D;
  std::optional<CufftSide> from = side_of(x, order.batch), to = side_of(y, order.batch);
  std::optional<StreamScratch> packed_x, packed_y;
  if (!from || writes_input || !is_aligned(in, x.dtype)) {
    const op::View dense = packed(x);
    packed_x.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(op::element_count(x) * size_bytes(x.dtype)))));
    TROUPE_TRY(copy_elements(x, in, dense, packed_x->address(), on));
    in = packed_x->address();
    from = side_of(dense, order.batch);
  }
  if (!to || !is_aligned(out, y.dtype)) {
    packed_y.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(op::element_count(y) * size_bytes(y.dtype)))));
    out = packed_y->address();
    to = side_of(packed(y), order.batch);
  }

  CufftProblem problem{
      .type = type, .is_f16 = false, .rank = op.axes.count, .lengths = {}, .in = *from, .out = *to, .batch = 1};
  const op::View& whole = is_complex(y.dtype) ? x : y;
  for (int i = 0; i < order.rank; ++i) {
    if (i < order.batch)
      problem.batch *= whole.shape[i];
    else
      problem.lengths[static_cast<std::size_t>(i - order.batch)] = whole.shape[i];
  }
  TROUPE_TRY(run_plan(problem, in, out, Op::kIsInverse, on));

  if (packed_y) TROUPE_TRY(copy_elements(packed(y), out, y, on.at(y), on));
  const double factor = op::fft_factor(Op::kIsInverse, op.norm, op.axes, op.whole().shape);
  return factor == 1 ? Result<void>() : scale(op.y, factor, on);
}

}  // namespace

Result<void> run_op(const op::FftForward& op, const LaneTools& on) { return run_transform(op, on); }
Result<void> run_op(const op::FftInverse& op, const LaneTools& on) { return run_transform(op, on); }

void add_fft(RunTable& table) { table.add(op::FftOps{}); }

}  // namespace troupe::cuda

#endif
