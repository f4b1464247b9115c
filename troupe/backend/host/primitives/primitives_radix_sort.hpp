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
    if constexpr (kIsCounted)
      if (count > kShort) return write_counted(from, out, count);
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

  /// Bytes that are integers need not move: how many there are of each says everything.
  static constexpr bool kIsCounted = !kHasValues && sizeof(Bits) == 1 && Rank::kIsWhole;

  template <class Count>
  using Bins = std::array<Count, kBins>;

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
    const auto move = [=, rank = rank_](const auto& value) {  // nothing of it is read again after a write
      for (std::int64_t i = begin; i < end; ++i) {
        const Bits key = from.keys[i];
        const Count place = next[static_cast<std::size_t>(rank(key) >> shift) & (kBins - 1)]++;
        to.keys[place] = key;
        if constexpr (kHasValues) to.values[place] = value(i);
      }
    };
    if constexpr (kHasValues)
      if (from.values == nullptr) return move([](std::int64_t i) { return static_cast<Value>(i); });
    move([&](std::int64_t i) { return from.values[i]; });
  }

  /// Moves at most so many elements, and no more than one element's way beyond; false when that was not enough. What it
  /// leaves is still stable.
  bool insert(const Run& run, std::int64_t begin, std::int64_t end, std::int64_t moves) const noexcept {
    const Rank rank_of = rank_;
    Bits before = rank_of(run.keys[begin]);
    for (std::int64_t i = begin + 1; i < end; ++i) {
      const Bits key = run.keys[i];
      const Bits rank = rank_of(key);
      if (before <= rank) {
        before = rank;
        continue;
      }
      [[maybe_unused]] const Value value = value_of(run, i);
      std::int64_t to = i;
      for (; to > begin && rank_of(run.keys[to - 1]) > rank; --to) {
        run.keys[to] = run.keys[to - 1];
        if constexpr (kHasValues) run.values[to] = run.values[to - 1];
      }
      run.keys[to] = key;
      if constexpr (kHasValues) run.values[to] = value;
      moves -= i - to;
      if (moves < 0) return false;
    }
    return true;
  }

  /// Digits of ranks that differ in their last `bits` bits, the foremost first. The last one may reach into the one
  /// before it.
  static int shift_of(int digit, int bits) noexcept { return std::max(bits - 8 * (digit + 1), 0); }

  /// Ranks differ in their last `bits` bits alone.
  void sort_in_cache(const Run& from, const Run& out, const Run& spare, std::int64_t begin, std::int64_t end,
                     int bits) const noexcept {
    const std::int64_t count = end - begin;
    if (count <= kShort) {
      copy(from, out, begin, end);
      (void)insert(out, begin, end, count * count);
      return;
    }
    const int digits = (bits + 7) / 8;
    const int enough = digits > 3 || (digits == 3 && count < 4096) ? enough_digits(from, begin, end, bits) : digits;
    if (enough + 1 < digits) {
      sort_by_digits(from, out, spare, begin, end, bits, enough);
      if (insert(out, begin, end, count)) return;
      return sort_by_digits(out, out, spare, begin, end, bits, digits);
    }
    sort_by_digits(from, out, spare, begin, end, bits, digits);
  }

  /// So many of the foremost digits that few keys are equal in them, if a sample tells what all are like.
  int enough_digits(const Run& from, std::int64_t begin, std::int64_t end, int bits) const noexcept {
    constexpr std::int64_t kSample = 128;
    constexpr double kFewEqual = 0.25;
    const std::int64_t count = end - begin;
    const std::int64_t some = std::min(kSample, count);
    const std::int64_t step = count / some;
    const int digits = (bits + 7) / 8;
    std::array<Bits, kSample> ranks;
    for (std::int64_t i = 0; i < some; ++i) ranks[static_cast<std::size_t>(i)] = rank_(from.keys[begin + i * step]);
    double equal = static_cast<double>(count) / 2;  // how many a key is equal to, on the average
    for (int digit = 0; digit < digits; ++digit) {
      if (equal <= kFewEqual) return digit;
      Bins<std::uint8_t> bins{};
      std::int64_t pairs = 1;
      for (std::int64_t i = 0; i < some; ++i)
        pairs +=
            bins[static_cast<std::size_t>(ranks[static_cast<std::size_t>(i)] >> shift_of(digit, bits)) & (kBins - 1)]++;
      equal *= static_cast<double>(pairs) / (static_cast<double>(some) * static_cast<double>(some - 1) / 2);
    }
    return digits;
  }

  template <std::size_t number>
  void count_digits(const Bits* begin, const Bits* end, int bits, Bins<std::uint32_t>* counts) const noexcept {
    std::array<int, number> shifts;
    for (std::size_t d = 0; d < number; ++d) {
      shifts[d] = shift_of(static_cast<int>(d), bits);
      counts[d].fill(0);
    }
    for (const Rank rank_of = rank_; begin < end; ++begin) {
      const Bits rank = rank_of(*begin);
      for (std::size_t d = 0; d < number; ++d) ++counts[d][static_cast<std::size_t>(rank >> shifts[d]) & (kBins - 1)];
    }
  }

  /// By so many of the foremost digits, from the last of them on.
  void sort_by_digits(Run from, const Run& out, const Run& spare, std::int64_t begin, std::int64_t end, int bits,
                      int digits) const noexcept {
    std::array<Bins<std::uint32_t>, kDigits> counts;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((digits == static_cast<int>(i + 1) ? count_digits<i + 1>(from.keys + begin, from.keys + end, bits, counts.data())
                                          : void()),
       ...);
    }(std::make_index_sequence<kDigits>{});
    const Bits first = rank_(from.keys[begin]);
    std::array<int, kDigits> passes;
    int number = 0;
    for (int d = digits - 1; d >= 0; --d)
      if (counts[static_cast<std::size_t>(d)][static_cast<std::size_t>(first >> shift_of(d, bits)) & (kBins - 1)] !=
          end - begin)
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
      scatter(from, to.from(begin), begin, end, shift_of(d, bits), next.data());
      from = to;
      to = (number - pass) % 2 == 0 ? out : spare;
    }
  }

  Result<void> write_counted(const Run& from, const Run& out, std::int64_t count) const {
    constexpr std::size_t kTables = 4;  // equal neighbours do not wait for each other
    const std::int64_t parts = std::clamp<std::int64_t>(count / (4 * kSplitGrain.items()), 1, team_.size());
    const Scratch memory = TROUPE_TRY(make_scratch(parts * std::int64_t{sizeof(Bins<std::int64_t>)}));
    auto* const bins = reinterpret_cast<Bins<std::int64_t>*>(memory.get());
    const auto part_begin = [&](std::int64_t part) { return count / parts * part + std::min(part, count % parts); };
    team_.run(parts, Grain::of_items(1), [&](std::int64_t part, std::int64_t last) noexcept {
      for (; part < last; ++part) {
        bins[part].fill(0);
        for (std::int64_t begin = part_begin(part), end = part_begin(part + 1); begin < end;) {
          const std::int64_t stop = std::min(end, begin + (std::int64_t{1} << 30));
          std::array<Bins<std::uint32_t>, kTables> tables{};
          for (; begin + 8 <= stop; begin += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, from.keys + begin, sizeof(eight));
            for (std::size_t i = 0; i < 8; ++i) ++tables[i % kTables][(eight >> (8 * i)) & 0xff];
          }
          for (; begin < stop; ++begin) ++tables[0][from.keys[begin]];
          for (std::size_t bin = 0; bin < kBins; ++bin)
            for (const Bins<std::uint32_t>& table : tables) bins[part][rank_(static_cast<Bits>(bin))] += table[bin];
        }
      }
    });
    Bins<std::int64_t>& starts = bins[0];
    std::int64_t sum = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      std::int64_t all = 0;
      for (std::int64_t part = 0; part < parts; ++part) all += bins[part][bin];
      starts[bin] = std::exchange(sum, sum + all);
    }
    team_.run(kBins, Grain::of_items(Grain::kBlockBytes * std::int64_t{kBins} / count),
              [&](std::int64_t bin, std::int64_t last) noexcept {
                for (; bin < last; ++bin) {
                  const auto at = static_cast<std::size_t>(bin);
                  const std::int64_t end = at + 1 < kBins ? starts[at + 1] : count;
                  // The mask that makes the rank of the key makes the key of the rank.
                  if (starts[at] < end)
                    std::memset(out.keys + starts[at], rank_(static_cast<Bits>(bin)),
                                static_cast<std::size_t>(end - starts[at]));
                }
              });
    return {};
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
