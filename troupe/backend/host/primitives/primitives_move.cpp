// Gather and scatter. Indices are looked at first, all of them, so that nothing is written when one is outside.
#include "troupe/backend/host/kernels/element_size.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/primitives/primitives_functions.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"

namespace troupe::host {
namespace {

/// The first of a part of a row that is not less than `length`, as an unsigned number; the count when there is none.
template <class I>
std::int64_t find_outside(const Row& row, std::int64_t length) noexcept {
  constexpr std::int64_t kBlock = 512;
  const auto is_outside = [length](I index) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(index)) >= static_cast<std::uint64_t>(length);
  };
  for (std::int64_t done = 0; done < row.count; done += kBlock) {
    const Row block = row.part(done, std::min(done + kBlock, row.count));
    bool has_one = false;
    if (block.step == std::int64_t{sizeof(I)})
      for (std::int64_t i = 0; i < block.count; ++i)
        has_one |= is_outside(load<I>(block.at + i * std::int64_t{sizeof(I)}));
    else
      for (std::int64_t i = 0; i < block.count; ++i) has_one |= is_outside(load<I>(block[i]));
    if (!has_one) continue;
    for (std::int64_t i = 0; i < block.count; ++i)
      if (is_outside(load<I>(block[i]))) return done + i;
  }
  return row.count;
}

/// What is wrong with indices of rows of that length.
template <class I>
PrimitivesFinding check_indices(const HostView& indices, std::int64_t length, Team& team) noexcept {
  if (indices.data == nullptr) return {};
  const int rank = indices.shape.rank();
  const std::int64_t count = length_of(indices);
  const std::int64_t step = step_of(indices);
  const RowsOf<1> rows({&indices}, rank);
  bool is_one_row = true;
  for (int i = 0; i + 1 < rank; ++i) is_one_row &= indices.strides[i] == 0 || indices.shape[i] == 1;
  const std::int64_t all = is_one_row ? count : rows.number() * count;
  return team.reduce(
      all, Grain::of_bytes(sizeof(I)), PrimitivesFinding{},
      [&](std::int64_t begin, std::int64_t end) noexcept {
        PrimitivesFinding found;
        rows.run(begin / count, (end - 1) / count + 1, [&](std::int64_t number, const Pointers<1>& at) {
          if (found.fault != PrimitivesFault::none) return;
          const std::int64_t before = number * count;
          const std::int64_t first = std::max<std::int64_t>(begin - before, 0);
          const Row part = Row{at[0], step, count}.part(first, std::min(end - before, count));
          const std::int64_t outside = find_outside<I>(part, length);
          if (outside == part.count) return;
          found = {.fault = PrimitivesFault::index_outside,
                   .place = before + first + outside,
                   .value = load<I>(part[outside]),
                   .bound = length};
        });
        return found;
      },
      earlier);
}

/// The array that is indexed, as one whose rows all begin at the same element and stay there.
HostView as_bases(HostView indexed, const Shape& shape) noexcept {
  indexed.shape = shape;
  indexed.strides[shape.rank() - 1] = 0;
  return indexed;
}

template <std::size_t size, class I>
void gather_tile(const Tile<3>& tile, std::int64_t row_step) noexcept {
  Pointers<3> at = tile.at;
  constexpr auto kSize = static_cast<std::int64_t>(size);
  const bool moves_rows = tile.step[1] == 0 && tile.step[0] == kSize && tile.step[2] == kSize;
  const bool is_plain = tile.step[1] == std::int64_t{sizeof(I)} && tile.step[0] == 0 && tile.step[2] == kSize;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    if (moves_rows)
      std::memcpy(at[2], at[0] + load<I>(at[1]) * row_step, static_cast<std::size_t>(tile.count) * size);
    else if (is_plain)
      for (std::int64_t i = 0; i < tile.count; ++i)
        std::memcpy(at[2] + i * kSize, at[0] + load<I>(at[1] + i * std::int64_t{sizeof(I)}) * row_step, size);
    else
      for (std::int64_t i = 0; i < tile.count; ++i)
        std::memcpy(at[2] + i * tile.step[2], at[0] + i * tile.step[0] + load<I>(at[1] + i * tile.step[1]) * row_step,
                    size);
    for (std::size_t v = 0; v < 3; ++v) at[v] += tile.row_step[v];
  }
}

// ---- scatter ----

/// What is done with an element of x and its place in y.
template <std::size_t size>
struct PutLast {
  static constexpr std::int64_t kSize = size;
  void operator()(std::byte* y, const std::byte* x) const noexcept { std::memcpy(y, x, size); }
};
template <Combine function, class T>
struct PutTogether {
  static constexpr std::int64_t kSize = sizeof(T);
  void operator()(std::byte* y, const std::byte* x) const noexcept {
    store(y, static_cast<T>(
                 primitives::combine<function>(primitives::widened(load<T>(y)), primitives::widened(load<T>(x)))));
  }
};

/// What goes through rows and threads knows neither types nor rule, so it is compiled once.
class AnyPut {
 public:
  /// Of a row of `length`, those whose place is from `low` to before `high`.
  virtual void put_row(const Pointers<3>& at, const Steps<3>& along, std::int64_t length, std::int64_t low,
                       std::int64_t high) const noexcept = 0;
  /// Of `count` rows that lie `across` each other.
  virtual void put_strip(const Pointers<3>& at, const Steps<3>& along, std::int64_t length, const Steps<3>& across,
                         std::int64_t count) const noexcept = 0;

 protected:
  ~AnyPut() = default;
};

template <class I, class Put>
class PutBy final : public AnyPut {
 public:
  void put_row(const Pointers<3>& at, const Steps<3>& along, std::int64_t length, std::int64_t low,
               std::int64_t high) const noexcept override {
    const auto range = static_cast<std::uint64_t>(high - low);
    for (std::int64_t j = 0; j < length; ++j) {
      const std::int64_t place = load<I>(at[1] + j * along[1]);
      if (static_cast<std::uint64_t>(place - low) < range) Put{}(at[2] + place * along[2], at[0] + j * along[0]);
    }
  }
  void put_strip(const Pointers<3>& at, const Steps<3>& along, std::int64_t length, const Steps<3>& across,
                 std::int64_t count) const noexcept override {
    const bool moves_rows = across[1] == 0 && across[0] == Put::kSize && across[2] == Put::kSize;
    for (std::int64_t j = 0; j < length; ++j) {
      const std::byte* const x = at[0] + j * along[0];
      const std::byte* const index = at[1] + j * along[1];
      if (moves_rows) {
        std::byte* const y = at[2] + load<I>(index) * along[2];
        for (std::int64_t k = 0; k < count; ++k) Put{}(y + k * Put::kSize, x + k * Put::kSize);
        continue;
      }
      for (std::int64_t k = 0; k < count; ++k)
        Put{}(at[2] + k * across[2] + load<I>(index + k * across[1]) * along[2], x + k * across[0]);
    }
  }
};

template <class I, class F>
void with_put(Duplicates rule, DType dtype, const F& f) {
  if (rule == Duplicates::last) return with_size(size_bytes(dtype), [&](auto size) { f(PutBy<I, PutLast<size>>{}); });
  const Combine function = rule == Duplicates::add   ? Combine::sum
                           : rule == Duplicates::min ? Combine::min
                                                     : Combine::max;
  with_combine(function, dtype,
               [&]<Combine known, class T>(std::integral_constant<Combine, known>, std::type_identity<T>) {
                 if constexpr (known == Combine::sum || known == Combine::min || known == Combine::max)
                   f(PutBy<I, PutTogether<known, T>>{});
               });
}

/// One place of y has all its elements from one thread, in their order. Threads share rows; where rows lie across each
/// other, strips of them, in which neighbours move together; and of one long row each takes some of its places, and
/// looks at all indices.
class Scatter {
 public:
  Scatter(const HostView& x, const HostView& indices, const HostView& y)
      : start_{x.data, indices.data, y.data},
        length_(length_of(x)),
        places_(length_of(y)),
        last_{step_of(x), step_of(indices), step_of(y)} {
    const int rank = x.shape.rank();
    const auto steps = [&](int i) {
      return Steps<3>{x.strides[i] * size_bytes(x.dtype), indices.strides[i] * size_bytes(indices.dtype),
                      y.strides[i] * size_bytes(y.dtype)};
    };
    int across = -1;
    for (int i = 0; i + 1 < rank; ++i) {
      if (x.shape[i] < 4 || std::abs(steps(i)[2]) >= std::abs(last_[2])) continue;
      if (across < 0 || std::abs(steps(i)[2]) < std::abs(steps(across)[2])) across = i;
    }
    for (int i = rank - 2; i >= 0; --i)
      if (i != across) rows_.add(x.shape[i], steps(i));
    if (across >= 0) strip_ = {x.shape[across], steps(across)};
  }

  void run(const AnyPut& put, Team& team) const noexcept {
    constexpr double kNsPerElement = 1.5;
    constexpr std::int64_t kLeastStrip = 64;
    const std::int64_t wanted = std::int64_t{2} * team.size();
    const std::int64_t rows = rows_.places();
    const std::int64_t strips =
        std::clamp<std::int64_t>(rows < wanted ? strip_.extent / kLeastStrip : 1, 1, std::max<std::int64_t>(wanted, 1));
    // Each thread reads all indices, which pays for a few of them.
    constexpr std::int64_t kMostShares = 8;
    constexpr std::int64_t kLongRow = 1 << 16;
    const bool is_shared = rows * strips < team.size() && length_ >= kLongRow && strip_.extent == 1;
    const std::int64_t shares = is_shared ? std::min<std::int64_t>(kMostShares, team.size()) : 1;
    const double cost =
        kNsPerElement * static_cast<double>(length_) * static_cast<double>(strip_.extent) / static_cast<double>(strips);
    team.run(rows * strips * shares, Grain::of_ns(cost), [&](std::int64_t unit, std::int64_t end) noexcept {
      for (; unit < end; ++unit) {
        const std::int64_t share = unit % shares;
        const std::int64_t strip = unit / shares % strips;
        const std::int64_t row = unit / shares / strips;
        const std::int64_t begin = part_begin(strip_.extent, strip, strips);
        const std::int64_t count = part_begin(strip_.extent, strip + 1, strips) - begin;
        rows_.run(start_, row, row + 1, [&](Pointers<3> at) {
          for (std::size_t v = 0; v < 3; ++v) at[v] += begin * strip_.steps[v];
          if (strip_.extent > 1)
            put.put_strip(at, last_, length_, strip_.steps, count);
          else if (shares == 1)
            put.put_row(at, last_, length_, 0, places_);
          else
            put.put_row(at, last_, length_, part_begin(places_, share, shares), part_begin(places_, share + 1, shares));
        });
      }
    });
  }

 private:
  Pointers<3> start_;
  std::int64_t length_;
  std::int64_t places_;
  Steps<3> last_;
  NestOf<3> rows_;
  NestOf<3>::Axis strip_;
};

}  // namespace

Result<void> run_op(const op::PrimitivesGather& op, const HostViews& here) {
  constexpr double kNsPerElement = 1.5;
  const HostView x = here(op.x);
  const HostView indices = here(op.indices);
  const HostView y = here(op.y);
  with_index(indices.dtype, [&]<class I>(std::type_identity<I>) {
    const std::int64_t length = op.x.shape[op.x.shape.rank() - 1];
    if (!is_well(check_indices<I>(indices, length, here.team()), op.verdict, here) || y.data == nullptr) return;
    const HostView bases = as_bases(x, y.shape);
    const std::int64_t row_step = step_of(x);
    with_size(size_bytes(x.dtype), [&](auto size) {
      Walk<3>({&bases, &indices, &y})
          .run_tiles(here.team(), Grain::of_ns(kNsPerElement),
                     [&](const Tile<3>& tile) noexcept { gather_tile<size, I>(tile, row_step); });
    });
  });
  return {};
}

Result<void> run_op(const op::PrimitivesScatter& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView indices = here(op.indices);
  const HostView y = here(op.y);
  with_index(indices.dtype, [&]<class I>(std::type_identity<I>) {
    const std::int64_t length = op.y.shape[op.y.shape.rank() - 1];
    if (!is_well(check_indices<I>(indices, length, here.team()), op.verdict, here) || x.data == nullptr) return;
    const Scatter scatter(x, indices, y);
    with_put<I>(op.rule, x.dtype, [&](const AnyPut& put) { scatter.run(put, here.team()); });
  });
  return {};
}

}  // namespace troupe::host
