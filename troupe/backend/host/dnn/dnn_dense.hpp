// The arrays of a layer as plain row-major memory of the type that is computed in, so that its loops need no strides
// and no other types. An array that lies so is used where it is; others go through a copy, which a team makes tile by
// tile.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"

namespace troupe::host {

/// `C` is float or double.
template <class C>
class Dense {
 public:
  /// With the array's elements.
  static Result<Dense> reading(const op::View& view, const HostViews& here) {
    Dense made = TROUPE_TRY(writing(view, here));
    if (made.scratch_) TROUPE_TRY(move(made.view_, made.dense(), here.team()));
    return made;
  }
  /// For what the op makes: `finish` puts it into the array.
  static Result<Dense> writing(const op::View& view, const HostViews& here) {
    Dense made;
    made.view_ = here(view);
    const bool is_plain = view.dtype == dtype_of<C> && is_contiguous(view.shape, view.strides) &&
                          reinterpret_cast<std::uintptr_t>(made.view_.data) % alignof(C) == 0;
    if (is_plain) {
      made.data_ = reinterpret_cast<C*>(made.view_.data);
      return made;
    }
    made.scratch_ = TROUPE_TRY(make_scratch(op::element_count(view) * static_cast<std::int64_t>(sizeof(C))));
    made.data_ = reinterpret_cast<C*>(made.scratch_.get());
    return made;
  }

  C* data() const noexcept { return data_; }
  Result<void> finish(Team& team) const { return scratch_ ? move(dense(), view_, team) : Result<void>(); }

 private:
  HostView dense() const noexcept {
    return {reinterpret_cast<std::byte*>(data_), dtype_of<C>, view_.shape, contiguous_strides(view_.shape)};
  }
  static Result<void> move(const HostView& from, const HostView& to, Team& team) {
    return from.dtype == to.dtype ? copy(from, to, team) : cast(from, to, team);
  }

  HostView view_;
  Scratch scratch_;
  C* data_ = nullptr;
};

/// `C` memory of our own, not initialized.
template <class C>
class OwnNumbers {
 public:
  static Result<OwnNumbers> make(std::int64_t count) {
    return OwnNumbers(TROUPE_TRY(make_scratch(count * static_cast<std::int64_t>(sizeof(C)))));
  }
  C* get() const noexcept { return reinterpret_cast<C*>(memory_.get()); }

 private:
  explicit OwnNumbers(Scratch memory) noexcept : memory_(std::move(memory)) {}
  Scratch memory_;
};

/// The product of the extents from axis `first` on.
inline std::int64_t extent_from(const Shape& shape, int first) noexcept {
  std::int64_t product = 1;
  for (int i = first; i < shape.rank(); ++i) product *= shape[i];
  return product;
}

/// The sum of `term(i)` for i below `count`, in f64 and in an order that depends on the count alone.
template <class Term>
double sum_of(std::int64_t count, const Term& term) noexcept {
  constexpr std::int64_t kLanes = 16;
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(term(i + lane));
  for (std::int64_t lane = 0; i < count; ++i, ++lane) lanes[lane] += static_cast<double>(term(i));
  for (std::int64_t step = 1; step < kLanes; step *= 2)
    for (std::int64_t lane = 0; lane < kLanes; lane += 2 * step) lanes[lane] += lanes[lane + step];
  return lanes[0];
}

}  // namespace troupe::host
