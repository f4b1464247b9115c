#include "troupe/backend/host/primitives/primitives_sort.hpp"

#include "troupe/backend/host/kernels/element_size.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_radix_sort.hpp"
#include "troupe/backend/host/primitives/primitives_ranks.hpp"

namespace troupe::host {
namespace {

constexpr std::int64_t kMostShortPositions = std::int64_t{1} << 32;

template <class T>
T* as(const Scratch& scratch) noexcept {
  return reinterpret_cast<T*>(scratch.get());
}

/// Small values move with their keys; of others the positions do.
bool moves_along(std::int64_t value_size) noexcept { return value_size == 4 || value_size == 8; }

void pack_by_team(const Row& row, std::int64_t size, std::byte* to, Team& team) noexcept {
  team.run(row.count, Grain::of_bytes(2 * size), [&](std::int64_t begin, std::int64_t end) noexcept {
    pack_row(row.part(begin, end), size, to + begin * size);
  });
}
void unpack_by_team(const std::byte* from, std::int64_t size, const Row& row, Team& team) noexcept {
  team.run(row.count, Grain::of_bytes(2 * size), [&](std::int64_t begin, std::int64_t end) noexcept {
    unpack_row(from + begin * size, size, row.part(begin, end));
  });
}

/// Sorts rows of views that have the same rows: one after the other by the team, or each by one of its threads.
Result<void> sort_rows(const SortTask& task, std::int64_t rows, std::int64_t length, Team& team, const auto& row_at) {
  constexpr double kNsPerKey = 10;
  if (rows == 0 || length == 0) return {};
  const bool one_by_one = rows < 2 * team.size() && length >= (1 << 15);
  if (one_by_one) {
    RowSorter sorter = TROUPE_TRY(RowSorter::make(task, length));
    for (std::int64_t row = 0; row < rows; ++row) TROUPE_TRY(sorter.sort(row_at(row), team));
    return {};
  }
  const std::int64_t parts = parts_for(team, rows, Grain::of_ns(kNsPerKey * static_cast<double>(length)));
  return try_each(team, parts, Grain::of_items(1), [&](std::int64_t part) -> Result<void> {
    RowSorter sorter = TROUPE_TRY(RowSorter::make(task, length));
    const std::int64_t end = part_begin(rows, part + 1, parts);
    for (std::int64_t row = part_begin(rows, part, parts); row < end; ++row)
      TROUPE_TRY(sorter.sort(row_at(row), team));
    return {};
  });
}

Row row_at(const HostView& view, std::byte* at) noexcept { return {at, step_of(view), length_of(view)}; }

}  // namespace

Result<RowSorter> RowSorter::make(const SortTask& task, std::int64_t most) {
  RowSorter made;
  made.task_ = task;
  made.key_size_ = size_bytes(task.keys);
  made.moving_size_ = moves_along(task.value_size) ? task.value_size : most < kMostShortPositions ? 4 : 8;
  made.keys_ = TROUPE_TRY(make_scratch(most * made.key_size_));
  made.spare_keys_ = TROUPE_TRY(make_scratch(most * made.key_size_));
  made.moving_ = TROUPE_TRY(make_scratch(most * made.moving_size_));
  made.spare_moving_ = TROUPE_TRY(make_scratch(most * made.moving_size_));
  if (task.value_size != 0 && !moves_along(task.value_size))
    made.values_ = TROUPE_TRY(make_scratch(most * task.value_size));
  return made;
}

Result<void> RowSorter::sort(const SortRow& row, Team& team) {
  // Bools become 0 and 1 first, so that their bits are their ranks.
  const DType keys = task_.keys == DType::boolean ? DType::u8 : task_.keys;
  return with_rank(keys, task_.order, [&](auto rank) { return sort_by(rank, row, team); });
}

template <class Rank>
Result<void> RowSorter::sort_by(Rank rank, const SortRow& row, Team& team) {
  if constexpr (std::same_as<Rank, TruthRank>) {
    return {};
  } else {
    if (row.values.at == nullptr && row.indices.at == nullptr) return sort_with<Rank, NoValue>(rank, row, team);
    if (moving_size_ == 4) return sort_with<Rank, std::uint32_t>(rank, row, team);
    return sort_with<Rank, std::uint64_t>(rank, row, team);
  }
}

template <class Rank, class Value>
Result<void> RowSorter::sort_with(Rank rank, const SortRow& row, Team& team) {
  using Bits = typename Rank::Bits;
  using Run = SortedRun<Bits, Value>;
  const std::int64_t count = row.keys.count;
  const bool gives_keys = row.sorted.at != nullptr && row.sorted.is_plain(sizeof(Bits));
  const bool carries_values = task_.value_size != 0 && moves_along(task_.value_size);
  Run out{gives_keys ? reinterpret_cast<Bits*>(row.sorted.at) : as<Bits>(keys_)};
  Run from = out;
  const Run spare{as<Bits>(spare_keys_), as<Value>(spare_moving_)};
  if (task_.keys == DType::boolean) {
    for (std::int64_t i = 0; i < count; ++i) out.keys[i] = static_cast<Bits>(load<bool>(row.keys[i]));
  } else if (row.keys.is_plain(sizeof(Bits))) {
    from.keys = reinterpret_cast<Bits*>(row.keys.at);
  } else {
    pack_by_team(row.keys, key_size_, reinterpret_cast<std::byte*>(out.keys), team);
  }
  out.values = as<Value>(moving_);
  if constexpr (!std::same_as<Value, NoValue>) {
    if (carries_values) {
      if (row.moved.is_plain(sizeof(Value))) out.values = reinterpret_cast<Value*>(row.moved.at);
      from.values = out.values;
      if (row.values.is_plain(sizeof(Value)))
        from.values = reinterpret_cast<Value*>(row.values.at);
      else
        pack_by_team(row.values, task_.value_size, reinterpret_cast<std::byte*>(out.values), team);
    }
  }
  TROUPE_TRY((RadixSort<Rank, Value>(rank, team).sort(from, out, spare, count)));
  if (row.sorted.at != nullptr && !gives_keys)
    unpack_by_team(reinterpret_cast<const std::byte*>(out.keys), key_size_, row.sorted, team);
  if constexpr (!std::same_as<Value, NoValue>) {
    if (!carries_values)
      give_positions(out.values, row, team);
    else if (reinterpret_cast<std::byte*>(out.values) != row.moved.at)
      unpack_by_team(reinterpret_cast<const std::byte*>(out.values), task_.value_size, row.moved, team);
  }
  return {};
}

/// Writes where keys were, or moves values from there.
template <class Position>
void RowSorter::give_positions(const Position* positions, const SortRow& row, Team& team) const noexcept {
  if (row.indices.at != nullptr)
    with_index(task_.indices, [&]<class I>(std::type_identity<I>) {
      team.run(row.indices.count, Grain::of_bytes(sizeof(Position) + sizeof(I)),
               [&](std::int64_t begin, std::int64_t end) noexcept {
                 if (row.indices.is_plain(sizeof(I)))
                   std::copy(positions + begin, positions + end, reinterpret_cast<I*>(row.indices.at) + begin);
                 else
                   for (; begin < end; ++begin) store(row.indices[begin], static_cast<I>(positions[begin]));
               });
    });
  if (row.values.at == nullptr) return;
  pack_by_team(row.values, task_.value_size, values_.get(), team);
  with_size(task_.value_size, [&](auto size) {
    constexpr std::size_t kSize = size;
    team.run(row.moved.count, Grain::of_bytes(4 * static_cast<std::int64_t>(kSize)),
             [&](std::int64_t begin, std::int64_t end) noexcept {
               for (; begin < end; ++begin)
                 std::memcpy(row.moved[begin], values_.get() + static_cast<std::int64_t>(positions[begin]) * kSize,
                             kSize);
             });
  });
}

Result<void> run_op(const op::PrimitivesSort& op, const HostViews& here) {
  const HostView keys = here(op.keys);
  const HostView sorted = here(op.sorted);
  if (sorted.data == nullptr) return {};
  const HostView values = op.has_values ? here(op.values) : keys;
  const HostView moved = op.has_values ? here(op.moved) : sorted;
  const SortTask task{
      .order = op.order, .keys = keys.dtype, .value_size = op.has_values ? size_bytes(values.dtype) : 0};
  const RowsOf<4> rows({&keys, &sorted, &values, &moved}, keys.shape.rank());
  return sort_rows(task, rows.number(), length_of(keys), here.team(), [&](std::int64_t row) {
    const Pointers<4> at = rows.at(row);
    SortRow one{.keys = row_at(keys, at[0]), .sorted = row_at(sorted, at[1])};
    if (op.has_values) {
      one.values = row_at(values, at[2]);
      one.moved = row_at(moved, at[3]);
    }
    return one;
  });
}

Result<void> run_op(const op::PrimitivesArgSort& op, const HostViews& here) {
  const HostView keys = here(op.keys);
  const HostView indices = here(op.indices);
  if (indices.data == nullptr) return {};
  const SortTask task{.order = op.order, .keys = keys.dtype, .indices = indices.dtype};
  const RowsOf<2> rows({&keys, &indices}, keys.shape.rank());
  return sort_rows(task, rows.number(), length_of(keys), here.team(), [&](std::int64_t row) {
    const Pointers<2> at = rows.at(row);
    return SortRow{.keys = row_at(keys, at[0]), .indices = row_at(indices, at[1])};
  });
}

Result<void> run_op(const op::PrimitivesSegmentedSort& op, const HostViews& here) {
  constexpr std::int64_t kLong = std::int64_t{1} << 17;  // from there on a segment is sorted by the whole team
  constexpr double kNsPerKey = 10;
  const HostView keys = here(op.keys);
  const HostView sorted = here(op.sorted);
  const Offsets offsets = TROUPE_TRY(Offsets::read(here(op.offsets), keys.shape[0], here.team()));
  if (!is_well(offsets.found(), op.verdict, here) || sorted.data == nullptr) return {};
  const Row keys_row = row_of(keys);
  const Row sorted_row = row_of(sorted);
  const Row values_row = op.has_values ? row_of(here(op.values)) : Row{};
  const Row moved_row = op.has_values ? row_of(here(op.moved)) : Row{};
  const SortTask task{
      .order = op.order, .keys = keys.dtype, .value_size = op.has_values ? size_bytes(op.values.dtype) : 0};
  const auto segment = [&](std::int64_t i) {
    SortRow row{.keys = keys_row.part(offsets[i], offsets[i + 1]),
                .sorted = sorted_row.part(offsets[i], offsets[i + 1])};
    if (op.has_values) {
      row.values = values_row.part(offsets[i], offsets[i + 1]);
      row.moved = moved_row.part(offsets[i], offsets[i + 1]);
    }
    return row;
  };
  TROUPE_TRY(offsets.each_part(here.team(), Grain::of_ns(kNsPerKey), [&](std::int64_t begin, std::int64_t end) -> Result<void> {
    std::int64_t most = 0;
    for (std::int64_t i = begin; i < end; ++i)
      if (const std::int64_t count = offsets[i + 1] - offsets[i]; count < kLong) most = std::max(most, count);
    RowSorter sorter = TROUPE_TRY(RowSorter::make(task, most));
    for (std::int64_t i = begin; i < end; ++i)
      if (const std::int64_t count = offsets[i + 1] - offsets[i]; count > 0 && count < kLong)
        TROUPE_TRY(sorter.sort(segment(i), here.team()));
    return {};
  }));
  for (std::int64_t i = 0; i < offsets.segments(); ++i) {
    const std::int64_t count = offsets[i + 1] - offsets[i];
    if (count < kLong) continue;
    RowSorter sorter = TROUPE_TRY(RowSorter::make(task, count));
    TROUPE_TRY(sorter.sort(segment(i), here.team()));
  }
  return {};
}

}  // namespace troupe::host
