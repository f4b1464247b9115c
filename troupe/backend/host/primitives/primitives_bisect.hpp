// Bisection of several keys side by side: the loads of one key wait for each other, those of different keys do not, so
// that memory is asked for several keys at a time.
#pragma once

#include <array>
#include <bit>

#include "troupe/backend/host/primitives/primitives_ranks.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"

namespace troupe::host {

/// The ranks of a vector whose elements lie side by side; the memory need not be aligned.
template <class Rank>
struct PlainRanks {
  using Bits = typename Rank::Bits;
  Bits operator[](std::int64_t i) const noexcept {
    return rank(load_bits<Bits>(at + i * static_cast<std::int64_t>(sizeof(Bits))));
  }
  Rank rank;
  const std::byte* at;
  std::int64_t count;
};
template <class Rank>
struct SpreadRanks {
  using Bits = typename Rank::Bits;
  Bits operator[](std::int64_t i) const noexcept { return rank(load_bits<Bits>(row[i])); }
  Rank rank;
  Row row;
  std::int64_t count;
};

/// For `number` ranks: how many elements are less, or with `after_equal` not greater.
template <bool after_equal, std::size_t number, class Sorted, class Bits>
void bisect(const Sorted sorted, const std::array<Bits, number>& ranks,
            std::array<std::int64_t, number>& places) noexcept {
  places.fill(0);
  std::int64_t length = sorted.count;
  if (length == 0) return;
  const auto comes_before = [](Bits element, Bits rank) {
    return static_cast<std::int64_t>(after_equal ? !(rank < element) : element < rank);
  };
  while (length > 1) {
    const std::int64_t half = length / 2;
    for (std::size_t k = 0; k < number; ++k) places[k] += half & -comes_before(sorted[places[k] + half - 1], ranks[k]);
    length -= half;
  }
  for (std::size_t k = 0; k < number; ++k) places[k] += comes_before(sorted[places[k]], ranks[k]);
}

/// The same for `count` keys: `key_at(i)` is where one is, `give(i, place)` takes its place.
template <bool after_equal, class Sorted, class Rank, class KeyAt, class Give>
void bisect_each(const Sorted& sorted, Rank rank, std::int64_t count, const KeyAt& key_at, const Give& give) noexcept {
  constexpr std::size_t kAtOnce = 8;
  using Bits = typename Rank::Bits;
  std::array<Bits, kAtOnce> ranks{};
  std::array<std::int64_t, kAtOnce> places;
  for (std::int64_t i = 0; i < count; i += kAtOnce) {
    const std::int64_t some = std::min<std::int64_t>(kAtOnce, count - i);
    for (std::int64_t k = 0; k < some; ++k) ranks[static_cast<std::size_t>(k)] = rank(load_bits<Bits>(key_at(i + k)));
    bisect<after_equal>(sorted, ranks, places);
    for (std::int64_t k = 0; k < some; ++k) give(i + k, places[static_cast<std::size_t>(k)]);
  }
}

}  // namespace troupe::host
