// Places in an ascending vector, by bisection: several keys at a time, so that the memory has several to look for, and
// without branches, which nobody could foretell.
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/primitives/primitives_bisect.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"

namespace troupe::host {
namespace {

template <class I, class Sorted, class Rank>
void search_in(const Sorted& sorted, Rank rank, const op::PrimitivesSearch& op, const HostViews& here) {
  const HostView keys = here(op.keys);
  const HostView places = here(op.places);
  const auto grain = Grain::of_ns(2.0 + 2.0 * std::bit_width(static_cast<std::uint64_t>(sorted.count)));
  Walk<2>({&keys, &places})
      .run(here.team(), grain, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
        const auto key_at = [&](std::int64_t i) { return at[0] + i * step[0]; };
        const auto give = [&](std::int64_t i, std::int64_t place) {
          store(at[1] + i * step[1], static_cast<I>(place));
        };
        if (op.after_equal)
          bisect_each<true>(sorted, rank, count, key_at, give);
        else
          bisect_each<false>(sorted, rank, count, key_at, give);
      });
}

template <class Rank, class I>
Result<void> search(Rank rank, const op::PrimitivesSearch& op, const HostViews& here) {
  using Bits = typename Rank::Bits;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Bits));
  constexpr std::int64_t kFew = 8;  // elements for each key: with more, most of them are never looked at
  const Row row = row_of(here(op.sorted));
  if (Rank::kIsWhole && row.step == kSize) {
    search_in<I>(PlainRanks<Rank>{rank, row.at, row.count}, rank, op, here);
    return {};
  }
  if (op::element_count(op.keys) < row.count / kFew) {
    search_in<I>(SpreadRanks<Rank>{rank, row, row.count}, rank, op, here);
    return {};
  }
  // Each rank is made once, and side by side.
  const Scratch memory = TROUPE_TRY(make_scratch(row.count * kSize));
  auto* const ranks = reinterpret_cast<Bits*>(memory.get());
  here.team().run(row.count, Grain::of_bytes(2 * kSize), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) ranks[begin] = rank(load_bits<Bits>(row[begin]));
  });
  search_in<I>(PlainRanks<WholeRank<Bits>>{{}, memory.get(), row.count}, rank, op, here);
  return {};
}

}  // namespace

Result<void> run_op(const op::PrimitivesSearch& op, const HostViews& here) {
  if (op::element_count(op.places) == 0) return {};
  return with_rank(op.keys.dtype, SortOrder::ascending, [&](auto rank) {
    return with_index(op.places.dtype,
                      [&]<class I>(std::type_identity<I>) { return search<decltype(rank), I>(rank, op, here); });
  });
}

}  // namespace troupe::host
