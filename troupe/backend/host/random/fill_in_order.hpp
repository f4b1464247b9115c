// Goes through an array in row-major order, piece by piece and by a team, for ops whose elements depend on their number
// alone. An op writes its elements side by side; where the array has gaps between them, they are spread afterwards.
#pragma once

#include <algorithm>
#include <cstdint>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

/// The elements of an array as rows whose elements are equally far apart, in row-major order.
class OrderedRows {
 public:
  explicit OrderedRows(const HostView& out) noexcept : data_(out.data), size_(size_bytes(out.dtype)) {
    for (int i = out.shape.rank() - 1; i >= 0; --i) add(out.shape[i], out.strides[i] * size_);
  }
  std::int64_t count() const noexcept { return count_; }
  /// From one element of a row to the next, in bytes.
  std::int64_t step() const noexcept { return loops_.front().step; }

  struct Piece {
    std::byte* at;
    std::int64_t length;
  };
  /// From element `begin` on: at most `most` elements of one row. Needs begin < count().
  Piece piece(std::int64_t begin, std::int64_t most) const noexcept {
    const std::int64_t column = begin % loops_.front().extent;
    std::int64_t row = begin / loops_.front().extent;
    std::byte* at = data_ + column * step();
    for (int i = 1; i < rank_; row /= loops_[static_cast<std::size_t>(i++)].extent) {
      const Loop& loop = loops_[static_cast<std::size_t>(i)];
      at += row % loop.extent * loop.step;
    }
    return {at, std::min(most, loops_.front().extent - column)};
  }

 private:
  struct Loop {
    std::int64_t extent = 1;
    std::int64_t step = 0;
  };
  /// The next dimension outwards; part of the last one where it goes on where that ends.
  void add(std::int64_t extent, std::int64_t step) noexcept {
    count_ *= extent;
    if (extent < 2) return;
    Loop& last = loops_[static_cast<std::size_t>(std::max(rank_ - 1, 0))];
    if (rank_ > 0 && step == last.step * last.extent)
      last.extent *= extent;
    else
      loops_[static_cast<std::size_t>(rank_++)] = {extent, step};
  }

  std::byte* data_;
  std::int64_t size_;
  std::int64_t count_ = 1;
  std::array<Loop, kMaxRank> loops_{};  // the innermost first
  int rank_ = 0;
};

/// A piece has at most so many elements. A multiple of every number of positions that share a block of bits.
inline constexpr std::int64_t kPiece = 512;

/// `make(bits, to, position, count)` for pieces that make up the array, from `position` on; `to` has room for `count`
/// elements of type `T`, at most `kPiece`. `bits` is what `start(position)` gave for a block of the team, whose pieces
/// follow each other.
template <Element T, class Start, class Make>
void fill_in_order(const HostView& out, Team& team, Grain grain, std::uint64_t position, const Start& start,
                   const Make& make) noexcept {
  const OrderedRows rows(out);
  team.run(rows.count(), grain, [&](std::int64_t begin, std::int64_t end) noexcept {
    auto bits = start(position + static_cast<std::uint64_t>(begin));
    while (begin < end) {
      const std::uint64_t here = position + static_cast<std::uint64_t>(begin);
      const auto most = std::min(end - begin, kPiece - static_cast<std::int64_t>(here % 4));
      const OrderedRows::Piece piece = rows.piece(begin, most);
      const bool is_dense = rows.step() == static_cast<std::int64_t>(sizeof(T)) || piece.length == 1;
      if (is_dense && reinterpret_cast<std::uintptr_t>(piece.at) % alignof(T) == 0) {
        make(bits, reinterpret_cast<T*>(piece.at), here, piece.length);
      } else {
        alignas(64) T elements[kPiece];
        make(bits, elements, here, piece.length);
        for (std::int64_t i = 0; i < piece.length; ++i) store(piece.at + i * rows.step(), elements[i]);
      }
      begin += piece.length;
    }
  });
}

}  // namespace troupe::host
