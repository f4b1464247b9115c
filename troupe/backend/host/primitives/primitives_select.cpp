// Some elements of a vector, close together: those with a flag, and the first of each run. Parts of the vector are
// counted first, so that each part knows where its elements go.
#include "troupe/backend/host/kernels/element_size.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_ranks.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"

namespace troupe::host {
namespace {

constexpr std::int64_t kSelectBlock = 512;
/// Whether elements of a block are chosen: 1 or 0 for each.
using Chosen = std::array<std::uint8_t, kSelectBlock>;

/// How many of a vector's elements are chosen in each part.
struct Parts {
  std::int64_t begin(std::int64_t part) const noexcept { return part_begin(count, part, number); }
  /// Elements that are chosen before the part, or in all parts.
  std::int64_t before(std::int64_t part) const noexcept {
    return reinterpret_cast<const std::int64_t*>(sums.get())[part];
  }
  std::int64_t count = 0;
  std::int64_t number = 1;
  Scratch sums;
};

/// `choose(begin, end, chosen)` says of some elements which are chosen.
template <class Choose>
Result<Parts> count_chosen(std::int64_t count, Team& team, const Choose& choose) {
  Parts parts;
  parts.count = count;
  parts.number = parts_for(team, count, Grain::of_ns(1));
  parts.sums = TROUPE_TRY(make_scratch((parts.number + 1) * std::int64_t{sizeof(std::int64_t)}));
  auto* const sums = reinterpret_cast<std::int64_t*>(parts.sums.get());
  sums[0] = 0;
  team.run(parts.number, Grain::of_items(1), [&](std::int64_t part, std::int64_t last) noexcept {
    for (; part < last; ++part) {
      std::int64_t sum = 0;
      for (std::int64_t begin = parts.begin(part), end = parts.begin(part + 1); begin < end; begin += kSelectBlock) {
        const std::int64_t some = std::min(kSelectBlock, end - begin);
        Chosen chosen;
        choose(begin, begin + some, chosen);
        std::uint32_t in_block = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(some); ++i) in_block += chosen[i];
        sum += in_block;
      }
      sums[part + 1] = sum;
    }
  });
  for (std::int64_t part = 0; part < parts.number; ++part) sums[part + 1] += sums[part];
  return parts;
}

/// Calls `give(begin, end, chosen, before)` for blocks of all elements, `before` of which are chosen ahead of it.
template <class Choose, class Give>
void each_block(const Parts& parts, Team& team, const Choose& choose, const Give& give) noexcept {
  team.run(parts.number, Grain::of_items(1), [&](std::int64_t part, std::int64_t last) noexcept {
    for (; part < last; ++part) {
      std::int64_t before = parts.before(part);
      for (std::int64_t begin = parts.begin(part), end = parts.begin(part + 1); begin < end; begin += kSelectBlock) {
        const std::int64_t some = std::min(kSelectBlock, end - begin);
        Chosen chosen;
        choose(begin, begin + some, chosen);
        before += give(begin, begin + some, chosen, before);
      }
    }
  });
}

template <std::size_t size>
struct Raw {
  std::array<std::byte, size> bytes;
};

/// Writes what `element(i)` is for those of a block that are chosen (or are not: `which` 0) to `to`, from place `place`
/// on. Without a branch: each is put where the next chosen one belongs, in a block of its own. Gives how many.
template <class T, class ElementAt>
std::int64_t give_chosen(std::int64_t begin, std::int64_t end, const Chosen& chosen, std::uint8_t which,
                         const ElementAt& element, const Row& to, std::int64_t place) noexcept {
  std::array<T, kSelectBlock + 1> block;
  std::size_t count = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    block[count] = element(i);
    count += static_cast<std::size_t>(chosen[static_cast<std::size_t>(i - begin)] == which);
  }
  const auto written = static_cast<std::int64_t>(count);
  if (to.step == static_cast<std::int64_t>(sizeof(T)))
    std::memcpy(to[place], block.data(), count * sizeof(T));
  else
    for (std::int64_t i = 0; i < written; ++i) std::memcpy(to[place + i], &block[static_cast<std::size_t>(i)], sizeof(T));
  return written;
}

void give_count(const op::View& count, std::int64_t number, const HostViews& here) noexcept {
  store(here(count).data, number);
}

template <class T>
auto element_of(const Row& row) noexcept {
  return [=](std::int64_t i) {
    T element;
    std::memcpy(&element, row[i], sizeof(T));
    return element;
  };
}

template <class T, class ElementAt, class Choose>
void give_selected(const Parts& parts, bool keeps_rest, const ElementAt& element, const Row& y, Team& team,
                   const Choose& choose) noexcept {
  const std::int64_t all = parts.before(parts.number);
  each_block(parts, team, choose,
             [&](std::int64_t begin, std::int64_t end, const Chosen& chosen, std::int64_t before) noexcept {
               const std::int64_t written = give_chosen<T>(begin, end, chosen, 1, element, y, before);
               if (keeps_rest) give_chosen<T>(begin, end, chosen, 0, element, y, all + begin - before);
               return written;
             });
}

// ---- runs ----

/// Whether elements differ from the one before them.
template <class Rank>
auto choose_starts(Rank rank, const Row& x) noexcept {
  return [=](std::int64_t begin, std::int64_t end, Chosen& chosen) noexcept {
    using Bits = typename Rank::Bits;
    Bits before = begin > 0 ? rank(load_bits<Bits>(x[begin - 1])) : Bits{0};
    for (std::int64_t i = begin; i < end; ++i) {
      const Bits now = rank(load_bits<Bits>(x[i]));
      chosen[static_cast<std::size_t>(i - begin)] = static_cast<std::uint8_t>(now != before);
      before = now;
    }
    if (begin == 0) chosen[0] = 1;
  };
}

/// lengths[i] becomes what lies between start i and the next, of starts that are in `places`.
template <class I>
void give_lengths(const std::int64_t* places, std::int64_t runs, std::int64_t elements, const Row& lengths,
                  Team& team) noexcept {
  team.run(runs, Grain::of_bytes(16), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const std::int64_t next = begin + 1 < runs ? places[begin + 1] : elements;
      store(lengths[begin], static_cast<I>(next - places[begin]));
    }
  });
}

template <class Rank>
Result<void> find_runs(Rank rank, const op::PrimitivesUnique& op, const HostViews& here) {
  using Bits = typename Rank::Bits;
  Team& team = here.team();
  const Row x = row_of(here(op.x));
  const Row y = row_of(here(op.y));
  const auto choose = choose_starts(rank, x);
  const Parts parts = TROUPE_TRY(count_chosen(x.count, team, choose));
  const std::int64_t runs = parts.before(parts.number);
  give_count(op.count, runs, here);
  give_selected<Bits>(parts, false, element_of<Bits>(x), y, team, choose);
  if (!op.has_lengths) return {};
  const Scratch memory = TROUPE_TRY(make_scratch(runs * std::int64_t{sizeof(std::int64_t)}));
  auto* const places = reinterpret_cast<std::int64_t*>(memory.get());
  const Row to{memory.get(), sizeof(std::int64_t), runs};
  give_selected<std::int64_t>(parts, false, [](std::int64_t i) { return i; }, to, team, choose);
  with_index(op.lengths.dtype, [&]<class I>(std::type_identity<I>) {
    give_lengths<I>(places, runs, x.count, row_of(here(op.lengths)), team);
  });
  return {};
}

}  // namespace

Result<void> run_op(const op::PrimitivesSelect& op, const HostViews& here) {
  Team& team = here.team();
  const Row flags = row_of(here(op.flags));
  const auto choose = [flags](std::int64_t begin, std::int64_t end, Chosen& chosen) noexcept {
    for (std::int64_t i = begin; i < end; ++i)
      chosen[static_cast<std::size_t>(i - begin)] = static_cast<std::uint8_t>(load<bool>(flags[i]));
  };
  const Parts parts = TROUPE_TRY(count_chosen(flags.count, team, choose));
  give_count(op.count, parts.before(parts.number), here);
  const Row y = row_of(here(op.y));
  if (flags.count == 0) return {};
  if (!op.has_x) {
    with_index(op.y.dtype, [&]<class I>(std::type_identity<I>) {
      give_selected<I>(parts, op.keeps_rest, [](std::int64_t i) { return static_cast<I>(i); }, y, team, choose);
    });
    return {};
  }
  with_size(size_bytes(op.x.dtype), [&](auto size) {
    using T = Raw<size>;
    give_selected<T>(parts, op.keeps_rest, element_of<T>(row_of(here(op.x))), y, team, choose);
  });
  return {};
}

Result<void> run_op(const op::PrimitivesUnique& op, const HostViews& here) {
  if (op.x.shape[0] == 0) {
    give_count(op.count, 0, here);
    return {};
  }
  return with_rank(op.x.dtype, SortOrder::ascending, [&](auto rank) { return find_runs(rank, op, here); });
}

}  // namespace troupe::host
