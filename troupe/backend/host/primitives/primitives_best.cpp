// What is best in each row: where the least or the greatest element is, and the k best ones. An element's score is its
// rank in the order that is asked for, the greatest score the best.
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_ranks.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/primitives/primitives_sort.hpp"

namespace troupe::host {
namespace {

template <class Bits>
struct Scored {
  Bits score = 0;
  std::int64_t place = 0;
};
/// Which comes first: the greater score, of equal ones the one in front.
template <class Bits>
bool is_better(const Scored<Bits>& a, const Scored<Bits>& b) noexcept {
  return a.score != b.score ? a.score > b.score : a.place < b.place;
}

SortOrder order_of(bool greatest) noexcept { return greatest ? SortOrder::ascending : SortOrder::descending; }

// ---- the best one ----

/// `shift` is subtracted from ranks: 1 makes a NaN, whose rank is 0 when the order is turned around, the best.
template <class Rank>
class BestOne {
 public:
  using Bits = typename Rank::Bits;
  BestOne(Rank rank, Bits shift) noexcept : rank_(rank), shift_(shift) {}

  Scored<Bits> find(const Row& row, std::int64_t begin, std::int64_t end) const noexcept {
    Scored<Bits> best{0, begin};
    bool has_one = false;
    for (; begin < end; begin += kChunk) {
      const Row chunk = row.part(begin, std::min(begin + kChunk, end));
      const Bits score = best_score(chunk);
      if (has_one && score <= best.score) continue;
      has_one = true;
      best = {score, begin + first_with(chunk, score)};
    }
    return best;
  }

 private:
  static constexpr std::int64_t kChunk = 1024;

  Bits score(const std::byte* at) const noexcept { return static_cast<Bits>(rank_(load_bits<Bits>(at)) - shift_); }
  Bits best_score(const Row& row) const noexcept {
    constexpr std::int64_t kSize = sizeof(Bits);
    Bits best = 0;
    if (row.step == kSize)
      for (std::int64_t i = 0; i < row.count; ++i) best = std::max(best, score(row.at + i * kSize));
    else
      for (std::int64_t i = 0; i < row.count; ++i) best = std::max(best, score(row[i]));
    return best;
  }
  std::int64_t first_with(const Row& row, Bits best) const noexcept {
    for (std::int64_t i = 0; i < row.count; ++i)
      if (score(row[i]) == best) return i;
    return 0;
  }

  Rank rank_;
  Bits shift_;
};

template <class Rank, class I>
void arg_reduce(Rank rank, const op::PrimitivesArgReduce& op, const HostViews& here) {
  using Bits = typename Rank::Bits;
  const HostView x = here(op.x);
  const HostView indices = here(op.indices);
  Team& team = here.team();
  const RowsOf<2> rows({&x, &indices}, x.shape.rank());
  const std::int64_t step = step_of(x);
  const std::int64_t length = length_of(x);
  const BestOne<Rank> best(rank, static_cast<Bits>(is_floating(x.dtype) && !op.greatest ? 1 : 0));
  if (rows.number() < 2 * team.size() && length > (1 << 16))
    return rows.run(0, rows.number(), [&](std::int64_t, const Pointers<2>& at) {
      const Row row{at[0], step, length};
      const auto found = team.reduce(
          length, Grain::of_bytes(sizeof(Bits)), Scored<Bits>{0, -1},
          [&](std::int64_t begin, std::int64_t end) noexcept { return best.find(row, begin, end); },
          [](const Scored<Bits>& a, const Scored<Bits>& b) { return is_better(b, a) ? b : a; });
      store(at[1], static_cast<I>(found.place));
    });
  team.run(rows.number(), Grain::of_bytes(length * static_cast<std::int64_t>(sizeof(Bits))),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             rows.run(begin, end, [&](std::int64_t, const Pointers<2>& at) {
               store(at[1], static_cast<I>(best.find({at[0], step, length}, 0, length).place));
             });
           });
}

// ---- the k best ones ----

/// Keeps the best of what it is shown, which come in the order of their places.
template <class Bits>
class Candidates {
 public:
  Candidates(Scored<Bits>* room, std::int64_t k) noexcept : all_(room), k_(k) {}

  static std::int64_t room_for(std::int64_t k) noexcept { return 2 * k + 1024; }

  void show(Bits score, std::int64_t place) noexcept {
    if (is_full_ && score <= bar_) return;
    all_[count_++] = {score, place};
    if (count_ == room_for(k_)) keep_best();
  }
  void keep_best() noexcept {
    if (count_ <= k_ || k_ == 0) return;
    std::nth_element(all_, all_ + (k_ - 1), all_ + count_, is_better<Bits>);
    count_ = k_;
    bar_ = all_[k_ - 1].score;
    is_full_ = true;
  }
  std::int64_t count() const noexcept { return count_; }

 private:
  Scored<Bits>* all_;
  std::int64_t k_;
  std::int64_t count_ = 0;
  Bits bar_ = 0;  // whoever comes later must have more, once there are enough
  bool is_full_ = false;
};

struct TopRow {
  Row keys;
  Row best;
  Row indices;
};

template <class Rank, class I>
class TopK {
 public:
  using Bits = typename Rank::Bits;
  TopK(Rank rank, std::int64_t k) noexcept : rank_(rank), k_(k) {}

  /// The best of a part of a row, in any order; how many.
  std::int64_t select(const Row& keys, std::int64_t begin, std::int64_t end, Scored<Bits>* room) const noexcept {
    Candidates<Bits> candidates(room, k_);
    for (; begin < end; ++begin) candidates.show(rank_(load_bits<Bits>(keys[begin])), begin);
    candidates.keep_best();
    return candidates.count();
  }
  void give(Scored<Bits>* all, std::int64_t count, const TopRow& row) const noexcept {
    if (count > k_) std::nth_element(all, all + (k_ - 1), all + count, is_better<Bits>);
    std::sort(all, all + k_, is_better<Bits>);
    for (std::int64_t i = 0; i < k_; ++i) {
      store_bits(row.best[i], load_bits<Bits>(row.keys[all[i].place]));
      store(row.indices[i], static_cast<I>(all[i].place));
    }
  }
  Result<void> run(const TopRow& row, Team& team) const {
    const std::int64_t room = Candidates<Bits>::room_for(k_);
    const std::int64_t parts = std::clamp<std::int64_t>(row.keys.count / std::max<std::int64_t>(8 * k_, 1 << 15), 1,
                                                        std::int64_t{2} * team.size());
    const Scratch memory = TROUPE_TRY(make_scratch(parts * room * std::int64_t{sizeof(Scored<Bits>)}));
    auto* const all = reinterpret_cast<Scored<Bits>*>(memory.get());
    const Scratch counts_memory = TROUPE_TRY(make_scratch(parts * std::int64_t{sizeof(std::int64_t)}));
    auto* const counts = reinterpret_cast<std::int64_t*>(counts_memory.get());
    team.run(parts, Grain::of_items(1), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin)
        counts[begin] = select(row.keys, part_begin(row.keys.count, begin, parts),
                               part_begin(row.keys.count, begin + 1, parts), all + begin * room);
    });
    std::int64_t count = counts[0];
    for (std::int64_t part = 1; part < parts; ++part) {
      std::copy_n(all + part * room, counts[part], all + count);
      count += counts[part];
    }
    give(all, count, row);
    return {};
  }

 private:
  Rank rank_;
  std::int64_t k_;
};

/// Where most of a row is wanted: its first ones when it is sorted.
Result<void> sort_for_top(const op::PrimitivesTopK& op, const TopRow& row, std::int64_t k, Team& team) {
  const std::int64_t count = row.keys.count;
  const SortTask task{.order = op.greatest ? SortOrder::descending : SortOrder::ascending, .keys = op.keys.dtype};
  RowSorter sorter = TROUPE_TRY(RowSorter::make(task, count));
  const Scratch places = TROUPE_TRY(make_scratch(count * std::int64_t{sizeof(std::int64_t)}));
  TROUPE_TRY(sorter.sort({.keys = row.keys, .indices = {places.get(), sizeof(std::int64_t), count}}, team));
  const std::int64_t size = size_bytes(op.keys.dtype);
  with_index(op.indices.dtype, [&]<class I>(std::type_identity<I>) {
    team.run(k, Grain::of_ns(2), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin) {
        const std::int64_t place = reinterpret_cast<const std::int64_t*>(places.get())[begin];
        std::memcpy(row.best[begin], row.keys[place], static_cast<std::size_t>(size));
        store(row.indices[begin], static_cast<I>(place));
      }
    });
  });
  return {};
}

}  // namespace

Result<void> run_op(const op::PrimitivesArgReduce& op, const HostViews& here) {
  if (op::element_count(op.indices) == 0) return {};
  with_rank(op.x.dtype, order_of(op.greatest), [&](auto rank) {
    with_index(op.indices.dtype,
               [&]<class I>(std::type_identity<I>) { arg_reduce<decltype(rank), I>(rank, op, here); });
  });
  return {};
}

Result<void> run_op(const op::PrimitivesTopK& op, const HostViews& here) {
  constexpr double kNsPerKey = 2;
  const HostView keys = here(op.keys);
  const HostView best = here(op.best);
  const HostView indices = here(op.indices);
  if (best.data == nullptr) return {};
  Team& team = here.team();
  const std::int64_t length = length_of(keys);
  const std::int64_t k = length_of(best);
  const RowsOf<3> rows({&keys, &best, &indices}, keys.shape.rank());
  const auto row_at = [&](std::int64_t row) {
    const Pointers<3> at = rows.at(row);
    return TopRow{.keys = {at[0], step_of(keys), length},
                  .best = {at[1], step_of(best), k},
                  .indices = {at[2], step_of(indices), k}};
  };
  const auto run_rows = [&](const auto& run_one) -> Result<void> {
    if (rows.number() < 2 * team.size() && length > (1 << 15)) {
      for (std::int64_t row = 0; row < rows.number(); ++row) TROUPE_TRY(run_one(row_at(row)));
      return {};
    }
    return try_each(team, rows.number(), Grain::of_ns(kNsPerKey * static_cast<double>(length)),
                    [&](std::int64_t row) { return run_one(row_at(row)); });
  };
  if (k > 1024 && k > length / 16) return run_rows([&](const TopRow& row) { return sort_for_top(op, row, k, team); });
  return with_rank(keys.dtype, order_of(op.greatest), [&](auto rank) {
    return with_index(indices.dtype, [&]<class I>(std::type_identity<I>) {
      return run_rows([&](const TopRow& row) { return TopK<decltype(rank), I>(rank, k).run(row, team); });
    });
  });
}

}  // namespace troupe::host
