// The products of attention, of a block of queries with a block of keys, by vector instructions: plain loops, compiled
// for every level of the CPU (docs/decisions/0020). An element of a result is summed in the order of its terms,
// whatever stands beside it in the block.
#pragma once

#include <concepts>
#include <cstdint>

#include "troupe/backend/host/vectors/vector_level.hpp"

namespace troupe::host {

/// Keys of a block; a shorter block is filled up with zeros.
inline constexpr std::int64_t kKeyBlock = 64;
/// Queries of a block are at most so many.
inline constexpr std::int64_t kQueryBlock = 32;

template <class C>
struct AttentionRows {
  /// scores[i, j] = the sum of q[i, d] keys[d, j]: keys lie [width, kKeyBlock], scores [rows, kKeyBlock].
  void (*scores)(const C* q, const C* keys, C* scores, std::int64_t rows, std::int64_t width) noexcept = nullptr;
  /// y[i, d] += the sum of p[i, j] values[j, d]: values lie [kKeyBlock, width].
  void (*add_values)(const C* p, const C* values, C* y, std::int64_t rows, std::int64_t width) noexcept = nullptr;
  /// sums[j, d] += the sum of p[i, j] rows_of[i, d]: sums lie [kKeyBlock, width].
  void (*add_turned)(const C* p, const C* rows_of, C* sums, std::int64_t rows, std::int64_t width) noexcept = nullptr;
};
struct AttentionProducts {
  AttentionRows<float> f32;
  AttentionRows<double> f64;
};

/// Those of a level; needs a CPU that has it.
const AttentionProducts& attention_products(VectorLevel level) noexcept;
/// Those of this process.
template <class C>
const AttentionRows<C>& attention_rows() noexcept {
  static const AttentionProducts& kProducts = attention_products(vector_level());
  if constexpr (std::same_as<C, float>)
    return kProducts.f32;
  else
    return kProducts.f64;
}

}  // namespace troupe::host
