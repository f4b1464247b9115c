// The rank of a key as a function of its bits alone, so that kernels are compiled for sizes of keys and not for types:
// integers of one size differ in one bit of a mask. An order that descends turns all bits of the rank around.
#pragma once

#include <cstdint>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::host {

/// Of integers. No two keys have one rank.
template <class B>
struct WholeRank {
  using Bits = B;
  static constexpr bool kIsWhole = true;
  Bits mask = 0;
  Bits operator()(Bits bits) const noexcept { return static_cast<Bits>(bits ^ mask); }
};
template <class B>
struct FloatRank {
  using Bits = B;
  static constexpr bool kIsWhole = false;
  Bits infinity = 0;
  Bits turned = 0;
  Bits operator()(Bits bits) const noexcept {
    constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    return static_cast<Bits>(primitives::Ranking<Bits>{kSign, infinity, true}(bits) ^ turned);
  }
};
/// Of bools, of which any byte but 0 is true.
struct TruthRank {
  using Bits = std::uint8_t;
  static constexpr bool kIsWhole = false;
  Bits turned = 0;
  Bits operator()(Bits bits) const noexcept { return static_cast<Bits>((bits != 0 ? 1 : 0) ^ turned); }
};

template <class B, class F>
decltype(auto) with_rank_of_size(DType dtype, SortOrder order, F&& f) {
  const primitives::Ranking<B> ranking = primitives::ranking_of<B>(dtype);
  const auto turned = static_cast<B>(order == SortOrder::descending ? ~B{0} : B{0});
  if constexpr (sizeof(B) > 1)
    if (ranking.is_floating) return f(FloatRank<B>{ranking.infinity, turned});
  return f(WholeRank<B>{static_cast<B>(ranking.sign ^ turned)});
}
/// Calls `f(rank)` for a type that keys may have: ascending ranks are keys in that order.
template <class F>
decltype(auto) with_rank(DType dtype, SortOrder order, F&& f) {
  switch (size_bytes(dtype)) {
    case 1:
      if (dtype == DType::boolean)
        return f(TruthRank{static_cast<std::uint8_t>(order == SortOrder::descending ? 0xff : 0)});
      return with_rank_of_size<std::uint8_t>(dtype, order, f);
    case 2: return with_rank_of_size<std::uint16_t>(dtype, order, f);
    case 4: return with_rank_of_size<std::uint32_t>(dtype, order, f);
    default: return with_rank_of_size<std::uint64_t>(dtype, order, f);
  }
}

/// The bits of an element from memory that may be unaligned.
template <class Bits>
Bits load_bits(const std::byte* from) noexcept {
  Bits bits;
  std::memcpy(&bits, from, sizeof(Bits));
  return bits;
}
template <class Bits>
void store_bits(std::byte* to, Bits bits) noexcept {
  std::memcpy(to, &bits, sizeof(Bits));
}

}  // namespace troupe::host
