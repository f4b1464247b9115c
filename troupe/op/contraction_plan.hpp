// How a contraction is best done, decided by an estimate of its time: by which engine, and which operands are permuted
// into scratch memory first so that their axes merge into those of a matrix. The same code plans for every backend and
// for whoever asks what would run; a backend is described by a few rates.
#pragma once

#include <array>
#include <optional>

#include "troupe/op/tensor.hpp"

namespace troupe::inline v0::op {

enum class AxisRole : std::uint8_t { batch, row, column, depth };

/// One axis of a contraction: its extent, and its stride in each of the three. An operand that has not the axis has a
/// stride of 0 there.
struct ContractionAxis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  AxisRole role{};
};

/// A few of them, outermost first.
class AxisList {
 public:
  void add(const ContractionAxis& axis) noexcept {
    TROUPE_ASSERT(count_ < axes_.size(), "a contraction has at most so many axes");
    axes_[count_++] = axis;
  }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  ContractionAxis& operator[](std::size_t i) noexcept { return axes_[i]; }
  const ContractionAxis& operator[](std::size_t i) const noexcept { return axes_[i]; }
  ContractionAxis* begin() noexcept { return axes_.data(); }
  ContractionAxis* end() noexcept { return axes_.data() + count_; }
  const ContractionAxis* begin() const noexcept { return axes_.data(); }
  const ContractionAxis* end() const noexcept { return axes_.data() + count_; }

 private:
  std::array<ContractionAxis, std::size_t{3} * kMaxRank> axes_;
  std::size_t count_ = 0;
};

/// What decides on a backend which way is the fastest. Estimates: only their ratios matter.
struct ContractionRates {
  double gemm_flops = 0;   // each second, of large matrices
  double gemm_half = 0;    // rows, columns or depth at which a product runs at half of that
  double loops_flops = 0;  // each second
  double bytes = 0;        // moved each second
  double call_seconds = 0;
  bool batches_in_one_call = false;
  bool needs_unit_strides = false;  // one of the two of each matrix
  std::int64_t max_scratch_bytes = 0;
  double cutensor_seconds = 0;  // from so many on it is worth opening cuTENSOR; 0: there can be none
};
/// Two cores of a server; the ratios hold from laptops to large machines well enough.
inline constexpr ContractionRates kHostRates{.gemm_flops = 5e10,
                                             .gemm_half = 6,
                                             .loops_flops = 1e9,
                                             .bytes = 6e9,
                                             .call_seconds = 4e-7,
                                             .batches_in_one_call = false,
                                             .needs_unit_strides = false,
                                             .max_scratch_bytes = std::int64_t{4} << 30,
                                             .cutensor_seconds = 0};
inline constexpr ContractionRates kGpuRates{.gemm_flops = 4e13,
                                            .gemm_half = 32,
                                            .loops_flops = 3e11,
                                            .bytes = 2e12,
                                            .call_seconds = 4e-6,
                                            .batches_in_one_call = true,
                                            .needs_unit_strides = true,
                                            .max_scratch_bytes = std::int64_t{16} << 30,
                                            .cutensor_seconds = 1e-4};
constexpr const ContractionRates& rates_of(std::string_view backend) noexcept {
  return backend == "host" ? kHostRates : kGpuRates;
}

struct ContractionPlan {
  TensorEngine engine{};        // never automatic
  bool takes_cutensor = false;  // where the worker has it, and only else the engine
  bool packs_a = false;
  bool packs_b = false;
  bool packs_c = false;

  // For gemm: the axes as they were, in the order in which packed operands have them ...
  AxisList batch_axes;
  AxisList row_axes;
  AxisList column_axes;
  AxisList depth_axes;
  // ... and merged, with the strides of what is multiplied: the operand itself, or where it was packed to.
  AxisList batch;
  ContractionAxis rows;
  ContractionAxis columns;
  ContractionAxis depth;

  std::int64_t calls = 1;
  double flops = 0;
  double bytes_moved = 0;  // by permuting
  double seconds = 0;      // by the rates
};

/// All axes of an op, but those that are summed first, as its views have them. Needs an op that passed `check`.
AxisList axes_of(const Contract& op);
/// The best plan by `wanted`. Needs extents of 1 at least. `unsupported` for cutensor on a backend that cannot have it,
/// and when the engine that is asked for would take more scratch memory than the backend gives. Whether cuTENSOR is
/// there, only a worker knows.
Result<ContractionPlan> plan_contraction(const AxisList& axes, DType dtype, TensorEngine wanted,
                                         const ContractionRates& rates);

/// An operand that is packed: its axes from the outermost, with its strides, and without those of extent 1.
enum class Packed : std::uint8_t { a, b, c };
AxisList packed_axes(const ContractionPlan& plan, Packed operand);
inline std::int64_t stride_in(const ContractionAxis& axis, Packed operand) noexcept {
  return operand == Packed::a ? axis.a : operand == Packed::b ? axis.b : axis.c;
}
/// Whether an operand has the axis.
bool has_axis(const ContractionAxis& axis, Packed operand) noexcept;
/// Whether an operand's axes lie one inside the other: strides are positive, and each is as long as all that the
/// smaller ones reach.
bool is_nested(const AxisList& axes, Packed operand) noexcept;
/// The same axes with the operand contiguous, from the longest of its strides to the shortest.
AxisList made_dense(const AxisList& axes, Packed operand) noexcept;

}  // namespace troupe::inline v0::op
