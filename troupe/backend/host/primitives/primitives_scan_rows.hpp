// The scan of a part of a row by one thread. Each element waits for the one before it; so that a CPU has more to do,
// several neighbouring pieces are scanned at once, from totals that are found first.
#pragma once

#include <array>
#include <cstdint>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "troupe/backend/host/primitives/primitives_functions.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::host {

/// Copies past the caches, which have more use for what is read. Needs a multiple of 16 bytes.
inline void write_past_caches(const void* from, std::byte* to, std::int64_t bytes) noexcept {
#ifdef __x86_64__
  if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    const auto* const in = static_cast<const __m128i*>(from);
    auto* const out = reinterpret_cast<__m128i*>(to);
    for (std::int64_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
    return;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
/// Before other threads are told of what was written so.
inline void end_writes_past_caches() noexcept {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

/// Elements of any type as a `H`, side by side.
template <class H, Element T>
void load_for_scan(const std::byte* from, std::int64_t step, std::int64_t count, H* to) noexcept {
  if constexpr (std::integral<T> && !std::same_as<T, H> && !std::same_as<T, bool>) {
    if (step == std::int64_t{sizeof(T)}) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<H>(load<T>(from + i * std::int64_t{sizeof(T)}));
      return;
    }
  }
  load_row<H, T>(from, step, count, to);
}
template <class H>
LoadRow<H> load_for_scan_of(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> LoadRow<H> {
    if constexpr (op::is_promoted_to(dtype_of<T>, dtype_of<H>))
      return load_for_scan<H, T>;
    else
      return nullptr;
  });
}

/// `H` is what is held while it runs.
template <Combine function, class H>
class ScanRows {
 public:
  ScanRows(bool exclusive, DType in, DType out) noexcept
      : exclusive_(exclusive),
        loads_as_is_(in == dtype_of<H>),
        stores_as_is_(out == dtype_of<H>),
        load_(load_for_scan_of<H>(in)),
        store_(store_row_for<H>(out)) {}

  /// y = the scan of x from `carry` on. Gives the total of x without `carry`. `is_long` when y is more than the caches
  /// hold.
  H scan(const Row& x, const Row& y, H carry, bool is_long) const noexcept {
    H all = kNothing;
    alignas(64) std::array<H, kGroup> group;
    alignas(64) std::array<H, kGroup> made;
    const bool reads = reads_plain(x);
    const bool writes = stores_as_is_ && y.is_plain(sizeof(H)) && !std::same_as<H, bool>;
    for (std::int64_t done = 0; done < x.count; done += kGroup) {
      const std::int64_t count = std::min(kGroup, x.count - done);
      const H* in = reinterpret_cast<const H*>(x[done]);
      if (!reads) {
        load_(x[done], x.step, count, group.data());
        in = group.data();
      }
      const bool is_direct = writes && (!is_long || count < kGroup);
      scan_group(in, is_direct ? reinterpret_cast<H*>(y[done]) : made.data(), count, carry, all);
      if (is_direct) continue;
      if (writes)
        write_past_caches(made.data(), y[done], std::int64_t{sizeof(made)});
      else
        store_(made.data(), count, y[done], y.step);
    }
    if (is_long && writes) end_writes_past_caches();
    return all;
  }
  /// Neighbouring rows together, of elements that are `across` bytes apart. Needs as many held numbers as rows.
  void scan_across(Row x, std::int64_t x_across, Row y, std::int64_t y_across, std::int64_t rows) const noexcept {
    const bool reads =
        loads_as_is_ && Row{x.at, x_across, rows}.is_plain(sizeof(H)) && x.step % std::int64_t{sizeof(H)} == 0;
    const bool writes =
        stores_as_is_ && Row{y.at, y_across, rows}.is_plain(sizeof(H)) && y.step % std::int64_t{sizeof(H)} == 0;
    alignas(64) std::array<H, kAcross> held, group, made;
    held.fill(kNothing);
    for (std::int64_t i = 0; i < x.count; ++i) {
      const H* in = group.data();
      if (reads && !std::same_as<H, bool>)
        in = reinterpret_cast<const H*>(x[i]);
      else
        load_(x[i], x_across, rows, group.data());
      for (std::int64_t k = 0; k < rows; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const H before = held[at];
        held[at] = put<true>(before, in[k]);
        made[at] = exclusive_ ? before : held[at];
      }
      if (writes)
        std::memcpy(y[i], made.data(), static_cast<std::size_t>(rows) * sizeof(H));
      else
        store_(made.data(), rows, y[i], y_across);
    }
  }
  static constexpr std::int64_t kAcross = 256;

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
        for (std::int64_t i = 0; i < count; ++i) all = put<true>(all, in[i]);
      } else if (has_nan(in, all)) {
        for (std::int64_t piece = 0; piece < kPieces; ++piece)
          all = put<true>(all, piece_total<true>(in + piece * kPiece));
      } else {
        for (std::int64_t piece = 0; piece < kPieces; ++piece)
          all = put<false>(all, piece_total<false>(in + piece * kPiece));
      }
    }
    return all;
  }

 private:
  static constexpr H kNothing = primitives::neutral<function, H>();
  static constexpr std::int64_t kPieces = 8;
  static constexpr std::int64_t kPiece = 128;
  static constexpr std::int64_t kGroup = kPieces * kPiece;

  /// Whether the functions must look out for NaN: the least and the greatest of floats.
  static constexpr bool kMindsNan = std::floating_point<H> && (function == Combine::min || function == Combine::max);

  /// `primitives::combine`, without branches.
  template <bool may_be_nan>
  static H put(H a, H b) noexcept {
    if constexpr (kMindsNan) {
      H found = (function == Combine::min ? b < a : a < b) ? b : a;
      if constexpr (!may_be_nan) return found;
      found = b != b ? b : found;  // NOLINT(misc-redundant-expression)
      return a != a ? a : found;   // NOLINT(misc-redundant-expression)
    } else {
      return primitives::combine<function>(a, b);
    }
  }
  static bool has_nan([[maybe_unused]] const H* group, [[maybe_unused]] H held) noexcept {
    if constexpr (kMindsNan) {
      int found = held != held ? 1 : 0;  // NOLINT(misc-redundant-expression)
      for (std::int64_t i = 0; i < kGroup; ++i) found |= group[i] != group[i] ? 1 : 0;
      return found != 0;
    } else {
      return false;
    }
  }
  /// Bytes of a bool may be neither 0 nor 1.
  bool reads_plain(const Row& x) const noexcept {
    return loads_as_is_ && x.is_plain(sizeof(H)) && !std::same_as<H, bool>;
  }

  /// In lanes that make up vectors.
  template <bool may_be_nan>
  static H piece_total(const H* in) noexcept {
    constexpr std::int64_t kLanes = 16;
    std::array<H, kLanes> lanes;
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = in[k];
    for (std::int64_t i = kLanes; i < kPiece; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k)
        lanes[k] = put<may_be_nan>(lanes[k], in[i + static_cast<std::int64_t>(k)]);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) lanes[k] = put<may_be_nan>(lanes[k], lanes[k + half]);
    return lanes[0];
  }

  void scan_group(const H* in, H* out, std::int64_t count, H& carry, H& all) const noexcept {
    if (count < kGroup) {
      for (std::int64_t i = 0; i < count; ++i) {
        const H element = in[i];
        const H before = carry;
        carry = put<true>(carry, element);
        all = put<true>(all, element);
        out[i] = exclusive_ ? before : carry;
      }
      return;
    }
    if (has_nan(in, put<true>(carry, all)))
      scan_whole_group<true>(in, out, carry, all);
    else
      scan_whole_group<false>(in, out, carry, all);
  }
  template <bool may_be_nan>
  void scan_whole_group(const H* in, H* out, H& carry, H& all) const noexcept {
    std::array<H, kPieces> held;
    for (std::int64_t piece = 0; piece < kPieces; ++piece) {
      const H total = piece_total<may_be_nan>(in + piece * kPiece);
      held[static_cast<std::size_t>(piece)] = carry;
      carry = put<may_be_nan>(carry, total);
      all = put<may_be_nan>(all, total);
    }
    if (exclusive_)
      scan_pieces<may_be_nan, true>(in, out, held);
    else
      scan_pieces<may_be_nan, false>(in, out, held);
  }

  template <bool may_be_nan, bool exclusive>
  static void scan_pieces(const H* in, H* out, std::array<H, kPieces> held) noexcept {
    for (std::int64_t i = 0; i < kPiece; ++i) {
      // The next group comes while this one, which is near, is computed.
      __builtin_prefetch(in + kGroup + i * kPieces);
      for (std::size_t piece = 0; piece < kPieces; ++piece) {
        const std::int64_t at = static_cast<std::int64_t>(piece) * kPiece + i;
        const H before = held[piece];
        held[piece] = put<may_be_nan>(before, in[at]);
        out[at] = exclusive ? before : held[piece];
      }
    }
  }

  bool exclusive_;
  bool loads_as_is_;
  bool stores_as_is_;
  LoadRow<H> load_;
  StoreRow<H> store_;
};

}  // namespace troupe::host
