// The walk over several arrays of one shape in step. Kernels write only their innermost loop: the walk leaves out
// dimensions of extent 1, follows memory forwards in the output, merges dimensions that lie side by side, and makes the
// output's densest dimension the innermost. A team helps with long walks.
//
//   walk<2>({&in, &out}, team, [](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept { ... });
//
// Where an input is dense along another dimension (it is transposed), the walk goes tile by tile over both, so that
// every cache line is fetched once. A walk by a team copies the input's tile into a block first, rows side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/kernels/plane.hpp"
#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

/// A part of a walk: rows of `count` elements each.
template <std::size_t n>
struct Tile {
  Pointers<n> at{};
  Steps<n> step{};
  std::int64_t count = 1;
  Steps<n> row_step{};
  std::int64_t rows = 1;
};

/// The loops over `n` views, the innermost first. The last view is the output.
template <std::size_t n>
class Walk {
 public:
  /// A tile has about so many elements in a row, and at most so many bytes of each view.
  static constexpr std::int64_t kTileColumns = 128;
  static constexpr std::int64_t kTileBytes = 32768;
  /// Elements are at most so large.
  static constexpr std::int64_t kMostElementBytes = 1024;

  /// Needs views of one valid shape.
  explicit Walk(const std::array<const HostView*, n>& views) noexcept {
    const HostView& out = *views[n - 1];
    for (std::size_t v = 0; v < n; ++v) {
      start_[v] = views[v]->data;
      sizes_[v] = size_bytes(views[v]->dtype);
    }
    for (int i = 0; i < out.shape.rank(); ++i) {
      const std::int64_t extent = out.shape[i];
      if (extent == 0) empty_ = true;
      if (extent < 2) continue;
      Loop& loop = loops_[static_cast<std::size_t>(rank_++)];
      loop.extent = extent;
      for (std::size_t v = 0; v < n; ++v) loop.steps[v] = views[v]->strides[i] * sizes_[v];
    }
    if (empty_) return;
    for (int i = 0; i < rank_; ++i) turn_forwards(at(i));
    sort();
    merge();
  }

  /// For those who only move elements: a short innermost loop becomes one element, where it lies side by side in every
  /// view. Gives the size of an element; needs views of one type.
  std::int64_t widen_elements() noexcept {
    const std::int64_t size = sizes_[0];
    const Loop row = at(0);
    for (const std::int64_t step : row.steps)
      if (rank_ == 0 || step != size || row.extent > kMostElementBytes / size) return size;
    std::shift_left(loops_.begin(), loops_.end(), 1);
    at(--rank_) = {};
    sizes_.fill(size * row.extent);
    return sizes_[0];
  }

  /// Calls `inner(pointers, steps, count)` until every element was visited, in an order that depends on the views
  /// alone, with `count` > 0. A walk over a single element has steps of 0.
  template <class Inner>
  void run(Inner&& inner) const {
    if (empty_) return;
    const int across = densest_input_loop();
    if (across == 0) return run_rows(0, rows(), inner);
    const Tiles tiles(*this, across);
    for (std::int64_t i = 0; i < tiles.number(); ++i) each_row(tiles[i], inner);
  }
  /// The same in any order, from several threads at once when there are more than a few times `grain` elements. The
  /// inputs are read only, and may be elsewhere than in their views.
  template <class Inner>
  void run(Team& team, Grain grain, const Inner& inner) const noexcept {
    static_assert(std::is_nothrow_invocable_v<const Inner&, const Pointers<n>&, const Steps<n>&, std::int64_t>);
    if (empty_) return;
    const Packing packing = choose_packing();
    if (packing.across == 0) return share_rows(team, grain, inner);
    share_tiles(team, grain, packing.across, [&](Tile<n> tile) noexcept {
      alignas(64) std::byte blocks[std::max<std::size_t>(n - 1, 1)][kTileBytes];
      for (std::size_t v = 0; v + 1 < n; ++v)
        if (packing.packs[v]) pack(tile, v, blocks[v]);
      join_rows(tile);
      each_row(tile, inner);
    });
  }

  /// `map(pointers, steps, count)` of all parts of rows, joined by `join(left, right)` in a tree that depends on the
  /// views and the grain alone, so every team gives the same bits. `empty` joined with anything is that.
  template <class T, class Map, class Join>
  T reduce(Team& team, Grain grain, T empty, const Map& map, const Join& join) const noexcept {
    static_assert(std::is_nothrow_invocable_r_v<T, const Map&, const Pointers<n>&, const Steps<n>&, std::int64_t>);
    if (empty_) return empty;
    return cut(grain, densest_input_loop(), [&](std::int64_t parts, Grain parts_grain, const auto& each) noexcept {
      const auto map_parts = [&](std::int64_t begin, std::int64_t end) noexcept {
        T all = empty;
        each(begin, end, [&](const Pointers<n>& at, const Steps<n>& step, std::int64_t count) noexcept {
          all = join(all, map(at, step, count));
        });
        return all;
      };
      return team.reduce(parts, parts_grain, empty, map_parts, join);
    });
  }

  /// Calls `work(tile)` for tiles that make up the walk, as large as they are good for all views, in any order and from
  /// several threads.
  template <class Work>
  void run_tiles(Team& team, Grain grain, const Work& work) const noexcept {
    if (empty_) return;
    if (const int across = densest_input_loop(); across != 0) return share_tiles(team, grain, across, work);
    share_rows(team, grain, [&](const Pointers<n>& at, const Steps<n>& step, std::int64_t count) noexcept {
      work(Tile<n>{.at = at, .step = step, .count = count});
    });
  }

 private:
  /// Shorter rows are joined to longer ones.
  static constexpr std::int64_t kShortRow = 32;
  /// Tiles of fewer elements cost more than they save.
  static constexpr std::int64_t kLeastTile = 64;

  struct Loop {
    std::int64_t extent = 1;
    Steps<n> steps{};
  };

  /// Which inputs are copied into blocks; none when `across` is 0.
  struct Packing {
    int across = 0;
    std::array<bool, n> packs{};
  };

  /// The tiles of the innermost loop and another one.
  class Tiles {
   public:
    Tiles(const Walk& walk, int across) noexcept : walk_(walk), across_(across) {
      const std::int64_t size = *std::ranges::max_element(walk.sizes_);
      columns_ = std::min(walk.at(0).extent, std::clamp<std::int64_t>(kTileBytes / 8 / size, 8, kTileColumns));
      rows_ = std::min(walk.at(across).extent, kTileBytes / (columns_ * size));
      columns_ = std::min(walk.at(0).extent, kTileBytes / (rows_ * size));  // longer where rows are few
      in_row_ = (walk.at(0).extent - 1) / columns_ + 1;
      in_column_ = (walk.at(across).extent - 1) / rows_ + 1;
    }
    std::int64_t elements() const noexcept { return columns_ * rows_; }
    std::int64_t number() const noexcept {
      std::int64_t number = in_row_ * in_column_;
      for (int i = 1; i < walk_.rank_; ++i)
        if (i != across_) number *= walk_.at(i).extent;
      return number;
    }
    Tile<n> operator[](std::int64_t which) const noexcept {
      const Loop& inner = walk_.at(0);
      const Loop& across = walk_.at(across_);
      const std::int64_t column = which % in_row_ * columns_;
      which /= in_row_;
      const std::int64_t row = which % in_column_ * rows_;
      which /= in_column_;
      Tile<n> tile{.at = walk_.start_,
                   .step = inner.steps,
                   .count = std::min(columns_, inner.extent - column),
                   .row_step = across.steps,
                   .rows = std::min(rows_, across.extent - row)};
      const auto go = [&](const Loop& loop, std::int64_t by) {
        for (std::size_t v = 0; v < n; ++v) tile.at[v] += loop.steps[v] * by;
      };
      go(inner, column);
      go(across, row);
      for (int i = 1; i < walk_.rank_; ++i) {
        if (i == across_) continue;
        go(walk_.at(i), which % walk_.at(i).extent);
        which /= walk_.at(i).extent;
      }
      return tile;
    }

   private:
    const Walk& walk_;
    int across_;
    std::int64_t columns_ = 1;
    std::int64_t rows_ = 1;
    std::int64_t in_row_ = 1;     // tiles side by side
    std::int64_t in_column_ = 1;  // tiles one below the other
  };

  Loop& at(int i) noexcept { return loops_[static_cast<std::size_t>(i)]; }
  const Loop& at(int i) const noexcept { return loops_[static_cast<std::size_t>(i)]; }

  static bool denser_in_output(const Loop& a, const Loop& b) noexcept {
    for (std::size_t v = n; v-- > 0;)
      if (a.steps[v] != b.steps[v]) return std::abs(a.steps[v]) < std::abs(b.steps[v]);
    return false;
  }

  /// By insertion: g++ 12 warns of std::sort in an array as short as this one.
  void sort() noexcept {
    for (int i = 1; i < rank_; ++i)
      for (int j = i; j > 0 && denser_in_output(at(j), at(j - 1)); --j) std::swap(at(j), at(j - 1));
  }

  void turn_forwards(Loop& loop) noexcept {
    if (loop.steps[n - 1] >= 0) return;
    for (std::size_t v = 0; v < n; ++v) {
      start_[v] += loop.steps[v] * (loop.extent - 1);
      loop.steps[v] = -loop.steps[v];
    }
  }

  /// Whether view `v` goes on along `outer` where a row of `inner` ends.
  static bool joins(const Loop& inner, const Loop& outer, std::size_t v) noexcept {
    return outer.steps[v] == inner.steps[v] * inner.extent;
  }
  void merge() noexcept {
    int last = 0;
    for (int i = 1; i < rank_; ++i) {
      bool side_by_side = true;
      for (std::size_t v = 0; v < n; ++v) side_by_side &= joins(at(last), at(i), v);
      if (side_by_side)
        at(last).extent *= at(i).extent;
      else
        at(++last) = at(i);
    }
    rank_ = std::min(rank_, last + 1);
  }

  /// The loop along which an input moves less than along the innermost one, and least; 0 when there is none. Inputs
  /// that stay where they are, or lie side by side, want no other loop.
  int densest_loop(std::size_t v) const noexcept {
    int dense = 0;
    const std::int64_t innermost = std::abs(at(0).steps[v]);
    if (innermost == 0 || innermost == sizes_[v]) return 0;
    for (int i = 1; i < rank_; ++i) {
      const std::int64_t step = std::abs(at(i).steps[v]);
      if (step != 0 && step < std::abs(at(dense).steps[v])) dense = i;
    }
    return dense;
  }
  /// That of the first input that wants one, if its tiles are large enough.
  int densest_input_loop() const noexcept {
    for (std::size_t v = 0; v + 1 < n; ++v)
      if (const int dense = densest_loop(v); dense != 0) return is_worth_tiles(dense) ? dense : 0;
    return 0;
  }
  bool is_worth_tiles(int across) const noexcept { return at(0).extent * at(across).extent >= kLeastTile; }

  Packing choose_packing() const noexcept {
    Packing packing;
    if (rank_ < 2 || n < 2) return packing;
    const bool has_short_rows = at(0).extent < kShortRow && joins(at(0), at(1), n - 1) && is_worth_tiles(1);
    packing.across = has_short_rows ? 1 : densest_input_loop();
    if (packing.across == 0) return packing;
    for (std::size_t v = 0; v + 1 < n; ++v)
      packing.packs[v] = has_short_rows ? !joins(at(0), at(1), v) : densest_loop(v) == packing.across;
    return packing;
  }

  /// Copies the tile of one input to where its rows lie side by side.
  void pack(Tile<n>& tile, std::size_t v, std::byte* block) const noexcept {
    const std::int64_t size = sizes_[v];
    copy_plane({.in = tile.at[v],
                .in_row = tile.row_step[v],
                .in_column = tile.step[v],
                .out = block,
                .out_row = tile.count * size,
                .out_column = size,
                .rows = tile.rows,
                .columns = tile.count},
               size);
    tile.at[v] = block;
    tile.step[v] = size;
    tile.row_step[v] = tile.count * size;
  }
  /// Makes one row of all rows where they lie side by side in every view.
  static void join_rows(Tile<n>& tile) noexcept {
    for (std::size_t v = 0; v < n; ++v)
      if (tile.row_step[v] != tile.step[v] * tile.count) return;
    tile.count *= std::exchange(tile.rows, 1);
  }
  template <class Inner>
  static void each_row(const Tile<n>& tile, Inner& inner) {
    Pointers<n> at = tile.at;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      inner(std::as_const(at), tile.step, tile.count);
      for (std::size_t v = 0; v < n; ++v) at[v] += tile.row_step[v];
    }
  }

  template <class Work>
  void share_tiles(Team& team, Grain grain, int across, const Work& work) const noexcept {
    const Tiles tiles(*this, across);
    team.run(tiles.number(), Grain::of_items(grain.items() / tiles.elements()),
             [&](std::int64_t begin, std::int64_t end) noexcept {
               for (; begin < end; ++begin) work(tiles[begin]);
             });
  }
  template <class Inner>
  void share_rows(Team& team, Grain grain, const Inner& inner) const noexcept {
    cut(grain, 0, [&](std::int64_t parts, Grain parts_grain, const auto& each) noexcept {
      team.run(parts, parts_grain, [&](std::int64_t begin, std::int64_t end) noexcept { each(begin, end, inner); });
    });
  }
  /// Calls `share(parts, grain, each)`, where `each(begin, end, inner)` calls `inner` for the rows of some parts. A
  /// part is a tile with the loop `across`, a row, or a piece of a row that is long by itself.
  template <class Share>
  auto cut(Grain grain, int across, const Share& share) const noexcept {
    if (across != 0) {
      const Tiles tiles(*this, across);
      return share(tiles.number(), Grain::of_items(grain.items() / tiles.elements()),
                   [&](std::int64_t begin, std::int64_t end, const auto& inner) noexcept {
                     for (; begin < end; ++begin) each_row(tiles[begin], inner);
                   });
    }
    const std::int64_t length = loops_.front().extent;
    if (length < 2 * grain.items())
      return share(
          rows(), Grain::of_items(grain.items() / length),
          [&](std::int64_t begin, std::int64_t end, const auto& inner) noexcept { run_rows(begin, end, inner); });
    const Blocks pieces(length, grain);
    return share(rows() * pieces.number, Grain::of_items(1),
                 [&](std::int64_t begin, std::int64_t end, const auto& inner) noexcept {
                   const Steps<n>& steps = loops_.front().steps;
                   for (; begin < end; ++begin) {
                     const std::int64_t first = pieces.begin(begin % pieces.number);
                     Pointers<n> at = row(begin / pieces.number);
                     for (std::size_t v = 0; v < n; ++v) at[v] += first * steps[v];
                     inner(std::as_const(at), steps, pieces.end(begin % pieces.number) - first);
                   }
                 });
  }

  std::int64_t rows() const noexcept {
    std::int64_t rows = 1;
    for (int i = 1; i < rank_; ++i) rows *= at(i).extent;
    return rows;
  }
  /// Where a row begins.
  Pointers<n> row(std::int64_t number) const noexcept {
    Pointers<n> pointers = start_;
    for (int i = 1; i < rank_; number /= at(i++).extent)
      for (std::size_t v = 0; v < n; ++v) pointers[v] += at(i).steps[v] * (number % at(i).extent);
    return pointers;
  }

  template <class Inner>
  void run_rows(std::int64_t begin, std::int64_t end, Inner& inner) const {
    const Loop& innermost = loops_.front();
    Pointers<n> pointers = row(begin);
    std::array<std::int64_t, kMaxRank> index{};
    std::int64_t rest = begin;
    for (int i = 1; i < rank_; rest /= at(i++).extent) index[static_cast<std::size_t>(i)] = rest % at(i).extent;
    for (; begin < end; ++begin) {
      inner(std::as_const(pointers), innermost.steps, innermost.extent);
      for (int i = 1; i < rank_; ++i) {
        const Loop& loop = at(i);
        std::int64_t& here = index[static_cast<std::size_t>(i)];
        if (++here < loop.extent) {
          for (std::size_t v = 0; v < n; ++v) pointers[v] += loop.steps[v];
          break;
        }
        for (std::size_t v = 0; v < n; ++v) pointers[v] -= loop.steps[v] * (loop.extent - 1);
        here = 0;
      }
    }
  }

  std::array<Loop, kMaxRank> loops_{};
  int rank_ = 0;
  bool empty_ = false;
  Pointers<n> start_{};
  std::array<std::int64_t, n> sizes_{};
};

/// Visits all elements of views of one valid shape, the output last.
template <std::size_t n, class Inner>
void walk(const std::array<const HostView*, n>& views, Inner&& inner) {
  Walk<n>(views).run(inner);
}
/// The same in any order, by a team; the inputs are read only. Their bytes say what elements cost.
template <std::size_t n, class Inner>
void walk(const std::array<const HostView*, n>& views, Team& team, const Inner& inner) noexcept {
  std::int64_t bytes = 0;
  for (const HostView* view : views) bytes += size_bytes(view->dtype);
  Walk<n>(views).run(team, Grain::of_bytes(bytes), inner);
}

}  // namespace troupe::host
