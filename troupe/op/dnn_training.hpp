// Where the topics on rows, lists and sequences begin in the numbers of the dnn family: behind those of
// op/dnn_family.hpp.
#pragma once

#include "troupe/op/dnn_family.hpp"

namespace troupe::inline v0::op {

inline constexpr std::uint8_t kDnnSoftmax = kDnnEnd;
inline constexpr std::uint8_t kDnnLoss = kDnnSoftmax + 2;
inline constexpr std::uint8_t kDnnOptimizer = kDnnLoss + 4;
inline constexpr std::uint8_t kDnnLookup = kDnnOptimizer + 3;
inline constexpr std::uint8_t kDnnAttention = kDnnLookup + 3;
inline constexpr std::uint8_t kDnnRecurrent = kDnnAttention + 5;
inline constexpr std::uint8_t kDnnTrainingEnd = kDnnRecurrent + 2;

}  // namespace troupe::inline v0::op
