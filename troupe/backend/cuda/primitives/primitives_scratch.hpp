// Operands of the primitives as kernels take them: rows whose elements lie side by side, the same distance apart.
// Arrays that lie so are used in place; the others are copied to scratch memory, and results back from it. Also
// launches the kernels by their names, and finds what is wrong with elements.
#pragma once

#include <deque>
#include <optional>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/primitives/primitives_arguments.hpp"
#include "troupe/backend/cuda/primitives/primitives_kernels.hpp"
#include "troupe/op/primitives.hpp"
#include "troupe/op/primitives_finding.hpp"

namespace troupe::cuda {

struct GpuRows {
  CUdeviceptr at = 0;
  DType dtype = DType::u8;
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;

  std::int64_t count() const noexcept { return rows * length; }
  std::int64_t element_size() const noexcept { return size_bytes(dtype); }
  template <class T = void>
  T* data() const noexcept {
    return reinterpret_cast<T*>(at);
  }
};

/// Rows to write. Those in scratch memory are copied back at the end.
struct GpuTarget : GpuRows {
  const op::View* back = nullptr;
};

/// For the length of one op on one lane.
class PrimitivesScratch {
 public:
  explicit PrimitivesScratch(const LaneTools& on) noexcept : on_(on) {}

  const LaneTools& on() const noexcept { return on_; }
  /// Freed, in the stream's order, when this object is destroyed.
  Result<CUdeviceptr> memory(std::int64_t size_bytes);
  template <class T>
  Result<T*> array(std::int64_t count) {
    return reinterpret_cast<T*>(TROUPE_TRY(memory(count * static_cast<std::int64_t>(sizeof(T)))));
  }
  /// The first `zeros` of them are 0.
  template <class T>
  Result<T*> array_of_zeros(std::int64_t count, std::int64_t zeros) {
    T* const made = TROUPE_TRY(array<T>(count));
    TROUPE_TRY(fill_bytes(made, 0, zeros * static_cast<std::int64_t>(sizeof(T))));
    return made;
  }
  Result<void> fill_bytes(void* at, unsigned char byte, std::int64_t count) const;
  /// Rows of scratch memory.
  Result<GpuRows> made(DType dtype, std::int64_t rows, std::int64_t length);

  /// Of a view with one axis or more, along its last one.
  Result<GpuRows> rows(const op::View& view);
  /// All elements in row-major order as one row.
  Result<GpuRows> flat(const op::View& view);
  /// Converted to a type.
  Result<GpuRows> rows_as(const op::View& view, DType dtype);
  /// Those that must keep elements which the op does not write begin with what is there.
  Result<GpuTarget> target_rows(const op::View& view, bool keeps = false);
  Result<GpuTarget> target_flat(const op::View& view, bool keeps = false);
  Result<void> finish(const GpuTarget& target) const;

  /// A kernel with a thread for each of `count`, or with so many blocks.
  template <KernelNames Names, class Arguments>
  Result<void> threads(Names kernel, KernelTypes types, std::int64_t count, Arguments arguments) const {
    std::array<void*, 1> all{&arguments};
    return on_.launch(TROUPE_TRY(on_.kernel(kernel, types)), count, all);
  }
  template <KernelNames Names, class Arguments>
  Result<void> blocks(Names kernel, KernelTypes types, std::int64_t count, Arguments arguments,
                      unsigned threads = kPrimitivesThreads) const {
    return on_.launch_blocks(TROUPE_TRY(on_.kernel(kernel, types)), count, threads, &arguments);
  }

  /// A place for the first finding, which is none yet, and a verdict of zeros.
  Result<FirstFinding*> no_finding(const op::View& verdict);
  /// Whether offsets ascend from 0 to `length`: told by the verdict and by what is returned.
  Result<FirstFinding*> check_offsets(const GpuRows& offsets, std::int64_t length, const op::View& verdict);

 private:
  Result<GpuRows> packed(const op::View& view, std::int64_t rows, std::int64_t length, bool reads);
  Result<GpuTarget> target(const op::View& view, const std::optional<GpuRows>& there, std::int64_t rows, bool keeps);

  const LaneTools& on_;
  std::deque<StreamScratch> held_;
};

KeyOrder key_order(DType dtype, bool descends) noexcept;

/// Which kernels do a function of elements of a type: those of the same name, and for bool those whose neutral element
/// is 0 or 1, too.
struct CombineBy {
  Combine function;
  KernelTypes types;
};
CombineBy combine_by(Combine function, DType dtype) noexcept;

inline KernelTypes of_size(const GpuRows& rows) noexcept { return KernelTypes::of_size(rows.element_size()); }
inline bool is_wide(const GpuRows& indices) noexcept { return indices.dtype == DType::i64; }
constexpr std::int64_t divided_up(std::int64_t count, std::int64_t by) noexcept { return (count + by - 1) / by; }

/// What a sort is of. Keys or values that are not wanted are at 0; values that come from 0 are positions.
struct GpuSort {
  KeyOrder order{};
  int passes = 0;      // as many digits of keys, from the lowest, as are not the same in all of them
  int value_size = 0;  // 0, 4 or 8 bytes
  GpuRows keys;
  GpuRows sorted;
  GpuRows values;
  GpuRows moved;
};
Result<void> sort_rows(GpuSort sort, PrimitivesScratch& scratch);

/// All of x's rows put into y's, by positions or, when these are at 0, as they are; only if there is no finding.
Result<void> arrange_rows(const GpuRows& x, const GpuRows& positions, const GpuRows& y, const FirstFinding* finding,
                          const PrimitivesScratch& scratch);
/// The sums of what is before each element, in place.
Result<void> sum_before(const GpuRows& counts, PrimitivesScratch& scratch);

}  // namespace troupe::cuda
