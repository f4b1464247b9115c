// Softmax, log-softmax and cross entropy, and their gradients, of rows: one warp for a short row, a block for a long
// one. What a row gives depends on that row alone.
#include "troupe/backend/cuda/dnn/dnn_rows.cuh"

namespace troupe::cuda {
namespace {

/// The greatest number of a row, and the sum of e^(x - the greatest).
template <class C>
struct RowSums {
  C greatest;
  C sum;
};
template <int team, class T>
__device__ RowSums<detail::ComputeType<T>> sums_of_row(const TeamRow<T, team>& row) {
  using C = detail::ComputeType<T>;
  C greatest = -static_cast<C>(INFINITY);
  row.each([&](const auto& group, long long, int items) {
#pragma unroll
    for (int i = 0; i < kItems<T>; ++i)
      if (i < items && to_number(group.items[i]) > greatest) greatest = to_number(group.items[i]);
  });
  greatest = greatest_of<team>(greatest);
  C sum = 0;
  row.each([&](const auto& group, long long, int items) {
#pragma unroll
    for (int i = 0; i < kItems<T>; ++i)
      if (i < items) sum += exp(to_number(group.items[i]) - greatest);
  });
  return {greatest, sum_of<team>(sum)};
}

template <class T, int team>
__device__ void softmax(const SoftmaxArguments& a) {
  using C = detail::ComputeType<T>;
  each_row<team>(a.rows, [&](long long number) {
    const TeamRow<T, team> row(static_cast<const T*>(a.x) + number * a.x_stride, a.length);
    T* const out = static_cast<T*>(a.out) + number * a.out_stride;
    const Way way = way_of<T>(out);
    const RowSums<C> sums = sums_of_row<team>(row);
    const C off = a.logarithm ? log(sums.sum) : C(1) / sums.sum;
    row.each([&](const auto& group, long long at, int items) {
      Group<T, kItems<T>> made;
#pragma unroll
      for (int i = 0; i < kItems<T>; ++i) {
        if (i >= items) continue;
        const C less = to_number(group.items[i]) - sums.greatest;
        made.items[i] = from_number<T>(a.logarithm ? less - off : exp(less) * off);
      }
      store_group(made, out, at, 1, way, items);
    });
  });
}

template <class T, int team>
__device__ void softmax_gradient(const SoftmaxArguments& a) {
  using C = detail::ComputeType<T>;
  each_row<team>(a.rows, [&](long long number) {
    const TeamRow<T, team> y(static_cast<const T*>(a.x) + number * a.x_stride, a.length);
    const TeamRow<T, team> dy(static_cast<const T*>(a.dy) + number * a.dy_stride, a.length);
    T* const out = static_cast<T*>(a.out) + number * a.out_stride;
    const Way way = way_of<T>(out);
    C sum = 0;
    y.each_with(dy, [&](const auto& given, const auto& slopes, long long, int items) {
#pragma unroll
      for (int i = 0; i < kItems<T>; ++i)
        if (i < items) sum += to_number(slopes.items[i]) * (a.logarithm ? C(1) : to_number(given.items[i]));
    });
    sum = sum_of<team>(sum);
    y.each_with(dy, [&](const auto& given, const auto& slopes, long long at, int items) {
      Group<T, kItems<T>> made;
#pragma unroll
      for (int i = 0; i < kItems<T>; ++i) {
        if (i >= items) continue;
        const C number_y = to_number(given.items[i]), slope = to_number(slopes.items[i]);
        made.items[i] = from_number<T>(a.logarithm ? slope - exp(number_y) * sum : number_y * (slope - sum));
      }
      store_group(made, out, at, 1, way, items);
    });
  });
}

// ---- cross entropy ----

/// How much which class of one row is wanted.
template <class T>
struct WantedRow {
  using C = detail::ComputeType<T>;
  const EntropyArguments& a;
  long long row;
  long long target;  // the class, where it is one

  __device__ WantedRow(const EntropyArguments& of, long long number) : a(of), row(number), target(0) {
    if (!a.is_class) return;
    target = a.wide ? static_cast<const long long*>(a.target)[row] : static_cast<const int*>(a.target)[row];
  }
  __device__ bool is_ignored() const { return a.is_class && target == a.ignored; }
  __device__ C weight(long long c) const {
    return a.weights != nullptr ? to_number(static_cast<const T*>(a.weights)[c]) : C(1);
  }
  __device__ C operator[](long long c) const {
    const C share = a.is_class ? static_cast<C>(c == target)
                               : to_number(static_cast<const T*>(a.target)[row * a.target_stride + c]);
    return (static_cast<C>(a.keep) * share + static_cast<C>(a.spread)) * weight(c);
  }
};

template <class T, int team>
__device__ void entropy_row(const EntropyArguments& a, long long number) {
  using C = detail::ComputeType<T>;
  const WantedRow<T> wanted(a, number);
  double loss = 0;
  if (!wanted.is_ignored()) {  // the same for the whole team
    const TeamRow<T, team> row(static_cast<const T*>(a.logits) + number * a.logits_stride, a.classes);
    const RowSums<C> sums = sums_of_row<team>(row);
    const C top = log(sums.sum);
    double part = 0;
    row.each([&](const auto& group, long long at, int items) {
#pragma unroll
      for (int i = 0; i < kItems<T>; ++i) {
        if (i >= items) continue;
        const C share = wanted[at + i];
        if (share != C(0)) part += static_cast<double>(share * (top - (to_number(group.items[i]) - sums.greatest)));
      }
    });
    loss = sum_of<team>(part);
  }
  if (threadIdx.x % team != 0) return;
  if (a.losses != nullptr) a.losses[number] = loss;
  if (a.shares != nullptr)
    a.shares[number] = wanted.is_ignored() ? 0.0 : a.is_class ? static_cast<double>(wanted.weight(wanted.target)) : 1.0;
  if (a.out != nullptr) static_cast<T*>(a.out)[number * a.out_stride] = from_number<T>(static_cast<C>(loss));
}

template <class T, int team>
__device__ void cross_entropy(const EntropyArguments& a) {
  if (has_finding(a.finding)) return;
  each_row<team>(a.rows, [&](long long number) { entropy_row<T, team>(a, number); });
}

template <class T, int team>
__device__ void cross_entropy_gradient(const EntropyArguments& a) {
  using C = detail::ComputeType<T>;
  if (has_finding(a.finding)) return;
  const double divisor = a.sum_of_shares != nullptr ? *a.sum_of_shares : 1.0;
  each_row<team>(a.rows, [&](long long number) {
    const WantedRow<T> wanted(a, number);
    const TeamRow<T, team> row(static_cast<const T*>(a.logits) + number * a.logits_stride, a.classes);
    T* const out = static_cast<T*>(a.out) + number * a.out_stride;
    const Way way = way_of<T>(out);
    const RowSums<C> sums = sums_of_row<team>(row);
    C all = 0;
    row.each([&](const auto&, long long at, int items) {
      for (int i = 0; i < items; ++i) all += wanted[at + i];
    });
    all = sum_of<team>(all) / sums.sum;
    const bool is_ignored = wanted.is_ignored();
    const C given = to_number(static_cast<const T*>(a.dloss)[a.has_each ? number : 0]);
    const C slope = static_cast<C>(static_cast<double>(given) / divisor);
    row.each([&](const auto& group, long long at, int items) {
      Group<T, kItems<T>> made;
#pragma unroll
      for (int i = 0; i < kItems<T>; ++i) {
        if (i >= items) continue;
        const C e = exp(to_number(group.items[i]) - sums.greatest);
        made.items[i] = from_number<T>(is_ignored ? C(0) : slope * (e * all - wanted[at + i]));
      }
      store_group(made, out, at, 1, way, items);
    });
  });
}

/// One number for each row of shares in a mean, where no losses are made.
template <class T>
__device__ void entropy_shares(const EntropyArguments& a) {
  if (has_finding(a.finding)) return;
  for (long long row = first_index(); row < a.rows; row += index_step()) {
    const WantedRow<T> wanted(a, row);
    a.shares[row] = wanted.is_ignored() ? 0.0 : a.is_class ? static_cast<double>(wanted.weight(wanted.target)) : 1.0;
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_KERNEL(name, dtype, Arguments, ...)                                                   \
  extern "C" __global__ void __launch_bounds__(kDnnThreads) troupe_##name##_##dtype(const Arguments a) { \
    __VA_ARGS__(a);                                                                                      \
  }
#define TROUPE_DNN_ROWS(dtype, T)                                                                                \
  TROUPE_DNN_KERNEL(dnn_softmax, dtype, SoftmaxArguments, softmax<T, kDnnThreads>)                               \
  TROUPE_DNN_KERNEL(dnn_softmax_short, dtype, SoftmaxArguments, softmax<T, 32>)                                  \
  TROUPE_DNN_KERNEL(dnn_softmax_gradient, dtype, SoftmaxArguments, softmax_gradient<T, kDnnThreads>)             \
  TROUPE_DNN_KERNEL(dnn_softmax_gradient_short, dtype, SoftmaxArguments, softmax_gradient<T, 32>)                \
  TROUPE_DNN_KERNEL(dnn_cross_entropy, dtype, EntropyArguments, cross_entropy<T, kDnnThreads>)                   \
  TROUPE_DNN_KERNEL(dnn_cross_entropy_short, dtype, EntropyArguments, cross_entropy<T, 32>)                      \
  TROUPE_DNN_KERNEL(dnn_cross_entropy_gradient, dtype, EntropyArguments, cross_entropy_gradient<T, kDnnThreads>) \
  TROUPE_DNN_KERNEL(dnn_cross_entropy_gradient_short, dtype, EntropyArguments, cross_entropy_gradient<T, 32>)    \
  TROUPE_DNN_KERNEL(dnn_entropy_shares, dtype, EntropyArguments, entropy_shares<T>)
TROUPE_DNN_ROWS(f32, float)
TROUPE_DNN_ROWS(f64, double)
TROUPE_DNN_ROWS(f16, troupe::f16)
TROUPE_DNN_ROWS(bf16, troupe::bf16)
