// What the kernels of the tensor family that take element by element do: a function of one to three arrays of any
// strides, or of numbers. What each function computes is the host's own code, op/tensor_functions.hpp. A kernel for
// each function of floats: so each needs no more registers than its own, and short ones are not slowed down by long
// ones. Functions of integers and comparisons are all short, so one kernel has all of them, and so have the kernels
// that take inputs of any types.
#pragma once

#include "troupe/backend/cuda/kernels/converted.cuh"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/op/promotion.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::cuda {

template <class F>
inline constexpr int kInputsOf = std::is_same_v<F, Unary>    ? 1
                                 : std::is_same_v<F, Binary> ? 2
                                                             : 3;

/// A function that the kernel is compiled for.
template <auto function>
struct Known {
  static constexpr int kInputs = kInputsOf<decltype(function)>;
  /// Whether the input is not of the type that is computed with, but bool.
  template <int input>
  static constexpr bool is_condition() {
    if constexpr (kInputs == 3)
      return function == Ternary::select && input == 0;
    else
      return false;
  }
  template <class C, class Call>
  __device__ static void with(int, Call&& call) {
    call(std::integral_constant<decltype(function), function>{});
  }
};

/// Functions of which the op says which one it is: comparisons, or all others.
template <class F, bool compares = false>
struct Chosen {
  static constexpr int kInputs = kInputsOf<F>;
  template <int input>
  static constexpr bool is_condition() {
    return false;
  }
  template <F function>
  static constexpr bool is_one() {
    if constexpr (kInputs == 2)
      return detail::is_comparison(function) == compares;
    else
      return true;
  }
  template <class C, class Call>
  __device__ static void with(int function, Call&& call) {
    tensor::with_function<C>(static_cast<F>(function), [&](auto known) {
      if constexpr (is_one<decltype(known)::value>()) call(known);
    });
  }
};

template <auto function, class C, int n>
__device__ inline C applied(const C (&in)[n]) {
  if constexpr (n == 1)
    return tensor::apply<function>(in[0]);
  else if constexpr (n == 2)
    return tensor::apply<function>(in[0], in[1]);
  else
    return tensor::apply<function>(in[0], in[1], in[2]);
}

/// What elements of type `T` are computed in; integers as they are.
template <class T>
using Computed = std::conditional_t<std::is_integral_v<T>, T, detail::ComputeType<T>>;

/// A group of elements of some type that is promoted to `T`, as `T`.
template <class T, int n>
__device__ Group<T, n> load_promoted(const void* in, long long at, long long stride, Way way, int items, DType type) {
  Group<T, n> group;
  const auto attempt = [&]<class From>(std::type_identity<From>) {
    if constexpr (op::is_promoted_to(dtype_of<From>, dtype_of<T>) && (sizeof(From) > 1 || std::is_integral_v<From>))
      if (type == dtype_of<From>) {
        const Group<From, n> from = load_group<From, n>(in, at, stride, way, items);
#pragma unroll
        for (int i = 0; i < n; ++i) group.items[i] = converted<T>(from.items[i]);
      }
  };
  [&]<std::size_t... types>(std::index_sequence<types...>) {
    (attempt(std::type_identity<std::tuple_element_t<types, detail::ElementTypes>>{}), ...);
  }(std::make_index_sequence<kDTypes>{});
  return group;
}
/// The same, once in the code and not once for each input.
template <class T, int n>
__device__ __noinline__ Group<T, n> load_promoted_apart(const void* in, long long at, long long stride, Way way,
                                                        int items, DType type) {
  return load_promoted<T, n>(in, at, stride, way, items, type);
}

/// Blocks that an SM shall have room for: all that it can run, but fewer where a group of each input is many numbers,
/// and as it comes where a thread reads more than 16 bytes of an array or functions need many registers.
template <class Function, class T>
inline constexpr int kBlocksAtOnce = sizeof(T) > 4                              ? 1
                                     : sizeof(T) == 1                           ? 4
                                     : sizeof(T) == 2 && Function::kInputs == 3 ? 6
                                                                                : 8;

/// The groups of one thread. Numbers are computed as `T`, and written as `Out`; `mixes` says that inputs may be of any
/// types that are promoted to `T`.
template <class Function, class T, class Out = T, bool mixes = false>
class ElementwiseThread {
 public:
  static constexpr int kInputs = Function::kInputs;
  static constexpr int kItems = group_items(sizeof(T));
  static constexpr int kGroups = groups_of_thread(sizeof(T));
  using Arguments = ElementwiseArguments<kInputs>;

  /// Where all lies side by side, there is next to nothing to find out, and next to nothing is done for it.
  __device__ void run(const Arguments& m) {
    constexpr int kBlock = kGroupThreads * kGroups;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const unsigned thread = threadIdx.x + g * kGroupThreads;
      numbers_[g] = blockIdx.x * kBlock + thread;
      places_[g].items = kItems;
      if (numbers_[g] < m.plain) {
        load_plain<0>(m, g);
      } else {
        numbers_[g] = ~0U;
        places_[g] = place_of_thread<kItems, kBlock>(m.axes, blockIdx.x, thread);
        if (places_[g].items > 0) load<0>(m, g);
      }
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      if (places_[g].items > 0) compute(m, g);
  }

 private:
  using C = Computed<T>;

  template <int i>
  __device__ void load_plain(const Arguments& m, int g) {
    if constexpr (i < kInputs) {
      if (m.axes.ways[i] != Way::number) {
        if constexpr (Function::template is_condition<i>())
          condition_[g].raw = static_cast<const decltype(condition_[g].raw)*>(m.in[i])[numbers_[g]];
        else
          in_[g][i].raw = static_cast<const decltype(in_[g][i].raw)*>(m.in[i])[numbers_[g]];
      }
      load_plain<i + 1>(m, g);
    }
  }

  template <int i>
  __device__ void load(const Arguments& m, int g) {
    if constexpr (i < kInputs) {
      if (m.axes.ways[i] != Way::number) {
        if constexpr (Function::template is_condition<i>())
          condition_[g] = loaded<unsigned char>(m, i, g);
        else if constexpr (mixes)
          in_[g][i] = load_promoted_apart<T, kItems>(m.in[i], places_[g].at[i], m.axes.strides[i], m.axes.ways[i],
                                                     places_[g].items, static_cast<DType>(m.types[i]));
        else
          in_[g][i] = loaded<T>(m, i, g);
      }
      load<i + 1>(m, g);
    }
  }
  template <class E>
  __device__ Group<E, kItems> loaded(const Arguments& m, int i, int g) const {
    return load_group<E, kItems>(m.in[i], places_[g].at[i], m.axes.strides[i], m.axes.ways[i], places_[g].items);
  }

  template <int i>
  __device__ void to_numbers(const Arguments& m, int g, C (&numbers)[kItems][kInputs]) const {
    if constexpr (i < kInputs) {
      const auto factor = static_cast<C>(*reinterpret_cast<const detail::ComputeType<T>*>(&m.factors[i]));
      if (m.axes.ways[i] == Way::number) {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = factor;
      } else if constexpr (Function::template is_condition<i>()) {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = condition_[g].items[item] != 0 ? C(1) : C(0);
      } else {
#pragma unroll
        for (int item = 0; item < kItems; ++item) numbers[item][i] = static_cast<C>(to_number(in_[g][i].items[item]));
        if ((m.scaled >> i & 1) != 0) {
#pragma unroll
          for (int item = 0; item < kItems; ++item) numbers[item][i] = tensor::times(factor, numbers[item][i]);
        }
      }
      to_numbers<i + 1>(m, g, numbers);
    }
  }

  __device__ void compute(const Arguments& m, int g) const {
    C numbers[kItems][kInputs];
    to_numbers<0>(m, g, numbers);
    Group<Out, kItems> out;
    Function::template with<C>(m.function, [&](auto function) {
#pragma unroll
      for (int item = 0; item < kItems; ++item)
        out.items[item] = written(applied<decltype(function)::value>(numbers[item]));
    });
    if (numbers_[g] != ~0U)
      static_cast<decltype(out.raw)*>(m.out)[numbers_[g]] = out.raw;
    else
      store_group(out, m.out, places_[g].at[kInputs], m.axes.strides[kInputs], m.axes.ways[kInputs], places_[g].items);
  }

  __device__ static Out written(C number) {
    if constexpr (std::is_same_v<Out, bool>)
      return number != C(0);
    else if constexpr (std::is_integral_v<Out>)
      return number;
    else
      return from_number<Out>(number);
  }

  unsigned numbers_[kGroups];  // of plain groups; else none
  GroupPlace<kInputs + 1> places_[kGroups];
  Group<T, kItems> in_[kGroups][kInputs];
  Group<unsigned char, kItems> condition_[kGroups];
};

}  // namespace troupe::cuda

/// `troupe_exp_f32` and its like.
#define TROUPE_ELEMENTWISE_KERNEL(name, dtype, Function, blocks, ...)                    \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kGroupThreads, blocks)      \
      troupe_##name##_##dtype(troupe::cuda::ElementwiseArguments<Function::kInputs> m) { \
    troupe::cuda::ElementwiseThread<Function, __VA_ARGS__>().run(m);                     \
  }
#define TROUPE_ELEMENTWISE(name, function, dtype, T)                    \
  TROUPE_ELEMENTWISE_KERNEL(name, dtype, troupe::cuda::Known<function>, \
                            (troupe::cuda::kBlocksAtOnce<troupe::cuda::Known<function>, T>), T)
#define TROUPE_FOR_REAL(name, function)                \
  TROUPE_ELEMENTWISE(name, function, f64, double)      \
  TROUPE_ELEMENTWISE(name, function, f32, float)       \
  TROUPE_ELEMENTWISE(name, function, f16, troupe::f16) \
  TROUPE_ELEMENTWISE(name, function, bf16, troupe::bf16)
#define TROUPE_FOR_ALL(name, function)                         \
  TROUPE_FOR_REAL(name, function)                              \
  TROUPE_ELEMENTWISE(name, function, c64, std::complex<float>) \
  TROUPE_ELEMENTWISE(name, function, c128, std::complex<double>)
#define TROUPE_FOR_INTEGERS(name, function)              \
  TROUPE_ELEMENTWISE(name, function, i8, std::int8_t)    \
  TROUPE_ELEMENTWISE(name, function, u8, std::uint8_t)   \
  TROUPE_ELEMENTWISE(name, function, i16, std::int16_t)  \
  TROUPE_ELEMENTWISE(name, function, u16, std::uint16_t) \
  TROUPE_ELEMENTWISE(name, function, i32, std::int32_t)  \
  TROUPE_ELEMENTWISE(name, function, u32, std::uint32_t) \
  TROUPE_ELEMENTWISE(name, function, i64, std::int64_t)  \
  TROUPE_ELEMENTWISE(name, function, u64, std::uint64_t)
