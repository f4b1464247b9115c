// What the kernels of softmax, losses, optimizers and lookups are called with. Plain types, of the same size for the
// worker and the GPU. Elements of a row lie side by side, rows a stride apart, in elements.
#pragma once

#include <cstddef>

#include "troupe/core/training_kinds.hpp"

namespace troupe::cuda {

/// The threads of a block in all of them.
inline constexpr int kDnnThreads = 256;
/// Rows of no more bytes have one warp each; others a block.
inline constexpr long long kWarpRowBytes = 4096;
/// Bytes that a thread reads or writes at once, and how many such groups of a row it keeps, so that a row is read once.
inline constexpr int kGroupBytes = 16;
inline constexpr int kKeptGroups = 8;

/// Of the least place at which something is wrong: place * kDnnFaults + fault; all ones when nothing is.
using DnnFirstFinding = unsigned long long;
inline constexpr DnnFirstFinding kNoDnnFinding = ~DnnFirstFinding{0};
inline constexpr DnnFirstFinding kDnnFaults = 16;

/// One or two arrays in, one out: of softmax x and y; of its gradient y, dy and dx.
struct SoftmaxArguments {
  const void* x;
  const void* dy;
  void* out;
  long long x_stride;
  long long dy_stride;
  long long out_stride;
  long long length;
  long long rows;
  bool logarithm;
};

/// Arrays side by side, `count` elements each. Where `partials` is not null, each block writes its sum there.
struct LossArguments {
  const void* x;
  const void* target;
  const void* weight;  // null where there is none
  const void* dloss;   // one element, or one for each
  void* out;           // losses or slopes
  double* partials;
  const DnnFirstFinding* finding;  // null where nothing can be wrong
  long long count;
  double delta;
  double share;  // what slopes are multiplied by
  detail::Loss function;
  bool log_target;
  bool has_each;  // dloss has one element for each
};
/// A block takes so many elements of a loss.
inline constexpr long long kLossChunk = 4096;

/// The sum of numbers, in a fixed order, divided by the sum of others or by a number.
struct SumArguments {
  const double* numbers;
  const double* shares;  // null for `divisor`
  void* out;
  const DnnFirstFinding* finding;
  long long count;
  double divisor;
};

struct EntropyArguments {
  const void* logits;
  const void* target;  // i32 or i64, one for each row; or rows of probabilities
  const void* weights;
  const void* dloss;
  void* out;                    // losses of rows, null where only `losses` are wanted; or rows of slopes
  double* losses;               // of rows; null where they are not wanted
  double* shares;               // of rows in the mean, or null
  const double* sum_of_shares;  // what slopes are divided by, or null
  const DnnFirstFinding* finding;
  long long logits_stride;
  long long target_stride;
  long long out_stride;
  long long classes;
  long long rows;
  long long ignored;
  double keep;    // 1 - smoothing
  double spread;  // smoothing / classes
  bool is_class;
  bool wide;      // classes are i64
  bool has_each;  // dloss has one element for each row
};

/// Indices side by side: those from 0 to before `bound` are well, and `ignored`.
struct DnnCheckArguments {
  const void* data;
  DnnFirstFinding* finding;
  long long count;
  long long bound;
  long long ignored;
  int fault;
  bool wide;
};
struct DnnTellArguments {
  const DnnFirstFinding* finding;
  int* verdict;
  const void* data;  // indices, or null where there is only a place
  long long bound;
  bool wide;
};

inline constexpr int kListedParameters = 24;
inline constexpr int kListedGradients = 128;
/// A block takes so many elements of one array.
inline constexpr long long kStepChunk = 4096;

struct SteppedArrays {
  const void* gradient;
  const void* kept[3];  // value and state
  void* next[3];
  void* rounded;  // the parameter, of the gradient's type, where there are masters
  long long count;
  long long first_block;
};
struct StepArguments {
  SteppedArrays arrays[kListedParameters];
  const float* measure;  // or null
  double rate;
  double first;
  double second;
  double epsilon;
  double decay;
  double first_share;
  double second_root;
  int listed;
  int states;
  detail::Optimizer rule;
  bool nesterov;
  bool is_first;
  bool has_masters;
};

struct ListedGradient {
  const void* data;
  long long count;
  long long first_block;
};
struct SquaresArguments {
  ListedGradient gradients[kListedGradients];
  double* partials;
  int listed;
};
struct MeasureArguments {
  const double* partials;
  const float* scale;  // or null
  float* measure;
  long long count;
  double most;
};
struct LossScaleArguments {
  const float* measure;
  const float* scale;
  float* next;
  double growth;
  double backoff;
  double interval;
};

/// Rows of units, as large as all rows and their places allow.
struct EmbeddingArguments {
  const void* table;
  const void* indices;
  void* y;
  const DnnFirstFinding* finding;
  long long table_stride;
  long long y_stride;
  long long width;
  long long count;
  bool wide;
};
/// Indices in ascending order, and where each was.
struct EmbeddingGradientArguments {
  const void* dy;
  const void* sorted;
  const void* places;
  void* dtable;
  const DnnFirstFinding* finding;
  long long dy_stride;
  long long dtable_stride;
  long long width;
  long long count;
  long long rows;
  long long padding;
  bool wide;
};

struct DropoutArguments {
  const void* x;
  void* y;
  unsigned long long seed;
  unsigned long long position;
  unsigned long long of_2_64;  // the probability of being left out
  unsigned stream;
  long long count;
  double scale;
};

}  // namespace troupe::cuda
