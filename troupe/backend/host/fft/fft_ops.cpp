#include <utility>

#include "troupe/backend/host/fft/fft_lines.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/fft.hpp"

namespace troupe::host {
namespace {

/// The axes of an op one after another; the last pass multiplies with the factor.
template <class Op>
class Passes {
 public:
  Passes(const Op& op, const HostTools& on) noexcept : op_(op), on_(on) {}

  Result<void> run(const HostView& from, const HostView& to, int axis, FftLine line = FftLine::complex) {
    const bool is_last = ++done_ == op_.axes.count;
    const FftPass pass{.in = from,
                       .out = to,
                       .axis = axis,
                       .line = line,
                       .is_inverse = Op::kIsInverse,
                       .factor = is_last ? op::fft_factor(Op::kIsInverse, op_.norm, op_.axes, op_.whole().shape) : 1};
    return transform_lines(pass, on_.fft_plans(), on_.team());
  }
  /// The first `count` of the axes.
  Result<void> run_complex(HostView from, const HostView& to, int count) {
    for (int i = 0; i < count; ++i) TROUPE_TRY(run(std::exchange(from, to), to, op_.axes[i]));
    return {};
  }

 private:
  const Op& op_;
  const HostTools& on_;
  int done_ = 0;
};

Result<void> check_type(std::string_view call, DType dtype) {
  if (dtype != DType::f16) return {};
  return fail(ErrorKind::unsupported, std::string(call) + ": f16 is for GPUs; on the CPU, cast to f32");
}

}  // namespace

Result<void> run_op(const op::FftForward& op, const HostTools& on) {
  TROUPE_TRY(check_type("forward", op.x.dtype));
  const HostView x = on(op.x), y = on(op.y);
  if (!y.data) return {};
  Passes passes(op, on);
  if (!op.is_real()) return passes.run_complex(x, y, op.axes.count);
  TROUPE_TRY(passes.run(x, y, op.axes.last(), FftLine::to_half));
  return passes.run_complex(y, y, op.axes.count - 1);
}

Result<void> run_op(const op::FftInverse& op, const HostTools& on) {
  TROUPE_TRY(check_type("inverse", op.x.dtype));
  const HostView x = on(op.x), y = on(op.y);
  if (!y.data) return {};
  Passes passes(op, on);
  if (!op.is_real()) return passes.run_complex(x, y, op.axes.count);
  if (op.axes.count == 1) return passes.run(x, y, op.axes.last(), FftLine::from_half);
  const std::int64_t size = op::element_count(op.x) * size_bytes(x.dtype);
  const Scratch memory = TROUPE_TRY(make_scratch(size));  // an input is never written
  const HostView between{memory.get(), x.dtype, x.shape, contiguous_strides(x.shape)};
  TROUPE_TRY(passes.run_complex(x, between, op.axes.count - 1));
  return passes.run(between, y, op.axes.last(), FftLine::from_half);
}

void add_fft(RunTable& table) { table.add(op::FftOps{}); }

}  // namespace troupe::host
