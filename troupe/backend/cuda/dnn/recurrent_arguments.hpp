// What the kernels of recurrent layers are called with. Plain types, of the same size for the worker and the GPU. All
// numbers are f32 or f64 and lie side by side: a row is a token of a sequence, [tokens, batch].
#pragma once

#include "troupe/backend/cuda/dnn/dnn_training_arguments.hpp"

namespace troupe::cuda {

/// Which tokens are there.
struct RecurrentLengths {
  const void* data;  // null where all of them are
  bool wide;
};

/// One step of a run, for all sequences: after the products of x and of the state with the weights.
struct RecurrentStepArguments {
  const void* in_sums;    // [rows, gates hidden]
  const void* back_sums;  // [batch, gates hidden]
  const void* b_ih;       // or null
  const void* b_hh;       // or null
  void* h;                // [batch, hidden]
  void* c;                // of an LSTM
  void* out;              // of this direction: rows that are `out_row` apart
  void* kept;             // [rows, 5 hidden], or null
  RecurrentLengths lengths;
  long long out_row;
  long long batch;
  long long hidden;
  long long token;
  bool is_lstm;
};

/// One step backward: slopes of the gates, and what goes to the step before but by the recurrent weights.
struct RecurrentSlopesArguments {
  const void* kept;  // [rows, 5 hidden]
  const void* dy;    // of this direction: rows that are `dy_row` apart
  const void* h0;    // [batch, hidden], or null
  const void* c0;    // the same of an LSTM
  void* dh;          // [batch, hidden]
  void* dc;          // of an LSTM
  void* in;          // [rows, gates hidden]
  void* back;        // the same memory for an LSTM
  void* before;      // [rows, hidden]: h before the step
  RecurrentLengths lengths;
  long long dy_row;
  long long batch;
  long long hidden;
  long long tokens;
  long long token;
  long long token_before;  // in the order of this direction; it may be outside
  bool is_lstm;
};

/// What a layer was given: x, or h of the runs before; 0 behind the end of a sequence.
struct RecurrentInputsArguments {
  const void* x;        // [rows, width], or null
  const void* kept[2];  // [rows, 5 hidden] of the runs before, one for each direction
  void* out;            // [rows, width]
  RecurrentLengths lengths;
  long long rows;
  long long batch;
  long long width;
  long long hidden;
  bool is_lstm;
};

/// The sum of all rows. A block has kRecurrentColumns columns, and a warp of it every eighth row.
struct RecurrentSumArguments {
  const void* slopes;  // [rows, columns]
  void* out;
  long long rows;
  long long columns;
};
inline constexpr int kRecurrentColumns = 32;

}  // namespace troupe::cuda
