// Places in an ascending vector, by bisection: several keys at a time, so that the memory has several to look for, and
// without branches, which nobody could foretell.
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/primitives/primitives_bisect.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"

namespace troupe::host {
namespace {

template <class Rank, class I>
void search(Rank rank, const op::PrimitivesSearch& op, const HostViews& here) {
  const HostView keys = here(op.keys);
  const HostView places = here(op.places);
  const Row row = row_of(here(op.sorted));
  const auto grain = Grain::of_ns(2.0 + std::bit_width(static_cast<std::uint64_t>(row.count)));
  const auto run = [&](const auto& sorted) {
    Walk<2>({&keys, &places})
        .run(here.team(), grain, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
          bisect_each(
              sorted, rank, op.after_equal, count, [&](std::int64_t i) { return at[0] + i * step[0]; },
              [&](std::int64_t i, std::int64_t place) { store(at[1] + i * step[1], static_cast<I>(place)); });
        });
  };
  using Bits = typename Rank::Bits;
  if (row.step == std::int64_t{sizeof(Bits)})
    run(PlainRanks<Rank>{rank, row.at, row.count});
  else
    run(SpreadRanks<Rank>{rank, row, row.count});
}

}  // namespace

Result<void> run_op(const op::PrimitivesSearch& op, const HostViews& here) {
  if (op::element_count(op.places) == 0) return {};
  with_rank(op.keys.dtype, SortOrder::ascending, [&](auto rank) {
    with_index(op.places.dtype, [&]<class I>(std::type_identity<I>) { search<decltype(rank), I>(rank, op, here); });
  });
  return {};
}

}  // namespace troupe::host
