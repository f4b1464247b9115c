// LSTM and GRU, step by step: a thread has one hidden number of one sequence. The products with weights are made
// between the launches. Nothing is summed by two blocks, and sums of rows are in one order.
#include "troupe/backend/cuda/dnn/dnn_rows.cuh"
#include "troupe/backend/cuda/dnn/recurrent_arguments.hpp"
#include "troupe/op/recurrent_functions.hpp"

namespace troupe::cuda {
namespace {

constexpr int kKeptNumbers = 5;

__device__ inline bool is_there(const RecurrentLengths& lengths, long long token, long long sequence) {
  if (lengths.data == nullptr) return true;
  const long long length = lengths.wide ? static_cast<const long long*>(lengths.data)[sequence]
                                        : static_cast<const int*>(lengths.data)[sequence];
  return token < length;
}

/// What was kept of hidden number j in a row.
template <class C>
__device__ dnn::KeptStep<C> kept_at(const void* kept, long long row, long long hidden, long long j) {
  const C* const from = static_cast<const C*>(kept) + row * kKeptNumbers * hidden + j;
  dnn::KeptStep<C> step;
#pragma unroll
  for (int i = 0; i < kKeptNumbers; ++i) step.of[i] = from[i * hidden];
  return step;
}
template <class C>
__device__ void keep(void* kept, long long row, long long hidden, long long j, const dnn::KeptStep<C>& step) {
  if (kept == nullptr) return;
  C* const to = static_cast<C*>(kept) + row * kKeptNumbers * hidden + j;
#pragma unroll
  for (int i = 0; i < kKeptNumbers; ++i) to[i * hidden] = step.of[i];
}
/// An element, or 0 where there is no array.
template <class C>
__device__ C element_or_0(const void* array, long long at) {
  return array == nullptr ? C(0) : static_cast<const C*>(array)[at];
}

template <class C>
__device__ void recurrent_step(const RecurrentStepArguments& a) {
  const int gates = a.is_lstm ? 4 : 3;
  for (long long i = first_index(); i < a.batch * a.hidden; i += index_step()) {
    const long long sequence = i / a.hidden, j = i % a.hidden, row = a.token * a.batch + sequence;
    C* const out = static_cast<C*>(a.out) + row * a.out_row + j;
    if (!is_there(a.lengths, a.token, sequence)) {
      *out = C(0);
      keep(a.kept, row, a.hidden, j, dnn::KeptStep<C>{});
      continue;
    }
    const C* const in_sums = static_cast<const C*>(a.in_sums) + row * gates * a.hidden + j;
    const C* const back_sums = static_cast<const C*>(a.back_sums) + sequence * gates * a.hidden + j;
    C in[4] = {}, back[4] = {};
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) {
      if (gate >= gates) break;
      in[gate] = in_sums[gate * a.hidden] + element_or_0<C>(a.b_ih, gate * a.hidden + j);
      back[gate] = back_sums[gate * a.hidden] + element_or_0<C>(a.b_hh, gate * a.hidden + j);
    }
    C* const h = static_cast<C*>(a.h) + i;
    C* const c = static_cast<C*>(a.c) + i;
    const dnn::KeptStep<C> kept = a.is_lstm ? dnn::lstm_step(in, back, *c) : dnn::gru_step(in, back, *h);
    if (a.is_lstm) *c = kept.of[4];
    *h = *out = dnn::hidden_of(a.is_lstm, kept);
    keep(a.kept, row, a.hidden, j, kept);
  }
}

template <class C>
__device__ void recurrent_slopes(const RecurrentSlopesArguments& a) {
  const int gates = a.is_lstm ? 4 : 3;
  for (long long i = first_index(); i < a.batch * a.hidden; i += index_step()) {
    const long long sequence = i / a.hidden, j = i % a.hidden, row = a.token * a.batch + sequence;
    C* const in = static_cast<C*>(a.in) + row * gates * a.hidden + j;
    C* const back = static_cast<C*>(a.back) + row * gates * a.hidden + j;
    C* const before = static_cast<C*>(a.before) + row * a.hidden + j;
    if (!is_there(a.lengths, a.token, sequence)) {
      for (int gate = 0; gate < gates; ++gate) in[gate * a.hidden] = back[gate * a.hidden] = C(0);
      *before = C(0);
      continue;
    }
    const bool is_first =
        a.token_before < 0 || a.token_before >= a.tokens || !is_there(a.lengths, a.token_before, sequence);
    C h, c;
    if (is_first) {
      h = element_or_0<C>(a.h0, i);
      c = element_or_0<C>(a.c0, i);
    } else {
      const dnn::KeptStep<C> last = kept_at<C>(a.kept, a.token_before * a.batch + sequence, a.hidden, j);
      h = dnn::hidden_of(a.is_lstm, last);
      c = last.of[4];
    }
    const dnn::KeptStep<C> kept = kept_at<C>(a.kept, row, a.hidden, j);
    C* const dh = static_cast<C*>(a.dh) + i;
    C* const dc = static_cast<C*>(a.dc) + i;
    const C slope = static_cast<const C*>(a.dy)[row * a.dy_row + j] + *dh;
    const dnn::StepSlopes<C> slopes =
        a.is_lstm ? dnn::lstm_slopes(kept, c, slope, *dc) : dnn::gru_slopes(kept, h, slope);
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) {
      if (gate >= gates) break;
      in[gate * a.hidden] = slopes.in[gate];
      back[gate * a.hidden] = slopes.back[gate];
    }
    *before = h;
    *dh = slopes.h;
    if (a.is_lstm) *dc = slopes.c;
  }
}

template <class C>
__device__ void recurrent_inputs(const RecurrentInputsArguments& a) {
  for (long long i = first_index(); i < a.rows * a.width; i += index_step()) {
    const long long row = i / a.width, column = i % a.width;
    const void* const kept = column < a.hidden ? a.kept[0] : a.kept[1];
    C made = 0;
    if (is_there(a.lengths, row / a.batch, row % a.batch))
      made = a.x != nullptr ? static_cast<const C*>(a.x)[i]
                            : dnn::hidden_of(a.is_lstm, kept_at<C>(kept, row, a.hidden, column % a.hidden));
    static_cast<C*>(a.out)[i] = made;
  }
}

template <class C>
__device__ void recurrent_sum(const RecurrentSumArguments& a) {
  constexpr int kWarps = kDnnThreads / 32;
  __shared__ C parts[kWarps][kRecurrentColumns];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const long long column = static_cast<long long>(blockIdx.x) * kRecurrentColumns + lane;
  C sum = 0;
  if (column < a.columns)
    for (long long row = warp; row < a.rows; row += kWarps)
      sum += static_cast<const C*>(a.slopes)[row * a.columns + column];
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= a.columns) return;
  for (int i = 1; i < kWarps; ++i) sum += parts[i][lane];
  static_cast<C*>(a.out)[column] = sum;
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_THREADS extern "C" __global__ void __launch_bounds__(kDnnThreads)
#define TROUPE_DNN_RECURRENT(dtype, C)                                                                                 \
  TROUPE_DNN_THREADS troupe_dnn_recurrent_step_##dtype(const RecurrentStepArguments a) { recurrent_step<C>(a); }       \
  TROUPE_DNN_THREADS troupe_dnn_recurrent_slopes_##dtype(const RecurrentSlopesArguments a) { recurrent_slopes<C>(a); } \
  TROUPE_DNN_THREADS troupe_dnn_recurrent_inputs_##dtype(const RecurrentInputsArguments a) { recurrent_inputs<C>(a); } \
  TROUPE_DNN_THREADS troupe_dnn_recurrent_sum_##dtype(const RecurrentSumArguments a) { recurrent_sum<C>(a); }
TROUPE_DNN_RECURRENT(f32, float)
TROUPE_DNN_RECURRENT(f64, double)
