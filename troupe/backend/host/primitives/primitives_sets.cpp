// Set operations of ascending vectors. Both are cut where a key begins, so that all that are equal are in one part, and
// parts are independent: they are counted first, then each writes where its keys belong.
#include "troupe/backend/host/primitives/primitives_bisect.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"

namespace troupe::host {
namespace {

template <class Sorted>
std::int64_t find_unsorted(const Sorted& keys, Team& team) noexcept {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  return team.reduce(
      keys.count, Grain::of_bytes(8), kNone,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i)
          if (keys[i] < keys[i - 1]) return i;
        return kNone;
      },
      [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
}

/// Which of two keys a step takes, and whether what it takes is kept.
template <SetOperation operation>
struct Keeps {
  static constexpr bool kOnlyA = operation != SetOperation::intersect;
  static constexpr bool kOnlyB = operation == SetOperation::unite || operation == SetOperation::symmetric_difference;
  static constexpr bool kBoth = operation == SetOperation::unite || operation == SetOperation::intersect;
};

struct Cut {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

template <class Sorted>
class TwoLists {
 public:
  TwoLists(const Sorted& a, const Sorted& b) noexcept : a_(a), b_(b) {}

  /// Behind about so many keys of both together, where a key begins in each.
  Cut cut(std::int64_t keys) const noexcept {
    if (keys <= 0) return {};
    if (keys >= a_.count + b_.count) return {a_.count, b_.count};
    std::int64_t low = std::max<std::int64_t>(0, keys - b_.count), high = std::min(keys, a_.count);
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (a_[middle] <= b_[keys - middle - 1])
        low = middle + 1;
      else
        high = middle;
    }
    const std::int64_t i = low, j = keys - low;
    const bool takes_a = j == b_.count || (i < a_.count && a_[i] <= b_[j]);
    const auto key = takes_a ? a_[i] : b_[j];
    return {first_from(a_, key), first_from(b_, key)};
  }

  /// Keys that are kept from one cut to another. Calls `keep(is_from_a, place)` for each.
  template <SetOperation operation, class Keep>
  std::int64_t merge(Cut from, Cut to, const Keep& keep) const noexcept {
    using K = Keeps<operation>;
    std::int64_t i = from.a, j = from.b, kept = 0;
    while (i < to.a && j < to.b) {
      const auto x = a_[i];
      const auto y = b_[j];
      const bool is_less = x < y, is_greater = y < x;
      const bool is_kept = is_less ? K::kOnlyA : is_greater ? K::kOnlyB : K::kBoth;
      keep(kept, !is_greater, is_greater ? j : i);
      kept += static_cast<std::int64_t>(is_kept);
      i += static_cast<std::int64_t>(!is_greater);
      j += static_cast<std::int64_t>(!is_less);
    }
    if constexpr (K::kOnlyA)
      for (; i < to.a; ++i) keep(kept++, true, i);
    if constexpr (K::kOnlyB)
      for (; j < to.b; ++j) keep(kept++, false, j);
    return kept;
  }

 private:
  static std::int64_t first_from(const Sorted& keys, typename Sorted::Bits key) noexcept {
    std::array<std::int64_t, 1> place;
    bisect(keys, std::array{key}, false, place);
    return place[0];
  }

  const Sorted& a_;
  const Sorted& b_;
};

template <SetOperation operation, class Sorted>
Result<void> make_set(const op::PrimitivesSets& op, const Sorted& a, const Sorted& b, const HostViews& here) {
  using Bits = typename Sorted::Bits;
  Team& team = here.team();
  const Row a_row = row_of(here(op.a));
  const Row b_row = row_of(here(op.b));
  const Row y = row_of(here(op.y));
  const TwoLists<Sorted> lists(a, b);
  const std::int64_t all = a.count + b.count;
  const std::int64_t parts = parts_for(team, all, Grain::of_ns(4));
  const Scratch memory = TROUPE_TRY(make_scratch((parts + 1) * std::int64_t{sizeof(std::int64_t)}));
  auto* const sums = reinterpret_cast<std::int64_t*>(memory.get());
  const auto each_part = [&](const auto& work) {
    team.run(parts, Grain::of_items(1), [&](std::int64_t part, std::int64_t last) noexcept {
      for (; part < last; ++part)
        work(part, lists.cut(part_begin(all, part, parts)), lists.cut(part_begin(all, part + 1, parts)));
    });
  };
  sums[0] = 0;
  each_part([&](std::int64_t part, Cut from, Cut to) noexcept {
    sums[part + 1] = lists.template merge<operation>(from, to, [](std::int64_t, bool, std::int64_t) {});
  });
  for (std::int64_t part = 0; part < parts; ++part) sums[part + 1] += sums[part];
  store(here(op.count).data, sums[parts]);
  each_part([&](std::int64_t part, Cut from, Cut to) noexcept {
    // A key that is not kept is written over by the next one, but only in the part's own room.
    const std::int64_t begin = sums[part];
    const std::int64_t room = sums[part + 1] - begin;
    lists.template merge<operation>(from, to, [&](std::int64_t place, bool is_from_a, std::int64_t at) {
      if (place < room) store_bits(y[begin + place], load_bits<Bits>(is_from_a ? a_row[at] : b_row[at]));
    });
  });
  return {};
}

template <class Sorted>
Result<void> run_sets(const op::PrimitivesSets& op, const Sorted& a, const Sorted& b, const HostViews& here) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::int64_t a_falls = find_unsorted(a, here.team());
  const std::int64_t b_falls = find_unsorted(b, here.team());
  PrimitivesFinding found;
  if (a_falls != kNone) found = {.fault = PrimitivesFault::a_falls, .place = a_falls};
  if (b_falls != kNone) found = earlier(found, {.fault = PrimitivesFault::b_falls, .place = b_falls});
  if (!is_well(found, op.verdict, here)) return {};
  switch (op.operation) {
    case SetOperation::unite: return make_set<SetOperation::unite>(op, a, b, here);
    case SetOperation::intersect: return make_set<SetOperation::intersect>(op, a, b, here);
    case SetOperation::difference: return make_set<SetOperation::difference>(op, a, b, here);
    default: return make_set<SetOperation::symmetric_difference>(op, a, b, here);
  }
}

}  // namespace

Result<void> run_op(const op::PrimitivesSets& op, const HostViews& here) {
  const Row a = row_of(here(op.a));
  const Row b = row_of(here(op.b));
  return with_rank(op.a.dtype, SortOrder::ascending, [&](auto rank) {
    using Rank = decltype(rank);
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(typename Rank::Bits));
    if (a.step == kSize && b.step == kSize)
      return run_sets(op, PlainRanks<Rank>{rank, a.at, a.count}, PlainRanks<Rank>{rank, b.at, b.count}, here);
    return run_sets(op, SpreadRanks<Rank>{rank, a, a.count}, SpreadRanks<Rank>{rank, b, b.count}, here);
  });
}

}  // namespace troupe::host
