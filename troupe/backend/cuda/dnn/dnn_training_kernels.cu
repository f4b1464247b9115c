// Losses by element, sums, steps of optimizers, and lookups; and what looks at indices and probabilities before they
// are used.
#include "troupe/backend/cuda/dnn/dnn_rows.cuh"
#include "troupe/op/dnn_finding.hpp"
#include "troupe/op/random_functions.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::cuda {
namespace {

__device__ inline long long index_at(const void* indices, long long at, bool wide) {
  return wide ? static_cast<const long long*>(indices)[at] : static_cast<const int*>(indices)[at];
}
__device__ inline void note(DnnFirstFinding* finding, long long place, int fault) {
  atomicMin(finding, static_cast<DnnFirstFinding>(place) * kDnnFaults + static_cast<DnnFirstFinding>(fault));
}

// ---- what elements can say ----

template <class T>
__device__ void check_probabilities(const DnnCheckArguments& a) {
  for (long long i = first_index(); i < a.count; i += index_step())
    if (!dnn::is_probability(to_number(static_cast<const T*>(a.data)[i]))) note(a.finding, i, a.fault);
}

// ---- losses ----

template <class T>
__device__ dnn::LossNumbers<detail::ComputeType<T>> loss_numbers(const LossArguments& a) {
  return {a.function, a.log_target, static_cast<detail::ComputeType<T>>(a.delta)};
}

template <class T>
__device__ void loss(const LossArguments& a) {
  using C = detail::ComputeType<T>;
  if (has_finding(a.finding)) return;
  const auto of = loss_numbers<T>(a);
  const long long begin = blockIdx.x * kLossChunk;
  const long long end = begin + kLossChunk < a.count ? begin + kLossChunk : a.count;
  double sum = 0;
  for (long long i = begin + threadIdx.x; i < end; i += kDnnThreads) {
    C made = dnn::loss_of(of, to_number(static_cast<const T*>(a.x)[i]), to_number(static_cast<const T*>(a.target)[i]));
    if (a.weight != nullptr) made *= to_number(static_cast<const T*>(a.weight)[i]);
    if (a.partials == nullptr) static_cast<T*>(a.out)[i] = from_number<T>(made);
    sum += static_cast<double>(made);
  }
  if (a.partials == nullptr) return;
  sum = sum_of<kDnnThreads>(sum);
  if (threadIdx.x == 0) a.partials[blockIdx.x] = sum;
}

template <class T>
__device__ void loss_gradient(const LossArguments& a) {
  using C = detail::ComputeType<T>;
  if (has_finding(a.finding)) return;
  const auto of = loss_numbers<T>(a);
  for (long long i = first_index(); i < a.count; i += index_step()) {
    const C slope =
        dnn::loss_slope(of, to_number(static_cast<const T*>(a.x)[i]), to_number(static_cast<const T*>(a.target)[i]));
    C given = to_number(static_cast<const T*>(a.dloss)[a.has_each ? i : 0]) * static_cast<C>(a.share);
    if (a.weight != nullptr) given *= to_number(static_cast<const T*>(a.weight)[i]);
    static_cast<T*>(a.out)[i] = from_number<T>(slope * given);
  }
}

/// By one block.
__device__ inline double sum_in_order(const double* numbers, long long count) {
  double sum = 0;
  for (long long i = threadIdx.x; i < count; i += kDnnThreads) sum += numbers[i];
  return sum_of<kDnnThreads>(sum);
}
template <class T>
__device__ void sum_numbers(const SumArguments& a) {
  if (has_finding(a.finding)) return;
  const double sum = sum_in_order(a.numbers, a.count);
  const double divisor = a.shares != nullptr ? sum_in_order(a.shares, a.count) : a.divisor;
  if (threadIdx.x == 0) *static_cast<T*>(a.out) = from_number<T>(static_cast<detail::ComputeType<T>>(sum / divisor));
}

// ---- optimizers ----

/// The last of a list's arrays that begins at this block or before it.
template <class Listed>
__device__ int array_of_block(const Listed* arrays, int listed) {
  int found = 0;
  for (int i = 1; i < listed; ++i)
    if (arrays[i].first_block <= static_cast<long long>(blockIdx.x)) found = i;
  return found;
}

template <class C>
__device__ dnn::StepNumbers<C> numbers_of_step(const StepArguments& a) {
  return {a.rule,
          a.nesterov,
          a.is_first,
          static_cast<C>(a.rate),
          static_cast<C>(a.first),
          static_cast<C>(a.second),
          static_cast<C>(a.epsilon),
          static_cast<C>(a.decay),
          static_cast<C>(a.first_share),
          static_cast<C>(a.second_root)};
}

template <class T>
__device__ void optimizer_step(const StepArguments& a) {
  using C = detail::ComputeType<T>;
  constexpr int n = kItems<C>;
  const dnn::StepNumbers<C> of = numbers_of_step<C>(a);
  const C factor = a.measure != nullptr ? static_cast<C>(a.measure[0]) : C(1);
  const bool are_finite = a.measure == nullptr || a.measure[2] != 0;
  const SteppedArrays& here = a.arrays[array_of_block(a.arrays, a.listed)];
  const long long begin = (blockIdx.x - here.first_block) * kStepChunk;
  const long long end = begin + kStepChunk < here.count ? begin + kStepChunk : here.count;
  const Way gradient_way = way_of<T, n>(here.gradient), rounded_way = way_of<T, n>(here.rounded);
  for (long long at = begin + threadIdx.x * n; at < end; at += kDnnThreads * n) {
    const int items = end - at < n ? static_cast<int>(end - at) : n;
    const Group<T, n> gradient = load_group<T, n>(here.gradient, at, 1, gradient_way, items);
    Group<C, n> kept[3];
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k <= a.states) kept[k] = load_group<C, n>(here.kept[k], at, 1, way_of<C>(here.kept[k]), items);
    Group<T, n> rounded;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (i >= items) continue;
      dnn::Stepped<C> now{kept[0].items[i], a.states > 0 ? kept[1].items[i] : C(0),
                          a.states > 1 ? kept[2].items[i] : C(0)};
      if (are_finite) now = dnn::stepped(of, to_number(gradient.items[i]) * factor, now);
      kept[0].items[i] = now.value;
      kept[1].items[i] = now.first;
      kept[2].items[i] = now.second;
      rounded.items[i] = from_number<T>(now.value);
    }
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k <= a.states) store_group(kept[k], here.next[k], at, 1, way_of<C>(here.next[k]), items);
    if (a.has_masters) store_group(rounded, here.rounded, at, 1, rounded_way, items);
  }
}
/// Values in f16 or bf16 without masters: only their state is f32.
template <class T>
__device__ void small_step(const StepArguments& a) {
  const dnn::StepNumbers<float> of = numbers_of_step<float>(a);
  const float factor = a.measure != nullptr ? a.measure[0] : 1.0F;
  const bool are_finite = a.measure == nullptr || a.measure[2] != 0;
  const SteppedArrays& here = a.arrays[array_of_block(a.arrays, a.listed)];
  const long long begin = (blockIdx.x - here.first_block) * kStepChunk;
  const long long end = begin + kStepChunk < here.count ? begin + kStepChunk : here.count;
  for (long long i = begin + threadIdx.x; i < end; i += kDnnThreads) {
    const auto kept = [&](int k) { return k <= a.states ? static_cast<const float*>(here.kept[k])[i] : 0.0F; };
    dnn::Stepped<float> now{to_number(static_cast<const T*>(here.kept[0])[i]), kept(1), kept(2)};
    if (are_finite) now = dnn::stepped(of, to_number(static_cast<const T*>(here.gradient)[i]) * factor, now);
    static_cast<T*>(here.next[0])[i] = from_number<T>(now.value);
    if (a.states > 0) static_cast<float*>(here.next[1])[i] = now.first;
    if (a.states > 1) static_cast<float*>(here.next[2])[i] = now.second;
  }
}

template <class T>
__device__ void square_sums(const SquaresArguments& a) {
  const ListedGradient& here = a.gradients[array_of_block(a.gradients, a.listed)];
  const long long begin = (blockIdx.x - here.first_block) * kStepChunk;
  const long long end = begin + kStepChunk < here.count ? begin + kStepChunk : here.count;
  const Way way = way_of<T>(here.data);
  double sum = 0;
  for (long long at = begin + threadIdx.x * kItems<T>; at < end; at += kDnnThreads * kItems<T>) {
    const int items = end - at < kItems<T> ? static_cast<int>(end - at) : kItems<T>;
    const Group<T, kItems<T>> group = load_group<T, kItems<T>>(here.data, at, 1, way, items);
#pragma unroll
    for (int i = 0; i < kItems<T>; ++i)
      if (i < items) {
        const auto number = static_cast<double>(to_number(group.items[i]));
        sum += number * number;
      }
  }
  sum = sum_of<kDnnThreads>(sum);
  if (threadIdx.x == 0) a.partials[blockIdx.x] = sum;
}

// ---- lookups ----

template <class Unit>
__device__ void embedding(const EmbeddingArguments& a) {
  if (has_finding(a.finding)) return;
  for (long long i = first_index(); i < a.count * a.width; i += index_step()) {
    const long long row = i / a.width;
    const long long column = i - row * a.width;
    static_cast<Unit*>(a.y)[row * a.y_stride + column] =
        static_cast<const Unit*>(a.table)[index_at(a.indices, row, a.wide) * a.table_stride + column];
  }
}

/// A block for each row of the table: it finds the places of its index among the sorted ones, and sums their rows in
/// that order.
template <class T>
__device__ void embedding_gradient(const EmbeddingGradientArguments& a) {
  using C = detail::ComputeType<T>;
  if (has_finding(a.finding)) return;
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    long long begin = 0;
    for (long long end = a.count; begin < end;) {
      const long long middle = begin + (end - begin) / 2;
      if (index_at(a.sorted, middle, a.wide) < row)
        begin = middle + 1;
      else
        end = middle;
    }
    for (long long column = threadIdx.x; column < a.width; column += kDnnThreads) {
      C sum = 0;
      if (row != a.padding)
        for (long long i = begin; i < a.count && index_at(a.sorted, i, a.wide) == row; ++i)
          sum +=
              to_number(static_cast<const T*>(a.dy)[static_cast<const long long*>(a.places)[i] * a.dy_stride + column]);
      static_cast<T*>(a.dtable)[row * a.dtable_stride + column] = from_number<T>(sum);
    }
  }
}

/// A thread takes the four elements whose positions share a block of random bits.
template <class T>
__device__ void dropout(const DropoutArguments& a) {
  using C = detail::ComputeType<T>;
  const troupe::random::Source source{a.seed, a.stream};
  const troupe::random::Chance chance{a.of_2_64, false};
  const auto before = static_cast<long long>(a.position % 4);
  for (long long group = first_index(); group < (before + a.count + 3) / 4; group += index_step()) {
    const unsigned long long first = a.position - before + 4 * group;
    const troupe::random::Block block = troupe::random::philox(source, first / 4, troupe::random::kWords);
    for (int k = 0; k < 4; ++k) {
      const long long i = 4 * group + k - before;
      if (i < 0 || i >= a.count) continue;
      const bool is_out =
          troupe::random::happens(chance, block.words[k], troupe::random::OwnNumbers(source, first + k));
      static_cast<T*>(a.y)[i] =
          from_number<T>(is_out ? C(0) : to_number(static_cast<const T*>(a.x)[i]) * static_cast<C>(a.scale));
    }
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_THREADS extern "C" __global__ void __launch_bounds__(kDnnThreads)
#define TROUPE_DNN_OF_TYPE(dtype, T)                                                                                  \
  TROUPE_DNN_THREADS troupe_dnn_check_probabilities_##dtype(const DnnCheckArguments a) { check_probabilities<T>(a); } \
  TROUPE_DNN_THREADS troupe_dnn_loss_##dtype(const LossArguments a) { loss<T>(a); }                                   \
  TROUPE_DNN_THREADS troupe_dnn_loss_gradient_##dtype(const LossArguments a) { loss_gradient<T>(a); }                 \
  TROUPE_DNN_THREADS troupe_dnn_sum_##dtype(const SumArguments a) { sum_numbers<T>(a); }                              \
  TROUPE_DNN_THREADS troupe_dnn_step_##dtype(const StepArguments a) { optimizer_step<T>(a); }                         \
  TROUPE_DNN_THREADS troupe_dnn_squares_##dtype(const SquaresArguments a) { square_sums<T>(a); }                      \
  TROUPE_DNN_THREADS troupe_dnn_embedding_gradient_##dtype(const EmbeddingGradientArguments a) {                      \
    embedding_gradient<T>(a);                                                                                         \
  }                                                                                                                   \
  TROUPE_DNN_THREADS troupe_dnn_dropout_##dtype(const DropoutArguments a) { dropout<T>(a); }
TROUPE_DNN_OF_TYPE(f32, float)
TROUPE_DNN_OF_TYPE(f64, double)
TROUPE_DNN_OF_TYPE(f16, troupe::f16)
TROUPE_DNN_OF_TYPE(bf16, troupe::bf16)
TROUPE_DNN_THREADS troupe_dnn_small_step_f16(const StepArguments a) { small_step<troupe::f16>(a); }
TROUPE_DNN_THREADS troupe_dnn_small_step_bf16(const StepArguments a) { small_step<troupe::bf16>(a); }

#define TROUPE_DNN_OF_SIZE(size, Unit) \
  TROUPE_DNN_THREADS troupe_dnn_embedding_##size(const EmbeddingArguments a) { embedding<Unit>(a); }
TROUPE_DNN_OF_SIZE(2, unsigned short)
TROUPE_DNN_OF_SIZE(4, unsigned)
TROUPE_DNN_OF_SIZE(8, unsigned long long)
TROUPE_DNN_OF_SIZE(16, Bytes16)

TROUPE_DNN_THREADS troupe_dnn_check_indices(const DnnCheckArguments a) {
  for (long long i = first_index(); i < a.count; i += index_step()) {
    const long long index = index_at(a.data, i, a.wide);
    if ((index < 0 || index >= a.bound) && index != a.ignored) note(a.finding, i, a.fault);
  }
}
/// The verdict was zeros before.
TROUPE_DNN_THREADS troupe_dnn_tell(const DnnTellArguments a) {
  if (first_index() != 0 || *a.finding == kNoDnnFinding) return;
  troupe::op::DnnFinding found;
  found.fault = static_cast<troupe::op::DnnFault>(*a.finding % kDnnFaults);
  found.place = static_cast<long long>(*a.finding / kDnnFaults);
  if (a.data != nullptr) {
    found.value = index_at(a.data, found.place, a.wide);
    found.bound =
        found.fault == troupe::op::DnnFault::offset_falls ? index_at(a.data, found.place - 1, a.wide) : a.bound;
  }
  write_verdict(found, a.verdict);
}
TROUPE_DNN_THREADS troupe_dnn_measure(const MeasureArguments a) {
  const double squares = sum_in_order(a.partials, a.count);
  if (threadIdx.x != 0) return;
  const double scale = a.scale != nullptr ? static_cast<double>(*a.scale) : 1.0;
  const double norm = sqrt(squares);
  a.measure[0] = static_cast<float>(troupe::dnn::gradient_factor(norm, scale, a.most));
  a.measure[1] = static_cast<float>(norm / scale);
  a.measure[2] = isfinite(squares) ? 1.0F : 0.0F;
}
TROUPE_DNN_THREADS troupe_dnn_adjust_loss_scale(const LossScaleArguments a) {
  if (first_index() != 0) return;
  const troupe::dnn::LossScale next =
      troupe::dnn::next_loss_scale({a.scale[0], a.scale[1]}, a.measure[2] != 0, a.growth, a.backoff, a.interval);
  a.next[0] = next.scale;
  a.next[1] = next.steps;
}
