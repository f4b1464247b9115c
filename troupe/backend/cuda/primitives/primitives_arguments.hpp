// What the kernels of the primitives family are called with. Plain types, of the same size for the worker and the GPU.
// Elements of a row lie side by side, rows a stride apart, in elements. Indices are i32, or i64 when they are `wide`.
#pragma once

#include <cstddef>

namespace troupe::cuda {

/// The threads of a block in all kernels that work by blocks: one for each value of a digit, too.
inline constexpr int kPrimitivesThreads = 256;
inline constexpr int kPrimitivesWarps = kPrimitivesThreads / 32;
inline constexpr int kDigits = 256;

/// The first finding, the least of place * kFaults + fault; all ones when there is none. Null where nothing can be
/// wrong.
using FirstFinding = unsigned long long;
inline constexpr FirstFinding kNoFinding = ~FirstFinding{0};
inline constexpr FirstFinding kFaults = 16;

/// How the bits of keys become ranks: a `primitives::Ranking` of any size, and the direction.
struct KeyOrder {
  unsigned long long sign;
  unsigned long long infinity;
  bool is_floating;
  bool descends;
};

/// Elements that a thread has of a tile, by their size: as many as are 128 bytes, but 32 at most. A warp looks at the
/// tiles before its own, 32 at a time; in the time that takes, the GPU must not write more than 32 of them.
constexpr int scan_items(std::size_t size_bytes) { return size_bytes == 8 ? 16 : 32; }
constexpr int scan_tile(std::size_t size_bytes) { return scan_items(size_bytes) * kPrimitivesThreads; }

/// `tiles` holds a counter, then a word for each tile, all 0 at first, then two values of 8 bytes for each.
struct ScanArguments {
  const void* x;
  void* y;
  const unsigned char* heads;  // where segments begin; null for rows
  const FirstFinding* finding;
  unsigned long long* tiles;
  long long x_stride;
  long long y_stride;
  long long length;
  long long row_tiles;
  long long all_tiles;
  bool exclusive;
};

/// Rows, or segments when there are offsets. A warp for each row, or `chunks` blocks for each row.
struct RowReduceArguments {
  const void* x;
  void* y;
  const void* offsets;
  const FirstFinding* finding;
  void* partials;          // 16 bytes for each chunk
  unsigned int* finished;  // for each row, 0 at first
  long long x_stride;
  long long length;
  long long rows;
  long long chunk;
  long long chunks;
  bool by_warps;
  bool wide;  // offsets, or the resulting indices
  KeyOrder order;
};

/// One pass of a sort by one digit. `starts` says how many keys of a row have which digit. Where each row is one tile,
/// there are no starts and no states.
struct SortPassArguments {
  const void* keys;
  void* sorted;        // null when only values are wanted
  const void* values;  // null for positions
  void* moved;
  const unsigned long long* starts;
  void* states;
  unsigned int* next_tile;
  long long keys_stride;
  long long sorted_stride;
  long long values_stride;
  long long moved_stride;
  long long starts_stride;
  long long length;
  long long row_tiles;
  KeyOrder order;
  int shift;
  bool wide;    // states have 64 bits
  bool widens;  // values of 4 bytes become such of 8
};
struct SortCountArguments {
  const void* keys;
  unsigned long long* starts;
  unsigned int* finished;  // for each row, 0 at first
  long long keys_stride;
  long long length;
  long long chunk;
  long long row_chunks;
  int passes;
  KeyOrder order;
};
/// The threads of a pass, and the elements of each, by the size of the larger of key and value.
inline constexpr int kSortThreads = 384;
constexpr int sort_items(std::size_t size_bytes) { return size_bytes == 8 ? 14 : 20; }
constexpr int sort_tile(std::size_t size_bytes) { return sort_items(size_bytes) * kSortThreads; }

/// All passes of rows that have room in a block.
struct ShortSortArguments {
  const void* keys;
  void* sorted;        // null when only values are wanted
  const void* values;  // null for positions
  void* moved;         // null when only keys are wanted
  long long keys_stride;
  long long sorted_stride;
  long long values_stride;
  long long moved_stride;
  long long length;
  KeyOrder order;
  int passes;
  bool wide;  // values have 8 bytes
};
constexpr int short_sort_items(std::size_t size_bytes) { return size_bytes == 8 ? 8 : 16; }
constexpr int short_sort_tile(std::size_t size_bytes) { return short_sort_items(size_bytes) * kPrimitivesThreads; }

/// The k first in the order of each row, in the order of their positions. One block for each row.
struct CollectArguments {
  const void* keys;
  void* best;     // rows of k side by side
  void* indices;  // the same
  long long keys_stride;
  long long length;
  long long k;
  KeyOrder order;
  bool wide;
};

/// The k first in the order of each part of a row, in that order. One block for each part.
struct TopKArguments {
  const void* keys;
  const void* from;  // indices, in rows as the keys; null for places in the row
  void* best;        // k of each part of a row side by side
  void* indices;     // the same
  long long keys_stride;
  long long best_stride;
  long long indices_stride;
  long long length;
  long long part;  // elements, k or more; the last part has the rest, too
  long long row_parts;
  long long k;
  KeyOrder order;
  bool wide;
};
/// Elements that a thread takes of a tile at once, and candidates for which there is room beside those of a tile.
constexpr int best_items(std::size_t size_bytes) { return size_bytes == 8 ? 4 : 8; }
constexpr int best_capacity(std::size_t size_bytes) { return size_bytes == 8 ? 3072 : 4096; }
inline constexpr long long kMostBest = 1024;

/// What is flagged, or where it is, or both. `tiles` holds a counter and a word for each tile, all 0 at first.
struct SelectArguments {
  const unsigned char* flags;
  const void* x;
  void* y;
  void* positions;
  void* rest;  // null when the others are not wanted
  long long* count;
  unsigned long long* tiles;
  long long length;
  long long all_tiles;
  bool wide;
};
inline constexpr int kSelectItems = 16;
inline constexpr int kSelectTile = kSelectItems * kPrimitivesThreads;

struct AppendArguments {
  const void* rest;
  void* y;
  const long long* count;
  long long length;
};
struct RunArguments {
  const void* x;
  unsigned char* flags;
  long long length;
  KeyOrder order;
};
struct RunLengthArguments {
  const long long* begins;
  void* lengths;
  const long long* count;
  long long length;
  bool wide;
};

struct SearchArguments {
  const void* sorted;
  const void* keys;
  void* places;
  long long length;
  long long keys_count;
  KeyOrder order;
  bool after_equal;
  bool wide;
};

/// Which of a's and b's keys are in the result, one flag each, a's first; then where they come, by how many are before.
struct SetArguments {
  const void* a;
  const void* b;
  void* y;
  long long* flags;
  long long* count;
  const FirstFinding* finding;
  long long a_length;
  long long b_length;
  KeyOrder order;
  int operation;
};

/// Keys, bounds or offsets that must ascend. `bound` is what the last offset must be.
struct CheckArguments {
  const void* data;
  FirstFinding* finding;
  long long length;
  long long bound;
  KeyOrder order;
  int fault;
  bool wide;
};
/// Where `data` is null, there is only a place to tell.
struct VerdictArguments {
  const FirstFinding* finding;
  int* verdict;
  const void* data;
  long long stride;
  long long length;  // of a row
  long long bound;
  bool wide;
};

/// Where segments begin, as flags; or to which segment the element at each position belongs.
struct SegmentArguments {
  const void* offsets;
  const void* positions;
  void* out;
  const FirstFinding* finding;
  long long offsets_count;
  long long length;
  bool wide;            // offsets
  bool wide_positions;  // also the numbers of segments
};

/// y[i] = x[positions[i]], or x[i] when there are none: only if there is no finding.
struct ArrangeArguments {
  const void* x;
  void* y;
  const void* positions;
  const FirstFinding* finding;
  long long x_stride;
  long long y_stride;
  long long positions_stride;
  long long length;
  long long rows;
  bool wide;
};

/// Gather: y[.., j] = x[.., indices[.., j]]. Scatter: y[.., indices[.., j]] becomes x[.., j]. `length` is that of rows
/// of indices, `bound` that of the rows which they point into.
struct IndexedArguments {
  const void* x;
  void* y;
  const void* indices;
  FirstFinding* finding;
  unsigned long long* winners;  // for each element of y; null when no two indices can be the same
  long long x_stride;
  long long y_stride;
  long long indices_stride;
  long long length;
  long long bound;
  long long rows;
  bool wide;
};

struct HistogramArguments {
  const void* x;
  const void* bounds;
  unsigned long long* counts;
  const FirstFinding* finding;
  double low;
  double high;
  long long length;
  long long bins;
};
/// With more bins the counts are only in the GPU's memory.
inline constexpr int kMostSharedBins = 8192;

struct StoreCountsArguments {
  const unsigned long long* from;
  void* counts;
  const FirstFinding* finding;
  long long length;
  bool wide;
};

}  // namespace troupe::cuda
