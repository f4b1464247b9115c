#if TROUPE_CUDA_BACKEND

// Scans and reductions, of rows and of segments.
#include <algorithm>

#include "troupe/backend/cuda/primitives/primitives_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"

namespace troupe::cuda {
namespace {

constexpr std::int64_t kWarpRow = 2048;         // the longest row that a warp takes alone
constexpr std::int64_t kLeastChunk = 16 << 10;  // of a row that several blocks take
constexpr std::int64_t kManyBlocks = 2048;
constexpr std::int64_t kMostWarpBlocks = 1 << 16;

Result<ScanArguments> scan_arguments(const GpuRows& x, const GpuRows& y, bool exclusive, PrimitivesScratch& scratch) {
  const std::int64_t tile = scan_tile(static_cast<std::size_t>(y.element_size()));
  const std::int64_t row_tiles = divided_up(x.length, tile);
  const std::int64_t tiles = x.rows * row_tiles;
  const std::int64_t words = y.element_size() == 8 ? 1 + 3 * tiles : 1 + tiles;
  return ScanArguments{.x = x.data(),
                       .y = y.data(),
                       .heads = nullptr,
                       .finding = nullptr,
                       .tiles = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(words, 1 + tiles)),
                       .x_stride = x.stride,
                       .y_stride = y.stride,
                       .length = x.length,
                       .row_tiles = row_tiles,
                       .all_tiles = tiles,
                       .exclusive = exclusive};
}

/// A flag for each element with which a segment begins.
Result<const unsigned char*> heads_of(const GpuRows& offsets, std::int64_t length, const FirstFinding* finding,
                                      PrimitivesScratch& scratch) {
  auto* const heads = TROUPE_TRY(scratch.array_of_zeros<unsigned char>(length, length));
  TROUPE_TRY(scratch.threads(SelectKernel::mark_segments, {}, offsets.length,
                             SegmentArguments{.offsets = offsets.data(),
                                              .positions = nullptr,
                                              .out = heads,
                                              .finding = finding,
                                              .offsets_count = offsets.length,
                                              .length = length,
                                              .wide = is_wide(offsets),
                                              .wide_positions = false}));
  return heads;
}

RowReduceArguments reduce_arguments(const GpuRows& x, const GpuRows& y) {
  return {.x = x.data(),
          .y = y.data(),
          .offsets = nullptr,
          .finding = nullptr,
          .partials = nullptr,
          .finished = nullptr,
          .x_stride = x.stride,
          .length = x.length,
          .rows = y.count(),
          .chunk = std::max<std::int64_t>(x.length, 1),
          .chunks = 1,
          .by_warps = true,
          .wide = is_wide(y),
          .order = {}};
}

/// How rows are shared out that have `average` elements, and `most` at most.
Result<void> launch_reduce(RowReduceKernel kernel, KernelTypes types, RowReduceArguments arguments,
                           std::int64_t average, std::int64_t most, PrimitivesScratch& scratch) {
  if (arguments.rows == 0) return {};
  if (average <= kWarpRow) {
    const std::int64_t blocks = std::min(divided_up(arguments.rows, kPrimitivesWarps), kMostWarpBlocks);
    return scratch.blocks(kernel, types, blocks, arguments);
  }
  const std::int64_t wanted = std::max<std::int64_t>(kManyBlocks / arguments.rows, 1);
  arguments.by_warps = false;
  arguments.chunk = std::max(divided_up(most, wanted), kLeastChunk);
  arguments.chunks = divided_up(most, arguments.chunk);
  if (arguments.chunks > 1) {
    arguments.partials = TROUPE_TRY(scratch.array<Bytes16>(arguments.rows * arguments.chunks));
    arguments.finished = TROUPE_TRY(scratch.array_of_zeros<unsigned>(arguments.rows, arguments.rows));
  }
  return scratch.blocks(kernel, types, arguments.rows * arguments.chunks, arguments);
}

// The kernels are named in the order of the functions.
static_assert(static_cast<int>(ScanKernel::scan_bit_xor) == static_cast<int>(Combine::bit_xor));
static_assert(static_cast<int>(SegmentedKernel::scan_segments_bit_xor) == static_cast<int>(Combine::bit_xor));
static_assert(static_cast<int>(RowReduceKernel::reduce_bit_xor) == static_cast<int>(Combine::bit_xor));

}  // namespace

Result<void> sum_before(const GpuRows& counts, PrimitivesScratch& scratch) {
  const ScanArguments arguments = TROUPE_TRY(scan_arguments(counts, counts, true, scratch));
  return scratch.blocks(ScanKernel::scan_sum, of_size(counts), arguments.all_tiles, arguments);
}

Result<void> run_op(const op::PrimitivesScan& op, const LaneTools& on) {
  if (op::element_count(op.y) == 0) return {};
  PrimitivesScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.rows_as(op.x, op.y.dtype));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y));
  const ScanArguments arguments = TROUPE_TRY(scan_arguments(x, y, op.exclusive, scratch));
  const CombineBy by = combine_by(op.function, op.y.dtype);
  TROUPE_TRY(scratch.blocks(static_cast<ScanKernel>(by.function), by.types, arguments.all_tiles, arguments));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesSegmentedScan& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  const GpuRows offsets = TROUPE_TRY(scratch.flat(op.offsets));
  const FirstFinding* const finding = TROUPE_TRY(scratch.check_offsets(offsets, op.x.shape[0], op.verdict));
  if (op::element_count(op.y) == 0) return {};
  const GpuRows x = TROUPE_TRY(scratch.rows_as(op.x, op.y.dtype));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y, true));
  ScanArguments arguments = TROUPE_TRY(scan_arguments(x, y, op.exclusive, scratch));
  arguments.heads = TROUPE_TRY(heads_of(offsets, x.length, finding, scratch));
  arguments.finding = finding;
  const CombineBy by = combine_by(op.function, op.y.dtype);
  TROUPE_TRY(scratch.blocks(static_cast<SegmentedKernel>(by.function), by.types, arguments.all_tiles, arguments));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesReduce& op, const LaneTools& on) {
  if (op::element_count(op.y) == 0) return {};
  PrimitivesScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.rows_as(op.x, op.y.dtype));
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y));
  const CombineBy by = combine_by(op.function, op.y.dtype);
  TROUPE_TRY(launch_reduce(static_cast<RowReduceKernel>(by.function), by.types, reduce_arguments(x, y), x.length,
                           x.length, scratch));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesSegmentedReduce& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  const GpuRows offsets = TROUPE_TRY(scratch.flat(op.offsets));
  const FirstFinding* const finding = TROUPE_TRY(scratch.check_offsets(offsets, op.x.shape[0], op.verdict));
  if (op::element_count(op.y) == 0) return {};
  const GpuRows x = TROUPE_TRY(scratch.rows_as(op.x, op.y.dtype));
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y, true));
  RowReduceArguments arguments = reduce_arguments(x, y);
  arguments.offsets = offsets.data();
  arguments.finding = finding;
  arguments.wide = is_wide(offsets);
  const CombineBy by = combine_by(op.function, op.y.dtype);
  TROUPE_TRY(launch_reduce(static_cast<RowReduceKernel>(by.function), by.types, arguments, x.length / y.count(),
                           x.length, scratch));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesArgReduce& op, const LaneTools& on) {
  if (op::element_count(op.indices) == 0) return {};
  PrimitivesScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.rows(op.x));
  const GpuTarget indices = TROUPE_TRY(scratch.target_flat(op.indices));
  RowReduceArguments arguments = reduce_arguments(x, indices);
  arguments.order = key_order(op.x.dtype, op.greatest);
  TROUPE_TRY(launch_reduce(RowReduceKernel::arg_reduce, of_size(x), arguments, x.length, x.length, scratch));
  return scratch.finish(indices);
}

}  // namespace troupe::cuda

#endif
