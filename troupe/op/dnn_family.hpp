// The number of the dnn family, and where each topic's ops begin in it. A topic has a header of its own,
// dnn_<topic>.hpp, with an OpList; op/dnn.hpp puts them one behind another. Numbers have no gaps.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kDnnFamily{12};

inline constexpr std::uint8_t kDnnPointwise = 0;
inline constexpr std::uint8_t kDnnConvolution = kDnnPointwise + 2;
inline constexpr std::uint8_t kDnnPooling = kDnnConvolution + 3;
inline constexpr std::uint8_t kDnnNorm = kDnnPooling + 4;
inline constexpr std::uint8_t kDnnInterpolate = kDnnNorm + 7;
inline constexpr std::uint8_t kDnnEnd = kDnnInterpolate + 2;

/// The op of a topic with that number in the topic.
constexpr Kind dnn_kind(std::uint8_t topic, std::uint8_t number) noexcept {
  return kind(kDnnFamily, static_cast<std::uint8_t>(topic + number));
}

/// Lists of ops, one behind another.
template <class... Lists>
struct JoinedOps;
template <class... Ops>
struct JoinedOps<OpList<Ops...>> {
  using type = OpList<Ops...>;
};
template <class... A, class... B, class... Rest>
struct JoinedOps<OpList<A...>, OpList<B...>, Rest...> : JoinedOps<OpList<A..., B...>, Rest...> {};

}  // namespace troupe::inline v0::op
