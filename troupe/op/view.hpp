// Memory as ops name it. An address is a place in a device's vault, the same in the app and in every worker: the number
// of a chunk and an offset in it. A view is an array laid over the vault, a scalar is one element with its type.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "troupe/core/kinds.hpp"
#include "troupe/core/shape.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::op {

/// What an op does with an array. `part`: it reads nothing of it and writes some elements, the same ones if it is run
/// again.
enum class Access : std::uint8_t { read, write, update, part, kLast = part };

/// A chunk of the vault by its number, and bytes from its start. One number on the wire, so that ranges compare as
/// integers; no range spans two chunks.
using Address = std::uint64_t;

inline constexpr int kOffsetBits = 44;
inline constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << kOffsetBits;  // 16 TiB
inline constexpr std::uint32_t kMaxChunks = std::uint32_t{1} << 12;

constexpr Address address_of(std::uint32_t chunk, std::uint64_t offset) noexcept {
  return (static_cast<Address>(chunk) << kOffsetBits) | offset;
}
constexpr std::uint32_t chunk_of(Address address) noexcept {
  return static_cast<std::uint32_t>(address >> kOffsetBits);
}
constexpr std::uint64_t offset_of(Address address) noexcept { return address & (kMaxChunkBytes - 1); }

/// Bytes from `begin` to before `end`.
struct Range {
  Address begin = 0;
  Address end = 0;

  constexpr bool empty() const noexcept { return begin >= end; }
  constexpr bool overlaps(const Range& other) const noexcept { return begin < other.end && other.begin < end; }
  constexpr bool covers(const Range& other) const noexcept { return begin <= other.begin && other.end <= end; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

/// An array in the vault: element [0, 0, ...] at `address`, neighbours `strides` elements apart.
struct View {
  Address address = 0;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;

  friend bool operator==(const View&, const View&) = default;
};

/// What a view touches: its range, gaps included, which is empty when there are no elements; and how many there are.
struct Footprint {
  Range range;
  std::int64_t elements = 0;
  bool is_row_major = false;  // and without gaps, as most views are; maybe false of a view of one element
};
/// `invalid_argument` when the view's shape is not valid, it leaves its chunk, or there can be no such chunk.
Result<Footprint> footprint_of(const View& view);
/// The same without the count.
Result<Range> range_of(const View& view);
/// Elements in a view whose shape is valid.
std::int64_t element_count(const View& view) noexcept;
/// Whether the view's elements fill its whole range, in any order.
bool is_dense(const View& view) noexcept;
/// Whether two of its elements might be the same memory: nothing may write such a view. Never wrong when it says no;
/// says yes of a few strange layouts that do not overlap, and of shapes that are not valid.
bool may_overlap_itself(const View& view) noexcept;

/// One element of any type.
class Scalar {
 public:
  Scalar() = default;
  template <Element T>
  explicit Scalar(T value) noexcept : dtype_(dtype_of<T>) {
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  explicit Scalar(detail::Factor factor) noexcept : Scalar(std::complex<double>(factor.real, factor.imaginary)) {}

  DType dtype() const noexcept { return dtype_; }
  /// The value as a `T`, converted by the rules of `convert`.
  template <Element T>
  T as() const noexcept {
    return visit(dtype_, [&]<class From>(std::type_identity<From>) {
      From from;
      std::memcpy(&from, bytes_.data(), sizeof(From));
      return convert<T>(from);
    });
  }
  /// The same as what a `T` is computed in.
  template <Element T>
  detail::ComputeType<T> as_factor() const noexcept {
    if constexpr (std::integral<T>)
      return detail::to_compute(as<T>());
    else
      return as<detail::ComputeType<T>>();
  }
  const std::array<std::byte, 16>& bytes() const noexcept { return bytes_; }
  static Scalar from_bytes(DType dtype, const std::array<std::byte, 16>& bytes) noexcept {
    Scalar scalar;
    scalar.dtype_ = dtype;
    scalar.bytes_ = bytes;
    if (dtype == DType::boolean) scalar.bytes_[0] = static_cast<std::byte>(bytes[0] != std::byte{0});
    return scalar;
  }

  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  DType dtype_ = DType::f64;
  alignas(16) std::array<std::byte, 16> bytes_{};
};

}  // namespace troupe::inline v0::op
#pragma GCC visibility pop
