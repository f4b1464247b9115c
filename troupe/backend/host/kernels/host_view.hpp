// An array in this process's memory, and the walk over several arrays of one shape in step. Kernels write only their
// innermost loop: the walk leaves out dimensions of extent 1, follows memory forwards in the output, merges dimensions
// that lie side by side, and makes the output's densest dimension the innermost. A team helps with long walks.
//
//   walk<2>({&in, &out}, team, [](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept { ... });
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/backend/host/team/team.hpp"
#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::host {

/// Element [0, 0, ...] at `data`, neighbours `strides` elements apart. The memory need not be aligned.
struct HostView {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
};

/// `invalid_argument` unless the shape is valid and has a stride for each dimension.
inline Result<void> check(const HostView& view) {
  if (Result<void> valid = troupe::check(view.shape); !valid) return valid;
  if (view.shape.rank() == view.strides.rank()) return {};
  return fail(ErrorKind::invalid_argument,
              "the strides " + view.strides.to_string() + " are not those of a shape " + view.shape.to_string());
}

/// Both valid and of one shape, or `invalid_argument`.
inline Result<void> check_same_shape(const HostView& a, const HostView& b) {
  if (Result<void> valid = check(a); !valid) return valid;
  if (Result<void> valid = check(b); !valid) return valid;
  if (a.shape == b.shape) return {};
  return fail(ErrorKind::invalid_argument,
              "the shapes " + a.shape.to_string() + " and " + b.shape.to_string() + " differ");
}

inline Result<void> check_same_dtype(const HostView& a, const HostView& b) {
  if (a.dtype == b.dtype) return {};
  return fail(ErrorKind::invalid_argument,
              "the types " + std::string(name(a.dtype)) + " and " + std::string(name(b.dtype)) + " differ");
}

/// An element from memory that may be unaligned. Any byte but 0 is true.
template <Element T>
T load(const std::byte* from) noexcept {
  if constexpr (std::same_as<T, bool>) {
    return *from != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
}

template <Element T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

template <std::size_t n>
using Pointers = std::array<std::byte*, n>;
/// Bytes from one element to the next, for each view.
template <std::size_t n>
using Steps = std::array<std::int64_t, n>;

/// The loops over `n` views, the innermost first. The last view is the output.
template <std::size_t n>
class Walk {
 public:
  /// Needs views of one valid shape.
  explicit Walk(const std::array<const HostView*, n>& views) noexcept {
    const HostView& out = *views[n - 1];
    for (std::size_t v = 0; v < n; ++v) start_[v] = views[v]->data;
    for (int i = 0; i < out.shape.rank(); ++i) {
      const std::int64_t extent = out.shape[i];
      if (extent == 0) empty_ = true;
      if (extent < 2) continue;
      Loop& loop = loops_[static_cast<std::size_t>(rank_++)];
      loop.extent = extent;
      for (std::size_t v = 0; v < n; ++v) loop.steps[v] = views[v]->strides[i] * size_bytes(views[v]->dtype);
    }
    if (empty_) return;
    for (int i = 0; i < rank_; ++i) turn_forwards(at(i));
    sort();
    merge();
  }

  /// Calls `inner(pointers, steps, count)` until every element was visited, in order, with `count` > 0. A walk over a
  /// single element has steps of 0.
  template <class Inner>
  void run(Inner&& inner) const {
    each_nest([&](const Walk& nest) { run_rows(nest, 0, nest.rows(), inner); });
  }
  /// The same in any order, from several threads at once when there are more than a few times `grain` elements.
  template <class Inner>
  void run(Team& team, Grain grain, const Inner& inner) const noexcept {
    static_assert(std::is_nothrow_invocable_v<const Inner&, const Pointers<n>&, const Steps<n>&, std::int64_t>);
    each_nest([&](const Walk& nest) { share_out(team, grain, nest, inner); });
  }

 private:
  /// When an input is dense along another dimension than the output (a transposed copy), the innermost loop is cut into
  /// strips of so many elements, and the input's dense dimension is walked for each: every cache line that comes in is
  /// used whole before it goes.
  static constexpr std::int64_t kStrip = 32;

  struct Loop {
    std::int64_t extent = 1;
    Steps<n> steps{};
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

  void merge() noexcept {
    int last = 0;
    for (int i = 1; i < rank_; ++i) {
      Loop& inner = at(last);
      const Loop& outer = at(i);
      bool side_by_side = true;
      for (std::size_t v = 0; v < n; ++v) side_by_side &= outer.steps[v] == inner.steps[v] * inner.extent;
      if (side_by_side)
        inner.extent *= outer.extent;
      else
        at(++last) = outer;
    }
    rank_ = std::min(rank_, last + 1);
  }

  /// The loop along which the first view moves least, when its innermost one is not it; else 0.
  int densest_input_loop() const noexcept {
    int dense = 0;
    for (int i = 1; i < rank_; ++i) {
      const std::int64_t step = std::abs(at(i).steps[0]);
      if (step != 0 && step < std::abs(at(dense).steps[0])) dense = i;
    }
    return dense;
  }

  /// From the inside: one strip, the loop `dense`, all strips, the other loops.
  Walk in_strips(int dense, std::int64_t strips) const noexcept {
    Walk walk = *this;
    Loop across = at(0);
    across.extent = strips;
    for (std::int64_t& step : across.steps) step *= kStrip;
    walk.at(0).extent = kStrip;
    walk.at(1) = at(dense);
    walk.at(2) = across;
    walk.rank_ = 3;
    for (int i = 1; i < rank_; ++i)
      if (i != dense) walk.at(walk.rank_++) = at(i);
    return walk;
  }

  /// Calls `run` with walks that visit every element once, row by row.
  template <class Run>
  void each_nest(const Run& run) const {
    if (empty_) return;
    const int dense = densest_input_loop();
    if (dense == 0) return run(*this);
    const Loop& innermost = loops_.front();
    const std::int64_t strips = innermost.extent / kStrip;
    if (strips > 0) run(in_strips(dense, strips));
    if (const std::int64_t rest = innermost.extent - strips * kStrip; rest > 0) {
      Walk last = *this;
      last.at(0).extent = rest;
      for (std::size_t v = 0; v < n; ++v) last.start_[v] += innermost.steps[v] * kStrip * strips;
      run(last);
    }
  }

  std::int64_t rows() const noexcept {
    std::int64_t rows = 1;
    for (int i = 1; i < rank_; ++i) rows *= at(i).extent;
    return rows;
  }

  /// A part is some rows, or a piece of a row that is long by itself.
  template <class Inner>
  static void share_out(Team& team, Grain grain, const Walk& walk, const Inner& inner) noexcept {
    const std::int64_t length = walk.loops_.front().extent;
    if (length < 2 * grain.items())
      return team.run(walk.rows(), Grain::of_items(grain.items() / length),
                      [&](std::int64_t begin, std::int64_t end) noexcept { run_rows(walk, begin, end, inner); });
    const Steps<n>& steps = walk.loops_.front().steps;
    const Blocks pieces(length, grain);
    team.run(walk.rows() * pieces.number, Grain::of_items(1), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin) {
        const std::int64_t first = pieces.begin(begin % pieces.number);
        Pointers<n> at = walk.row(begin / pieces.number);
        for (std::size_t v = 0; v < n; ++v) at[v] += first * steps[v];
        inner(std::as_const(at), steps, pieces.end(begin % pieces.number) - first);
      }
    });
  }

  /// Where a row begins.
  Pointers<n> row(std::int64_t number) const noexcept {
    Pointers<n> pointers = start_;
    for (int i = 1; i < rank_; number /= at(i++).extent)
      for (std::size_t v = 0; v < n; ++v) pointers[v] += at(i).steps[v] * (number % at(i).extent);
    return pointers;
  }

  template <class Inner>
  static void run_rows(const Walk& walk, std::int64_t begin, std::int64_t end, Inner& inner) {
    const Loop& innermost = walk.loops_.front();
    Pointers<n> pointers = walk.row(begin);
    std::array<std::int64_t, kMaxRank + 1> index{};
    std::int64_t rest = begin;
    for (int i = 1; i < walk.rank_; rest /= walk.at(i++).extent)
      index[static_cast<std::size_t>(i)] = rest % walk.at(i).extent;
    for (; begin < end; ++begin) {
      inner(std::as_const(pointers), innermost.steps, innermost.extent);
      for (int i = 1; i < walk.rank_; ++i) {
        const Loop& loop = walk.at(i);
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

  std::array<Loop, kMaxRank + 1> loops_{};  // one more than dimensions: the innermost may be cut into strips
  int rank_ = 0;
  bool empty_ = false;
  Pointers<n> start_{};
};

/// Visits all elements of views of one valid shape, the output last.
template <std::size_t n, class Inner>
void walk(const std::array<const HostView*, n>& views, Inner&& inner) {
  Walk<n>(views).run(inner);
}
/// The same in any order, by a team. Their bytes say what elements cost.
template <std::size_t n, class Inner>
void walk(const std::array<const HostView*, n>& views, Team& team, const Inner& inner) noexcept {
  std::int64_t bytes = 0;
  for (const HostView* view : views) bytes += size_bytes(view->dtype);
  Walk<n>(views).run(team, Grain::of_bytes(bytes), inner);
}

}  // namespace troupe::host
