// A stable sort of rows that lie side by side, by digits of the keys' ranks. Short rows go digit by digit from the last
// to the first, in the cache; long ones are first split by their foremost digit, by the whole team, until the parts fit
// the cache. Digits in which all keys are equal cost nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

/// For sorts of keys alone.
struct NoValue {};

/// Keys and what moves along. A source without values has the positions of its keys as values.
template <class Bits, class Value>
struct SortedRun {
  Bits* keys = nullptr;
  Value* values = nullptr;

  SortedRun from(std::int64_t i) const noexcept { return {keys + i, values != nullptr ? values + i : nullptr}; }
  bool meets(const SortedRun& other) const noexcept {
    return keys == other.keys || (values != nullptr && values == other.values);
  }
};

template <class Rank, class Value>
class RadixSort {
 public:
  using Bits = typename Rank::Bits;
  using Run = SortedRun<Bits, Value>;

  RadixSort(Rank rank, Team& team) noexcept : rank_(rank), team_(team) {}

  /// From `from`, which may be one of the others, to `out`; what is in `spare` is lost.
  Result<void> sort(const Run& from, const Run& out, const Run& spare, std::int64_t count) const {
    if (count <= kInCache) {
      sort_in_cache(from, out, spare, 0, count, kBits);
      return {};
    }
    return split(from, out, spare, 0, count, kBits);
  }

 private:
  static constexpr bool kHasValues = !std::same_as<Value, NoValue>;
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Bits));
  static constexpr int kDigits = static_cast<int>(sizeof(Bits));
  static constexpr std::size_t kBins = 256;
  /// With the values and the spare room this is what the second cache of a core holds.
  static constexpr std::int64_t kInCache =
      (std::int64_t{256} << 10) / static_cast<std::int64_t>(sizeof(Bits) + (kHasValues ? sizeof(Value) : 0));
  static constexpr std::int64_t kShort = 40;
  static constexpr Grain kSplitGrain = Grain::of_items(16384);

  template <class Count>
  using Bins = std::array<Count, kBins>;

  std::size_t digit(Bits key, int shift) const noexcept {
    return static_cast<std::size_t>(rank_(key) >> shift) & (kBins - 1);
  }
  static Value value_of(const Run& run, std::int64_t i) noexcept {
    if constexpr (kHasValues)
      return run.values != nullptr ? run.values[i] : static_cast<Value>(i);
    else
      return {};
  }

  static void copy(const Run& from, const Run& to, std::int64_t begin, std::int64_t end) noexcept {
    if (from.keys != to.keys) std::copy(from.keys + begin, from.keys + end, to.keys + begin);
    if constexpr (kHasValues)
      if (from.values != to.values)
        for (std::int64_t i = begin; i < end; ++i) to.values[i] = value_of(from, i);
  }

  /// Moves elements to the places that `next` has for their digit.
  template <class Count>
  void scatter(const Run& from, const Run& to, std::int64_t begin, std::int64_t end, int shift,
               Count* next) const noexcept {
    const auto move = [&](const auto& value) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Bits key = from.keys[i];
        const Count place = next[digit(key, shift)]++;
        to.keys[place] = key;
        if constexpr (kHasValues) to.values[place] = value(i);
      }
    };
    if constexpr (kHasValues)
      if (from.values == nullptr) return move([](std::int64_t i) { return static_cast<Value>(i); });
    move([&](std::int64_t i) { return from.values[i]; });
  }

  void insert(const Run& run, std::int64_t begin, std::int64_t end) const noexcept {
    for (std::int64_t i = begin + 1; i < end; ++i) {
      const Bits key = run.keys[i];
      const Bits rank = rank_(key);
      std::int64_t to = i;
      if (rank_(run.keys[to - 1]) <= rank) continue;
      [[maybe_unused]] const Value value = value_of(run, i);
      for (; to > begin && rank_(run.keys[to - 1]) > rank; --to) {
        run.keys[to] = run.keys[to - 1];
        if constexpr (kHasValues) run.values[to] = run.values[to - 1];
      }
      run.keys[to] = key;
      if constexpr (kHasValues) run.values[to] = value;
    }
  }

  /// Ranks differ in their last `bits` bits alone.
  void sort_in_cache(Run from, const Run& out, const Run& spare, std::int64_t begin, std::int64_t end,
                     int bits) const noexcept {
    const std::int64_t count = end - begin;
    if (count <= kShort) {
      copy(from, out, begin, end);
      return insert(out, begin, end);
    }
    const int digits = (bits + 7) / 8;
    std::array<Bins<std::uint32_t>, kDigits> counts;
    for (int d = 0; d < digits; ++d) counts[static_cast<std::size_t>(d)].fill(0);
    for (std::int64_t i = begin; i < end; ++i) {
      Bits rank = rank_(from.keys[i]);
      for (int d = 0; d < digits; ++d) {
        ++counts[static_cast<std::size_t>(d)][static_cast<std::size_t>(rank) & (kBins - 1)];
        if constexpr (kDigits > 1) rank = static_cast<Bits>(rank >> 8);
      }
    }
    const Bits first = rank_(from.keys[begin]);
    std::array<int, kDigits> passes;
    int number = 0;
    for (int d = 0; d < digits; ++d)
      if (counts[static_cast<std::size_t>(d)][static_cast<std::size_t>(first >> (8 * d)) & (kBins - 1)] != count)
        passes[static_cast<std::size_t>(number++)] = d;
    if (number == 0) return copy(from, out, begin, end);
    Run to = number % 2 == 1 ? out : spare;
    if (from.meets(to)) {
      const Run& other = number % 2 == 1 ? spare : out;
      copy(from, other, begin, end);
      from = other;
    }
    for (int pass = 0; pass < number; ++pass) {
      const int d = passes[static_cast<std::size_t>(pass)];
      Bins<std::uint32_t>& next = counts[static_cast<std::size_t>(d)];
      std::uint32_t sum = 0;
      for (std::uint32_t& bin : next) sum += std::exchange(bin, sum);
      Run target = to.from(begin);
      scatter(from, target, begin, end, 8 * d, next.data());
      from = to;
      to = (number - pass) % 2 == 0 ? out : spare;
    }
  }

  /// What is found while keys are counted.
  struct Differences {
    Bits ones = 0;
    Bits zeros = 0;
  };

  /// By the foremost digit that differs; then its parts.
  Result<void> split(Run from, const Run& out, const Run& spare, std::int64_t begin, std::int64_t end, int bits) const {
    const std::int64_t count = end - begin;
    const std::int64_t parts = std::clamp<std::int64_t>(count / kSplitGrain.items(), 1, std::int64_t{4} * team_.size());
    const auto part_begin = [&](std::int64_t part) {
      return begin + count / parts * part + std::min(part, count % parts);
    };
    const std::int64_t bins_bytes = parts * std::int64_t{sizeof(Bins<std::int64_t>)};
    const Scratch memory = TROUPE_TRY(make_scratch(bins_bytes + parts * std::int64_t{sizeof(Differences)}));
    auto* const bins = reinterpret_cast<Bins<std::int64_t>*>(memory.get());
    auto* const found = reinterpret_cast<Differences*>(memory.get() + bins_bytes);
    const auto each_part = [&](const auto& work) {
      team_.run(parts, Grain::of_items(1), [&](std::int64_t first, std::int64_t last) noexcept {
        for (; first < last; ++first) work(first, part_begin(first), part_begin(first + 1));
      });
    };
    int shift = std::max(bits - 8, 0);
    const auto count_keys = [&] {
      each_part([&](std::int64_t part, std::int64_t first, std::int64_t last) noexcept {
        Bins<std::int64_t>& mine = bins[part];
        mine.fill(0);
        Differences differences;
        for (std::int64_t i = first; i < last; ++i) {
          const Bits rank = rank_(from.keys[i]);
          differences.ones |= rank;
          differences.zeros = static_cast<Bits>(differences.zeros | static_cast<Bits>(~rank));
          ++mine[static_cast<std::size_t>(rank >> shift) & (kBins - 1)];
        }
        found[part] = differences;
      });
    };
    count_keys();
    Differences all;
    for (std::int64_t part = 0; part < parts; ++part) {
      all.ones |= found[part].ones;
      all.zeros |= found[part].zeros;
    }
    const int differing = std::bit_width(static_cast<Bits>(all.ones & all.zeros));
    if (differing == 0) {
      each_part([&](std::int64_t, std::int64_t first, std::int64_t last) noexcept { copy(from, out, first, last); });
      return {};
    }
    if (differing < shift + 1 || (shift > 0 && differing <= shift + 4)) {
      shift = std::max(differing - 8, 0);
      count_keys();
    }
    std::array<std::int64_t, kBins + 1> starts;
    std::int64_t sum = begin;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      starts[bin] = sum;
      for (std::int64_t part = 0; part < parts; ++part) sum += std::exchange(bins[part][bin], sum);
    }
    starts[kBins] = end;
    Run to = shift == 0 ? out : from.meets(spare) ? out : spare;
    if (from.meets(to)) {
      const Run& other = to.keys == out.keys ? spare : out;
      each_part([&](std::int64_t, std::int64_t first, std::int64_t last) noexcept { copy(from, other, first, last); });
      from = other;
    }
    each_part([&](std::int64_t part, std::int64_t first, std::int64_t last) noexcept {
      scatter(from, to, first, last, shift, bins[part].data());
    });
    if (shift == 0) return {};
    const std::int64_t bins_per_block = static_cast<std::int64_t>(kBins) * kSplitGrain.items() / count;
    team_.run(kBins, Grain::of_items(bins_per_block), [&](std::int64_t first, std::int64_t last) noexcept {
      for (; first < last; ++first) {
        const std::int64_t start = starts[static_cast<std::size_t>(first)];
        const std::int64_t stop = starts[static_cast<std::size_t>(first) + 1];
        if (start < stop && stop - start <= kInCache) sort_in_cache(to, out, spare, start, stop, shift);
      }
    });
    for (std::size_t bin = 0; bin < kBins; ++bin)
      if (starts[bin + 1] - starts[bin] > kInCache)
        TROUPE_TRY(split(to, out, spare, starts[bin], starts[bin + 1], shift));
    return {};
  }

  Rank rank_;
  Team& team_;
};

}  // namespace troupe::host
