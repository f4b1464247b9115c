// The scan of a part of a row by one thread. Each element waits for the one before it; so that a CPU has more to do,
// several neighbouring pieces are scanned at once, from totals that are found first.
#pragma once

#include <array>
#include <cstdint>

#include "troupe/backend/host/primitives/primitives_functions.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::host {

/// `H` is what is held while it runs.
template <Combine function, class H>
class ScanRows {
 public:
  ScanRows(bool exclusive, DType in, DType out) noexcept
      : exclusive_(exclusive),
        loads_as_is_(in == dtype_of<H>),
        stores_as_is_(out == dtype_of<H>),
        load_(load_row_for<H>(in)),
        store_(store_row_for<H>(out)) {}

  /// y = the scan of x from `carry` on. Gives the total of x without `carry`.
  H scan(const Row& x, const Row& y, H carry) const noexcept {
    H all = kNothing;
    if (reads_plain(x) && stores_as_is_ && y.is_plain(sizeof(H)) && !std::same_as<H, bool>) {
      const H* in = reinterpret_cast<const H*>(x.at);
      H* out = reinterpret_cast<H*>(y.at);
      for (std::int64_t done = 0; done < x.count; done += kGroup)
        scan_group(in + done, out + done, std::min(kGroup, x.count - done), carry, all);
      return all;
    }
    alignas(64) std::array<H, kGroup> group;
    for (std::int64_t done = 0; done < x.count; done += kGroup) {
      const std::int64_t count = std::min(kGroup, x.count - done);
      load_(x[done], x.step, count, group.data());
      scan_group(group.data(), group.data(), count, carry, all);
      store_(group.data(), count, y[done], y.step);
    }
    return all;
  }
  /// The same total.
  H total(const Row& x) const noexcept {
    H all = kNothing;
    alignas(64) std::array<H, kGroup> group;
    for (std::int64_t done = 0; done < x.count; done += kGroup) {
      const std::int64_t count = std::min(kGroup, x.count - done);
      const H* in = reinterpret_cast<const H*>(x[done]);
      if (!reads_plain(x)) {
        load_(x[done], x.step, count, group.data());
        in = group.data();
      }
      if (count < kGroup) {
        for (std::int64_t i = 0; i < count; ++i) all = put(all, in[i]);
      } else {
        for (std::int64_t piece = 0; piece < kPieces; ++piece) all = put(all, piece_total(in + piece * kPiece));
      }
    }
    return all;
  }

 private:
  static constexpr H kNothing = primitives::neutral<function, H>();
  static constexpr std::int64_t kPieces = 8;
  static constexpr std::int64_t kPiece = 128;
  static constexpr std::int64_t kGroup = kPieces * kPiece;

  static H put(H a, H b) noexcept { return primitives::combine<function>(a, b); }
  /// Bytes of a bool may be neither 0 nor 1.
  bool reads_plain(const Row& x) const noexcept {
    return loads_as_is_ && x.is_plain(sizeof(H)) && !std::same_as<H, bool>;
  }

  /// In lanes that make up vectors.
  static H piece_total(const H* in) noexcept {
    constexpr std::int64_t kLanes = 16;
    std::array<H, kLanes> lanes;
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = in[k];
    for (std::int64_t i = kLanes; i < kPiece; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = put(lanes[k], in[i + static_cast<std::int64_t>(k)]);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) lanes[k] = put(lanes[k], lanes[k + half]);
    return lanes[0];
  }

  void scan_group(const H* in, H* out, std::int64_t count, H& carry, H& all) const noexcept {
    if (count < kGroup) {
      for (std::int64_t i = 0; i < count; ++i) {
        const H element = in[i];
        const H before = carry;
        carry = put(carry, element);
        all = put(all, element);
        out[i] = exclusive_ ? before : carry;
      }
      return;
    }
    std::array<H, kPieces> held;
    for (std::int64_t piece = 0; piece < kPieces; ++piece) {
      const H total = piece_total(in + piece * kPiece);
      held[static_cast<std::size_t>(piece)] = carry;
      carry = put(carry, total);
      all = put(all, total);
    }
    if (exclusive_)
      scan_pieces<true>(in, out, held);
    else
      scan_pieces<false>(in, out, held);
  }

  template <bool exclusive>
  static void scan_pieces(const H* in, H* out, std::array<H, kPieces> held) noexcept {
    for (std::int64_t i = 0; i < kPiece; ++i)
      for (std::size_t piece = 0; piece < kPieces; ++piece) {
        const std::int64_t at = static_cast<std::int64_t>(piece) * kPiece + i;
        const H before = held[piece];
        held[piece] = put(before, in[at]);
        out[at] = exclusive ? before : held[piece];
      }
  }

  bool exclusive_;
  bool loads_as_is_;
  bool stores_as_is_;
  LoadRow<H> load_;
  StoreRow<H> store_;
};

}  // namespace troupe::host
