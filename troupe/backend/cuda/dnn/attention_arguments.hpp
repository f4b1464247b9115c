// What the kernels of attention are called with. Plain types, of the same size for the worker and the GPU. Arrays are
// [batch, heads, tokens, width] with any strides, in elements.
#pragma once

#include "troupe/backend/cuda/dnn/dnn_training_arguments.hpp"

namespace troupe::cuda {

struct HeadsArray {
  void* data;
  long long strides[4];  // of batch, heads, tokens, width
};

/// Which keys a query sees, and what is done with scores.
struct AttentionRules {
  double scale;
  long long window;
  bool causal;
  bool ends_together;
  bool is_packed;
  bool wide;  // lengths and offsets are i64
  bool mask_is_bool;
  HeadsArray mask;      // null where there is none
  const void* lengths;  // side by side, as offsets; null where there are none
  const void* query_offsets;
  const void* key_offsets;
  unsigned long long seed;
  unsigned long long position;
  unsigned long long of_2_64;  // the probability of leaving a key out; 0: none is
  double kept_scale;           // 1 / (1 - probability)
  unsigned stream;
};

struct AttentionArguments {
  AttentionRules rules;
  HeadsArray q;
  HeadsArray k;
  HeadsArray v;
  HeadsArray y;   // forward: the result
  HeadsArray dy;  // backward, as those below
  HeadsArray dq;
  HeadsArray dk;
  HeadsArray dv;
  void* sums;         // [batch, heads, queries] side by side, of the type that is computed in; null where not wanted
  void* products;     // backward: the same of dy y
  const void* table;  // of a cache, side by side: k and v are [blocks, heads, tokens of a block, width]
  const DnnFirstFinding* findings[2];
  long long sequences;
  long long heads;
  long long key_heads;
  long long queries;  // of the arrays
  long long keys;
  long long width;
  long long value_width;
  long long row_blocks;  // of a head of keys
  long long table_blocks;
  long long block_tokens;
};

inline constexpr int kAttentionThreads = 128;
inline constexpr int kAttentionWarps = kAttentionThreads / 32;
inline constexpr int kWidestHead = 256;
/// Rows of a block forward, and tokens of a tile, by the size of a number; backward each warp has one row.
constexpr int attention_rows(std::size_t size_bytes) { return static_cast<int>(32 / size_bytes); }
constexpr int attention_tile(std::size_t size_bytes) { return static_cast<int>(128 / size_bytes); }
constexpr int gradient_tile(std::size_t size_bytes) { return size_bytes == 8 ? 8 : 32; }

struct CheckSequencesArguments {
  const void* data;               // offsets, or a table of blocks
  const void* lengths;            // of a cache
  const DnnFirstFinding* before;  // with a finding there nothing is looked at; or null
  DnnFirstFinding* finding;
  long long count;
  long long bound;  // tokens, or blocks of the cache
  long long table_blocks;
  long long block_tokens;
  long long more;  // tokens that are appended
  bool wide;
};

struct AppendTokensArguments {
  HeadsArray from;   // [batch, heads, tokens, width]
  HeadsArray cache;  // [blocks, heads, tokens of a block, width]
  const void* table;
  const void* lengths;
  const DnnFirstFinding* findings[2];
  long long count;
  long long heads;
  long long tokens;
  long long width;
  long long table_blocks;
  long long block_tokens;
  bool wide;
};

struct RotaryArguments {
  const void* x;
  void* y;
  const void* positions;  // of rows, side by side; or null
  long long x_stride;
  long long y_stride;
  long long rows;
  long long tokens;
  long long width;
  long long first;
  double base;
  bool interleaved;
  bool backward;
  bool wide;
};

}  // namespace troupe::cuda
