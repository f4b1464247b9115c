// Elements of any floating-point type as numbers of f32 or f64, in which the ops of the dnn family compute: rows and
// pieces of arrays with any strides are read into buffers, computed there, and written back, rounded once. So code
// knows two types instead of four. Indices are read once, and looked at where they are read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/random/fill_in_order.hpp"
#include "troupe/backend/host/tensor/tensor_numbers.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/dnn_finding.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::host {

// ---- numbers ----

/// Calls `f` with what numbers of the type are computed in: double for f64, else float.
template <class F>
decltype(auto) with_numbers(DType dtype, F&& f) {
  if (dtype == DType::f64) return f(std::type_identity<double>{});
  return f(std::type_identity<float>{});
}

/// Elements `step` bytes apart as numbers side by side.
template <class C>
void read_numbers(DType dtype, const std::byte* from, std::int64_t step, C* to, std::int64_t count) noexcept {
  load_row_for<C>(dtype)(from, step, count, to);
}
/// The other way.
template <class C>
void write_numbers(DType dtype, const C* from, std::byte* to, std::int64_t step, std::int64_t count) noexcept {
  store_row_for<C>(dtype)(from, count, to, step);
}

/// A row as numbers: in place where it lies so, else in the buffer.
template <class C>
const C* numbers_of(DType dtype, const std::byte* row, std::int64_t step, C* buffer, std::int64_t count) noexcept {
  if (dtype == dtype_of<C> && step == std::int64_t{sizeof(C)} &&
      reinterpret_cast<std::uintptr_t>(row) % alignof(C) == 0)
    return reinterpret_cast<const C*>(row);
  read_numbers(dtype, row, step, buffer, count);
  return buffer;
}

/// A function of a row; the output overlaps no input.
template <class C>
void apply_row(Unary function, const C* in, C* out, std::int64_t count) noexcept {
  number_rows<C>().unary[static_cast<std::size_t>(function)](in, out, count);
}
/// All numbers of a row combined, in an order that depends on the count alone; sums are kept in f64.
template <class C>
double fold_numbers(Reduction function, const C* row, std::int64_t count) noexcept {
  const auto& rows = vector_rows().fold;
  if constexpr (std::same_as<C, float>)
    return rows.fold_f32[static_cast<std::size_t>(function)](row, count);
  else
    return rows.fold[static_cast<std::size_t>(function)](row, count);
}

// ---- pieces of arrays, in row-major order ----

/// Calls `f(numbers, first, count)` for pieces of elements `begin` to `end` of views of one shape: `numbers[v]` are
/// those of view v. The first `reads` views are read before, the others are written after it.
template <class C, std::size_t reads, std::size_t n, class F>
void each_piece(const std::array<HostView, n>& views, std::int64_t begin, std::int64_t end, const F& f) noexcept {
  alignas(64) C buffers[n][kPiece];
  std::array<C*, n> numbers;
  for (std::size_t v = 0; v < n; ++v) numbers[v] = buffers[v];
  std::array<OrderedRows, n> rows = [&]<std::size_t... v>(std::index_sequence<v...>) {
    return std::array<OrderedRows, n>{OrderedRows(views[v])...};
  }(std::make_index_sequence<n>{});
  while (begin < end) {
    std::array<OrderedRows::Piece, n> pieces;
    std::int64_t count = std::min(end - begin, kPiece);
    for (std::size_t v = 0; v < n; ++v) {
      pieces[v] = rows[v].piece(begin, count);
      count = std::min(count, pieces[v].length);
    }
    for (std::size_t v = 0; v < reads; ++v)
      read_numbers(views[v].dtype, pieces[v].at, rows[v].step(), numbers[v], count);
    f(numbers, begin, count);
    for (std::size_t v = reads; v < n; ++v)
      write_numbers(views[v].dtype, numbers[v], pieces[v].at, rows[v].step(), count);
    begin += count;
  }
}

/// What an element of each view costs to move.
template <std::size_t n>
Grain grain_of(const std::array<HostView, n>& views) noexcept {
  std::int64_t bytes = 0;
  for (const HostView& view : views) bytes += size_bytes(view.dtype);
  return Grain::of_bytes(bytes);
}

// ---- what elements can say ----

using op::DnnFault;
using op::DnnFinding;

inline DnnFinding earlier(const DnnFinding& a, const DnnFinding& b) noexcept {
  if (a.fault == DnnFault::none) return b;
  if (b.fault == DnnFault::none) return a;
  return b.place < a.place ? b : a;
}
/// Writes the verdict, and says whether all is well.
inline bool is_well(const DnnFinding& found, const op::View& verdict, const HostViews& here) noexcept {
  op::write_verdict(found, here.data<std::int32_t>(verdict));
  return found.fault == DnnFault::none;
}

/// Integers of an array, i32 or i64, in row-major order, read once: what a later reader finds is what was checked.
class DnnIndices {
 public:
  /// Those from 0 to before `bound` are well, and so is `ignored`, if it is not one of them.
  static Result<DnnIndices> read(const HostView& view, DnnFault fault, std::int64_t bound, std::int64_t ignored,
                                 Team& team) {
    DnnIndices made;
    const OrderedRows rows(view);
    made.count_ = rows.count();
    made.memory_ = TROUPE_TRY(make_scratch(made.count_ * std::int64_t{sizeof(std::int64_t)}));
    auto* const to = reinterpret_cast<std::int64_t*>(made.memory_.get());
    const auto read_part = [&](std::int64_t begin, std::int64_t end) noexcept {
      DnnFinding found;
      while (begin < end) {
        const OrderedRows::Piece piece = rows.piece(begin, end - begin);
        for (std::int64_t i = 0; i < piece.length; ++i) {
          const std::byte* const at = piece.at + i * rows.step();
          const std::int64_t index = view.dtype == DType::i32 ? load<std::int32_t>(at) : load<std::int64_t>(at);
          to[begin + i] = index;
          if ((index < 0 || index >= bound) && index != ignored && found.fault == DnnFault::none)
            found = {.fault = fault, .place = begin + i, .value = index, .bound = bound};
        }
        begin += piece.length;
      }
      return found;
    };
    made.found_ = team.reduce(made.count_, Grain::of_ns(1), DnnFinding{}, read_part,
                              [](const DnnFinding& a, const DnnFinding& b) { return earlier(a, b); });
    return made;
  }

  const DnnFinding& found() const noexcept { return found_; }
  std::int64_t count() const noexcept { return count_; }
  std::int64_t operator[](std::int64_t i) const noexcept {
    return reinterpret_cast<const std::int64_t*>(memory_.get())[i];
  }

 private:
  std::int64_t count_ = 0;
  Scratch memory_;
  DnnFinding found_;
};

/// The first number of a view that is no probability.
template <class C>
DnnFinding check_probabilities(const HostView& view, Team& team) noexcept {
  return team.reduce(
      OrderedRows(view).count(), grain_of(std::array{view}), DnnFinding{},
      [&](std::int64_t begin, std::int64_t end) noexcept {
        DnnFinding found;
        each_piece<C, 1>(std::array{view}, begin, end,
                         [&](const std::array<C*, 1>& numbers, std::int64_t first, std::int64_t count) {
                           for (std::int64_t i = 0; i < count && found.fault == DnnFault::none; ++i)
                             if (!dnn::is_probability(numbers[0][i]))
                               found = {.fault = DnnFault::probability_outside, .place = first + i};
                         });
        return found;
      },
      [](const DnnFinding& a, const DnnFinding& b) { return earlier(a, b); });
}

// ---- memory and parts ----

template <class C>
class NumberBuffers {
 public:
  /// So many rows of so many numbers each.
  static Result<NumberBuffers> make(int rows, std::int64_t length) {
    NumberBuffers made;
    made.length_ = (length + 15) / 16 * 16;  // each begins at a cache line
    made.memory_ = TROUPE_TRY(make_scratch(rows * made.length_ * std::int64_t{sizeof(C)}));
    return made;
  }
  C* operator[](int row) const noexcept { return reinterpret_cast<C*>(memory_.get()) + row * length_; }

 private:
  std::int64_t length_ = 0;
  Scratch memory_;
};

/// Calls `f(begin, end)` for parts that make up `count` rows, from several threads, each of which may need memory.
template <class F>
Result<void> each_part(Team& team, std::int64_t count, Grain grain, const F& f) {
  if (count < 1) return {};
  const std::int64_t parts = parts_for(team, count, grain);
  return try_each(team, parts, Grain::of_items(1), [&](std::int64_t part) -> Result<void> {
    return f(part_begin(count, part, parts), part_begin(count, part + 1, parts));
  });
}

}  // namespace troupe::host
