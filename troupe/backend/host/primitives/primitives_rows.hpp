// Rows along the last axis, in several arrays at once; indices of either size; offsets of segments; and the verdict:
// what all primitives share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/kernels/plane.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/kernels/spread_rows.hpp"
#include "troupe/backend/host/team/try_each.hpp"
#include "troupe/backend/host/tensor/tensor_reduce.hpp"
#include "troupe/op/primitives_finding.hpp"

namespace troupe::host {

/// Elements `step` bytes apart.
struct Row {
  std::byte* at = nullptr;
  std::int64_t step = 0;
  std::int64_t count = 0;

  std::byte* operator[](std::int64_t i) const noexcept { return at + i * step; }
  Row part(std::int64_t begin, std::int64_t end) const noexcept { return {at + begin * step, step, end - begin}; }
  /// Whether it is an array of C++, of elements of that size.
  bool is_plain(std::size_t size) const noexcept {
    return step == static_cast<std::int64_t>(size) &&
           reinterpret_cast<std::uintptr_t>(at) % std::min<std::size_t>(size, 8) == 0;
  }
};

/// A vector as a row.
inline Row row_of(const HostView& vector) noexcept {
  return {vector.data, vector.strides[0] * size_bytes(vector.dtype), vector.shape[0]};
}
/// Bytes from one element of a row to the next; needs a view that has rows.
inline std::int64_t step_of(const HostView& view) noexcept {
  return view.strides[view.strides.rank() - 1] * size_bytes(view.dtype);
}
inline std::int64_t length_of(const HostView& view) noexcept { return view.shape[view.shape.rank() - 1]; }

inline void pack_row(const Row& row, std::int64_t size, std::byte* to) noexcept {
  if (row.count > 0) gather_row(row.at, row.step, size, to, row.count);
}
inline void unpack_row(const std::byte* from, std::int64_t size, const Row& row) noexcept {
  if (row.count > 0)
    copy_plane({.in = from, .in_column = size, .out = row.at, .out_column = row.step, .rows = 1, .columns = row.count},
               size);
}

/// The rows of views that have the same axes, but for the last one, which some may not have. In row-major order.
template <std::size_t n>
class RowsOf {
 public:
  RowsOf(const std::array<const HostView*, n>& views, int rank) noexcept {
    for (std::size_t v = 0; v < n; ++v) start_[v] = views[v]->data;
    for (int i = rank - 2; i >= 0; --i) {
      Steps<n> steps;
      for (std::size_t v = 0; v < n; ++v) steps[v] = views[v]->strides[i] * size_bytes(views[v]->dtype);
      nest_.add(views[0]->shape[i], steps);
    }
  }
  std::int64_t number() const noexcept { return nest_.places(); }
  /// Calls `f(row, pointers)`.
  template <class F>
  void run(std::int64_t begin, std::int64_t end, F&& f) const {
    nest_.run(start_, begin, end, [&](const Pointers<n>& at) { f(begin++, at); });
  }
  Pointers<n> at(std::int64_t row) const noexcept {
    Pointers<n> found{};
    nest_.run(start_, row, row + 1, [&](const Pointers<n>& at) { found = at; });
    return found;
  }

 private:
  NestOf<n> nest_;
  Pointers<n> start_{};
};

/// Calls `f` with the type of indices or counts: i32 or i64.
template <class F>
decltype(auto) with_index(DType dtype, F&& f) {
  if (dtype == DType::i32) return f(std::type_identity<std::int32_t>{});
  return f(std::type_identity<std::int64_t>{});
}

/// How many parts are enough that every thread has some and all end at about the same time. For work that gives the
/// same whatever the parts.
inline std::int64_t parts_for(const Team& team, std::int64_t count, Grain grain) noexcept {
  return std::clamp<std::int64_t>(count / grain.items(), 1, std::int64_t{4} * team.size());
}
/// Where part `part` of so many begins.
inline std::int64_t part_begin(std::int64_t count, std::int64_t part, std::int64_t parts) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

// ---- what elements can say ----

using op::PrimitivesFault;
using op::PrimitivesFinding;

inline PrimitivesFinding earlier(const PrimitivesFinding& a, const PrimitivesFinding& b) noexcept {
  if (a.fault == PrimitivesFault::none) return b;
  if (b.fault == PrimitivesFault::none) return a;
  return b.place < a.place ? b : a;
}

/// Writes the verdict, and says whether all is well.
inline bool is_well(const PrimitivesFinding& found, const op::View& verdict, const HostViews& here) noexcept {
  op::write_verdict(found, here.data<std::int32_t>(verdict));
  return found.fault == PrimitivesFault::none;
}

/// Offsets of segments, read once: what a later reader finds is what was checked.
class Offsets {
 public:
  /// Reads them and looks for what is wrong with them.
  static Result<Offsets> read(const HostView& view, std::int64_t elements, Team& team);

  const PrimitivesFinding& found() const noexcept { return found_; }
  std::int64_t segments() const noexcept { return count_ - 1; }
  std::int64_t operator[](std::int64_t i) const noexcept { return data()[i]; }
  /// The first segment that begins at that element or behind it. Needs offsets that ascend.
  std::int64_t first_from(std::int64_t element) const noexcept {
    return std::lower_bound(data(), data() + segments(), element) - data();
  }
  /// Calls `f(begin, end)` for segments that make up all, from several threads: as many elements each as segments
  /// allow.
  template <class F>
  Result<void> each_part(Team& team, Grain grain, const F& f) const {
    const std::int64_t elements = (*this)[segments()];
    const std::int64_t weight = elements + segments();
    const std::int64_t parts = parts_for(team, weight, grain);
    return try_each(team, parts, Grain::of_items(1), [&](std::int64_t part) -> Result<void> {
      const std::int64_t begin = part == 0 ? 0 : cut(part_begin(weight, part, parts));
      const std::int64_t end = part + 1 == parts ? segments() : cut(part_begin(weight, part + 1, parts));
      return begin < end ? f(begin, end) : Result<void>{};
    });
  }

 private:
  const std::int64_t* data() const noexcept { return reinterpret_cast<const std::int64_t*>(memory_.get()); }
  /// The first segment before which so many elements and segments lie.
  std::int64_t cut(std::int64_t weight) const noexcept {
    std::int64_t low = 0, high = segments();
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if ((*this)[middle] + middle < weight)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  std::int64_t count_ = 1;
  Scratch memory_;
  PrimitivesFinding found_;
};

}  // namespace troupe::host
