#if TROUPE_CUDA_BACKEND

// Sorts, of rows and of segments, and the k first of rows.
#include <algorithm>
#include <utility>

#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"

namespace troupe::cuda {
namespace {

constexpr std::int64_t kMostShort = std::int64_t{1} << 32;        // positions that have room in 4 bytes
constexpr std::int64_t kMostShortStates = std::int64_t{1} << 30;  // counts beside which a state has room in 4 bytes
constexpr std::int64_t kFewRows = 32;                             // that do not fill a GPU with a block each
constexpr std::int64_t kLongRow = 1 << 18;

constexpr std::int64_t kCountBlocks = 2048;
constexpr std::int64_t kLeastCountChunk = 16 << 10;

constexpr std::int64_t kBestBlocks = 1024;  // that fill a GPU with parts of rows
constexpr std::int64_t kLeastBestPart = 16 << 10;
constexpr std::int64_t kLeastBestOfPart = 8;  // times k
constexpr std::int64_t kMostBestPart = 1 << 30;
constexpr std::int64_t kAligned = 16;  // elements: so that parts of a row begin where pieces of 16 bytes do

SortKernel pass_kernel(int value_size) {
  if (value_size == 0) return SortKernel::sort_keys;
  return value_size == 4 ? SortKernel::sort_with_4_bytes : SortKernel::sort_with_8_bytes;
}

Result<GpuRows> copied(const GpuRows& from, PrimitivesScratch& scratch) {
  const GpuRows copy = TROUPE_TRY(scratch.made(from.dtype, from.rows, from.length));
  TROUPE_TRY(arrange_rows(from, {}, copy, nullptr, scratch));
  return copy;
}

/// Where the results of passes go in turn, so that the last ones go where they are wanted.
class InTurn {
 public:
  static Result<InTurn> make(const GpuRows& like, const GpuRows& wanted, int passes, PrimitivesScratch& scratch) {
    InTurn made(wanted, passes);
    if (passes > 1) made.odd_ = TROUPE_TRY(scratch.made(like.dtype, like.rows, like.length));
    made.even_ = wanted;
    // Where larger elements are wanted there is room for these.
    made.even_.stride *= wanted.element_size() / like.element_size();
    made.even_.dtype = like.dtype;
    if (passes > 2 && wanted.at == 0) made.even_ = TROUPE_TRY(scratch.made(like.dtype, like.rows, like.length));
    return made;
  }
  const GpuRows& after(int pass) const noexcept {
    const int left = passes_ - 1 - pass;
    return left == 0 ? wanted_ : left % 2 == 1 ? odd_ : even_;
  }

 private:
  InTurn(const GpuRows& wanted, int passes) noexcept : wanted_(wanted), passes_(passes) {}

  GpuRows wanted_;
  GpuRows odd_;
  GpuRows even_;
  int passes_;
};

Result<const unsigned long long*> count_digits(const GpuSort& sort, PrimitivesScratch& scratch) {
  const std::int64_t rows = sort.keys.rows;
  const std::int64_t counts = rows * sort.passes * kDigits;
  auto* const starts = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(counts + rows, counts + rows));
  // Few blocks, since each adds all of its counts to the same ones.
  const std::int64_t wanted = std::max<std::int64_t>(kCountBlocks / rows, 1);
  const std::int64_t even = std::max(divided_up(sort.keys.length, wanted), kLeastCountChunk);
  const std::int64_t chunk = divided_up(even, kAligned) * kAligned;
  const std::int64_t row_chunks = divided_up(sort.keys.length, chunk);
  TROUPE_TRY(scratch.blocks(SortKernel::count_digits, of_size(sort.keys), rows * row_chunks,
                            SortCountArguments{.keys = sort.keys.data(),
                                               .starts = starts,
                                               .finished = reinterpret_cast<unsigned*>(starts + counts),
                                               .keys_stride = sort.keys.stride,
                                               .length = sort.keys.length,
                                               .chunk = chunk,
                                               .row_chunks = row_chunks,
                                               .passes = sort.passes,
                                               .order = sort.order}));
  return starts;
}

/// Rows that have room in a block.
Result<void> sort_short_rows(const GpuSort& sort, const PrimitivesScratch& scratch) {
  return scratch.blocks(SortKernel::sort_short, of_size(sort.keys), sort.keys.rows,
                        ShortSortArguments{.keys = sort.keys.data(),
                                           .sorted = sort.sorted.data(),
                                           .values = sort.values.data(),
                                           .moved = sort.moved.data(),
                                           .keys_stride = sort.keys.stride,
                                           .sorted_stride = sort.sorted.stride,
                                           .values_stride = sort.values.stride,
                                           .moved_stride = sort.moved.stride,
                                           .length = sort.keys.length,
                                           .order = sort.order,
                                           .passes = sort.passes,
                                           .wide = sort.value_size == 8});
}

}  // namespace

Result<void> sort_rows(GpuSort sort, PrimitivesScratch& scratch) {
  if (sort.keys.count() == 0) return {};
  if (sort.keys.length <= short_sort_tile(static_cast<std::size_t>(sort.keys.element_size())))
    return sort_short_rows(sort, scratch);
  // An odd number of passes would write what it still reads.
  if (sort.passes % 2 == 1 && sort.keys.at == sort.sorted.at) sort.keys = TROUPE_TRY(copied(sort.keys, scratch));
  if (sort.passes % 2 == 1 && sort.value_size > 0 && sort.values.at == sort.moved.at)
    sort.values = TROUPE_TRY(copied(sort.values, scratch));

  // Positions that have room in 4 bytes become wider in the last pass.
  const bool widens = sort.value_size == 8 && sort.values.at == 0 && sort.keys.length <= kMostShort;
  if (widens) sort.value_size = 4;
  const bool has_long = sort.keys.element_size() == 8 || sort.value_size == 8;
  const std::int64_t row_tiles = divided_up(sort.keys.length, sort_tile(has_long ? 8 : 4));
  const std::int64_t tiles = sort.keys.rows * row_tiles;
  const bool is_wide = sort.keys.length >= kMostShortStates;
  constexpr std::int64_t kCounterBytes = 16;  // before the states
  const std::int64_t state_bytes = row_tiles == 1 ? 0 : kCounterBytes + tiles * kDigits * (is_wide ? 8 : 4);
  const unsigned long long* const starts = row_tiles == 1 ? nullptr : TROUPE_TRY(count_digits(sort, scratch));
  auto* const states = row_tiles == 1 ? nullptr : TROUPE_TRY(scratch.array<std::byte>(state_bytes));
  const InTurn keys = TROUPE_TRY(InTurn::make(sort.keys, sort.sorted, sort.passes, scratch));
  GpuRows like = sort.keys;
  like.dtype = sort.value_size == 8 ? DType::u64 : DType::u32;
  const InTurn values = TROUPE_TRY(InTurn::make(like, sort.moved, sort.value_size == 0 ? 0 : sort.passes, scratch));

  for (int pass = 0; pass < sort.passes; ++pass) {
    TROUPE_TRY(scratch.fill_bytes(states, 0, state_bytes));
    const GpuRows& to = keys.after(pass);
    const GpuRows& values_to = values.after(pass);
    TROUPE_TRY(scratch.blocks(pass_kernel(sort.value_size), of_size(sort.keys), tiles,
                              SortPassArguments{.keys = sort.keys.data(),
                                                .sorted = to.data(),
                                                .values = sort.values.data(),
                                                .moved = values_to.data(),
                                                .starts = starts == nullptr ? nullptr : starts + pass * kDigits,
                                                .states = states == nullptr ? nullptr : states + kCounterBytes,
                                                .next_tile = reinterpret_cast<unsigned*>(states),
                                                .keys_stride = sort.keys.stride,
                                                .sorted_stride = to.stride,
                                                .values_stride = sort.values.stride,
                                                .moved_stride = values_to.stride,
                                                .starts_stride = std::int64_t{sort.passes} * kDigits,
                                                .length = sort.keys.length,
                                                .row_tiles = row_tiles,
                                                .order = sort.order,
                                                .shift = 8 * pass,
                                                .wide = is_wide,
                                                .widens = widens && pass == sort.passes - 1},
                              kSortThreads));
    sort.keys = to;
    sort.values = values_to;
  }
  return {};
}

namespace {

GpuSort sort_of(const GpuRows& keys, bool descends) {
  return {.order = key_order(keys.dtype, descends),
          .passes = static_cast<int>(keys.element_size()),
          .value_size = 0,
          .keys = keys,
          .sorted = {},
          .values = {},
          .moved = {}};
}

/// The keys' positions in order, from 0 in each row; the sorted keys, too, where they are wanted.
Result<GpuRows> sorted_positions(GpuSort sort, PrimitivesScratch& scratch) {
  const GpuRows& keys = sort.keys;
  const DType type = keys.length <= kMostShort ? DType::u32 : DType::u64;
  sort.moved = TROUPE_TRY(scratch.made(type, keys.rows, keys.length));
  sort.value_size = static_cast<int>(size_bytes(type));
  TROUPE_TRY(sort_rows(sort, scratch));
  return sort.moved;
}

/// The same when y is x.
Result<void> arrange_in_place(const GpuRows& x, const GpuRows& positions, const GpuRows& y, const FirstFinding* finding,
                              PrimitivesScratch& scratch) {
  if (x.at != y.at) return arrange_rows(x, positions, y, finding, scratch);
  const GpuRows moved = TROUPE_TRY(scratch.made(x.dtype, x.rows, x.length));
  TROUPE_TRY(arrange_rows(x, positions, moved, finding, scratch));
  return arrange_rows(moved, {}, y, finding, scratch);
}

/// Positions within segments in order: sorted by keys, then by the segments they are in.
Result<GpuRows> positions_in_segments(const GpuRows& keys, bool descends, const GpuRows& offsets,
                                      const FirstFinding* finding, PrimitivesScratch& scratch) {
  const GpuRows positions = TROUPE_TRY(sorted_positions(sort_of(keys, descends), scratch));
  const std::int64_t segments = offsets.length - 1;
  if (segments <= 1) return positions;
  const bool is_wide = positions.element_size() == 8;
  const GpuRows numbers = TROUPE_TRY(scratch.made(positions.dtype, 1, keys.length));
  TROUPE_TRY(scratch.threads(SelectKernel::find_segments, {}, keys.length,
                             SegmentArguments{.offsets = offsets.data(),
                                              .positions = positions.data(),
                                              .out = numbers.data(),
                                              .finding = finding,
                                              .offsets_count = offsets.length,
                                              .length = keys.length,
                                              .wide = cuda::is_wide(offsets),
                                              .wide_positions = is_wide}));
  GpuSort sort = sort_of(numbers, false);
  while (sort.passes > 1 && (segments - 1) >> (8 * (sort.passes - 1)) == 0) --sort.passes;
  sort.value_size = static_cast<int>(positions.element_size());
  sort.values = positions;
  sort.moved = TROUPE_TRY(scratch.made(positions.dtype, 1, keys.length));
  TROUPE_TRY(sort_rows(sort, scratch));
  return sort.moved;
}

}  // namespace

Result<void> run_op(const op::PrimitivesSort& op, const LaneTools& on) {
  if (op::element_count(op.keys) == 0) return {};
  PrimitivesScratch scratch(on);
  GpuSort sort = sort_of(TROUPE_TRY(scratch.rows(op.keys)), op.order == SortOrder::descending);
  const GpuTarget sorted = TROUPE_TRY(scratch.target_rows(op.sorted));
  sort.sorted = sorted;
  if (!op.has_values) {
    TROUPE_TRY(sort_rows(sort, scratch));
    return scratch.finish(sorted);
  }
  const GpuRows values = TROUPE_TRY(scratch.rows(op.values));
  const GpuTarget moved = TROUPE_TRY(scratch.target_rows(op.moved));
  if (const std::int64_t size = values.element_size(); size == 4 || size == 8) {
    sort.value_size = static_cast<int>(size);
    sort.values = values;
    sort.moved = moved;
    TROUPE_TRY(sort_rows(sort, scratch));
  } else {
    const GpuRows positions = TROUPE_TRY(sorted_positions(sort, scratch));
    TROUPE_TRY(arrange_in_place(values, positions, moved, nullptr, scratch));
  }
  TROUPE_TRY(scratch.finish(sorted));
  return scratch.finish(moved);
}

Result<void> run_op(const op::PrimitivesArgSort& op, const LaneTools& on) {
  if (op::element_count(op.keys) == 0) return {};
  PrimitivesScratch scratch(on);
  GpuSort sort = sort_of(TROUPE_TRY(scratch.rows(op.keys)), op.order == SortOrder::descending);
  const GpuTarget indices = TROUPE_TRY(scratch.target_rows(op.indices));
  sort.value_size = static_cast<int>(indices.element_size());
  sort.moved = indices;
  TROUPE_TRY(sort_rows(sort, scratch));
  return scratch.finish(indices);
}

namespace {

/// The k best of each row in order, k not too many. Few rows are parted, and the best of parts are looked through
/// again.
Result<void> best_of_rows(GpuRows keys, const KeyOrder& order, const GpuRows& best, const GpuRows& indices,
                          PrimitivesScratch& scratch) {
  const std::int64_t k = best.length;
  GpuRows from;
  for (bool is_last = false; !is_last;) {
    const std::int64_t least = std::max(kLeastBestPart, kLeastBestOfPart * k);
    const std::int64_t wanted =
        std::clamp<std::int64_t>(kBestBlocks / keys.rows, 1, std::max<std::int64_t>(keys.length / least, 1));
    const std::int64_t parts = std::max(wanted, divided_up(keys.length, kMostBestPart));
    is_last = parts == 1;
    const GpuRows best_to = is_last ? best : TROUPE_TRY(scratch.made(keys.dtype, keys.rows, parts * k));
    const GpuRows indices_to = is_last ? indices : TROUPE_TRY(scratch.made(indices.dtype, keys.rows, parts * k));
    TROUPE_TRY(scratch.blocks(TopKKernel::find_best, of_size(keys), keys.rows * parts,
                              TopKArguments{.keys = keys.data(),
                                            .from = from.data(),
                                            .best = best_to.data(),
                                            .indices = indices_to.data(),
                                            .keys_stride = keys.stride,
                                            .best_stride = best_to.stride,
                                            .indices_stride = indices_to.stride,
                                            .length = keys.length,
                                            .part = is_last ? keys.length : keys.length / parts / kAligned * kAligned,
                                            .row_parts = parts,
                                            .k = k,
                                            .order = order,
                                            .wide = is_wide(indices)}));
    keys = best_to;
    from = indices_to;
  }
  return {};
}

/// All are sorted, and the first ones taken.
Result<void> sort_and_take(GpuSort sort, const op::PrimitivesTopK& op, PrimitivesScratch& scratch) {
  const LaneTools& on = scratch.on();
  sort.sorted = TROUPE_TRY(scratch.made(sort.keys.dtype, sort.keys.rows, sort.keys.length));
  sort.moved = TROUPE_TRY(scratch.made(op.indices.dtype, sort.keys.rows, sort.keys.length));
  TROUPE_TRY(sort_rows(sort, scratch));
  const auto take = [&](const GpuRows& from, const op::View& to) {
    const op::View first{
        .address = 0, .dtype = to.dtype, .shape = to.shape, .strides = contiguous_strides(op.keys.shape)};
    return copy_elements(first, from.at, to, on.at(to), on);
  };
  TROUPE_TRY(take(sort.sorted, op.best));
  return take(sort.moved, op.indices);
}

/// The k best are collected in the order in which they come, and sorted.
Result<void> collect_and_sort(GpuSort sort, const GpuRows& best, const GpuRows& indices, PrimitivesScratch& scratch) {
  const GpuRows keys = sort.keys;
  const std::int64_t k = best.length;
  sort.keys = TROUPE_TRY(scratch.made(keys.dtype, keys.rows, k));
  sort.values = TROUPE_TRY(scratch.made(indices.dtype, keys.rows, k));
  TROUPE_TRY(scratch.blocks(TopKKernel::collect_best, of_size(keys), keys.rows,
                            CollectArguments{.keys = keys.data(),
                                             .best = sort.keys.data(),
                                             .indices = sort.values.data(),
                                             .keys_stride = keys.stride,
                                             .length = keys.length,
                                             .k = k,
                                             .order = sort.order,
                                             .wide = is_wide(indices)}));
  sort.sorted = best;
  sort.moved = indices;
  return sort_rows(sort, scratch);
}

}  // namespace

Result<void> run_op(const op::PrimitivesTopK& op, const LaneTools& on) {
  if (op::element_count(op.best) == 0) return {};
  PrimitivesScratch scratch(on);
  GpuSort sort = sort_of(TROUPE_TRY(scratch.rows(op.keys)), op.greatest);
  sort.value_size = static_cast<int>(size_bytes(op.indices.dtype));
  const GpuRows& keys = sort.keys;
  const std::int64_t k = op.best.shape[op.best.shape.rank() - 1];
  const bool is_for_few = keys.rows < kFewRows && keys.length > kLongRow;
  if (k > kMostBest && (2 * k >= keys.length || keys.length >= kMostShort || is_for_few))
    return sort_and_take(sort, op, scratch);
  const GpuTarget best = TROUPE_TRY(scratch.target_rows(op.best));
  const GpuTarget indices = TROUPE_TRY(scratch.target_rows(op.indices));
  if (k <= kMostBest)
    TROUPE_TRY(best_of_rows(keys, sort.order, best, indices, scratch));
  else
    TROUPE_TRY(collect_and_sort(sort, best, indices, scratch));
  TROUPE_TRY(scratch.finish(best));
  return scratch.finish(indices);
}

Result<void> run_op(const op::PrimitivesSegmentedSort& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  const GpuRows offsets = TROUPE_TRY(scratch.flat(op.offsets));
  const FirstFinding* const finding = TROUPE_TRY(scratch.check_offsets(offsets, op.keys.shape[0], op.verdict));
  if (op::element_count(op.keys) == 0) return {};
  const GpuRows keys = TROUPE_TRY(scratch.flat(op.keys));
  const GpuTarget sorted = TROUPE_TRY(scratch.target_flat(op.sorted, true));
  const GpuRows positions =
      TROUPE_TRY(positions_in_segments(keys, op.order == SortOrder::descending, offsets, finding, scratch));
  TROUPE_TRY(arrange_in_place(keys, positions, sorted, finding, scratch));
  TROUPE_TRY(scratch.finish(sorted));
  if (!op.has_values) return {};
  const GpuRows values = TROUPE_TRY(scratch.flat(op.values));
  const GpuTarget moved = TROUPE_TRY(scratch.target_flat(op.moved, true));
  TROUPE_TRY(arrange_in_place(values, positions, moved, finding, scratch));
  return scratch.finish(moved);
}

}  // namespace troupe::cuda

#endif
