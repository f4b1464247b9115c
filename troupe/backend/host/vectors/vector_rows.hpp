// What is computed with rows of numbers that lie side by side in memory, by vector instructions: conversions between
// types, functions of elements, and reductions. One definition of each (op/tensor_functions.hpp, half_bits.hpp),
// written as a plain loop that compilers vectorize, and compiled for every level of the CPU. docs/decisions/0020.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "troupe/backend/host/vectors/vector_level.hpp"
#include "troupe/core/element.hpp"
#include "troupe/core/kinds.hpp"

namespace troupe::host {

template <class F>
inline constexpr std::size_t kFunctionsOf = static_cast<std::size_t>(F::kLast) + 1;

/// Functions of elements. The output overlaps no input; null where the type has no such function.
template <class C>
struct NumberRows {
  using One = void (*)(const C* in, C* out, std::int64_t count) noexcept;
  using Two = void (*)(const C* a, const C* b, C* out, std::int64_t count) noexcept;
  using Three = void (*)(const C* a, const C* b, const C* c, C* out, std::int64_t count) noexcept;

  std::array<One, kFunctionsOf<Unary>> unary{};
  std::array<Two, kFunctionsOf<Binary>> binary{};
  std::array<Three, kFunctionsOf<Ternary>> ternary{};
  /// row[i] *= factor
  void (*scale)(C factor, C* row, std::int64_t count) noexcept = nullptr;
};

/// Reductions, in the type that is kept while they run: f64, or complex f64.
template <class A>
struct FoldRows {
  /// All terms of a row combined, in an order that depends on the count alone.
  template <class T>
  using Fold = A (*)(const T* row, std::int64_t count) noexcept;
  /// sums[i] = combined with the term of row[i]
  template <class T>
  using Gather = void (*)(A* sums, const T* row, std::int64_t count) noexcept;

  std::array<Fold<A>, kFunctionsOf<Reduction>> fold{};
  std::array<Gather<A>, kFunctionsOf<Reduction>> gather{};
  std::array<Fold<float>, kFunctionsOf<Reduction>> fold_f32{};  // null for complex sums
  std::array<Gather<float>, kFunctionsOf<Reduction>> gather_f32{};
};

/// `out[i] = convert(in[i])`; the memory need not be aligned and does not overlap.
using ConvertRow = void (*)(const std::byte* in, std::byte* out, std::int64_t count) noexcept;

/// Repeats an element; the memory need not be aligned.
using FillRow = void (*)(const std::byte* element, std::byte* out, std::int64_t count) noexcept;

/// Every second element, from the first on; the memory need not be aligned and does not overlap.
using HalveRow = void (*)(const std::byte* in, std::byte* out, std::int64_t count) noexcept;

struct VectorRows {
  NumberRows<float> f32;
  NumberRows<double> f64;
  FoldRows<double> fold;
  std::array<FillRow, 5> fill{};                                   // of elements of 1, 2, 4, 8 and 16 bytes
  std::array<HalveRow, 5> halve{};                                 // of the same
  std::array<std::array<ConvertRow, kDTypes>, kDTypes> convert{};  // [from][to]; null when it would gain nothing
};

/// Those of a level; needs a CPU that has it.
const VectorRows& vector_rows(VectorLevel level) noexcept;
/// Those of this process.
const VectorRows& vector_rows() noexcept;

/// Null when it would gain nothing.
inline ConvertRow convert_row_for(DType from, DType to) noexcept {
  return vector_rows().convert[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

/// Of complex numbers, for every CPU.
template <class C>
const NumberRows<C>& complex_rows() noexcept;
const FoldRows<std::complex<double>>& complex_folds() noexcept;

}  // namespace troupe::host
