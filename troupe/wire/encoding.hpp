// Plain values to bytes and back. Writing never fails: the writer grows. Reading trusts nothing: every length is
// checked against what is left. After the first failure all reads fail, so a decoder reads all its fields and asks
// `ok()` once.
//
// Both sides run on one machine, so numbers keep the machine's byte order.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe::inline v0::wire {

/// Raised whenever the meaning of an op's bytes changes. App and worker must agree.
inline constexpr std::uint16_t kOpVersion = 7;

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  template <Plain T>
  void put(T value) {
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    if (size_ + bytes.size() > kInlineBytes) return spill(bytes);
    if (!bytes.empty()) std::memcpy(inline_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// The length comes first, in 32 bits.
  void put_sized(std::span<const std::byte> bytes) {
    put(static_cast<std::uint32_t>(bytes.size()));
    put_bytes(bytes);
  }
  void put_text(std::string_view text) { put_sized(std::as_bytes(std::span(text))); }

  std::span<const std::byte> bytes() const noexcept {
    return size_ <= kInlineBytes ? std::span<const std::byte>(inline_).first(size_) : std::span(spilled_);
  }

 private:
  static constexpr std::size_t kInlineBytes = 352;  // almost all ops fit, and then there is no allocation
  static constexpr std::size_t kFirstSpill = 1024;

  void spill(std::span<const std::byte> bytes) {
    if (spilled_.empty()) {
      spilled_.reserve(kFirstSpill);
      spilled_.assign(inline_.begin(), inline_.begin() + static_cast<std::ptrdiff_t>(size_));
    }
    spilled_.insert(spilled_.end(), bytes.begin(), bytes.end());
    size_ = spilled_.size();
  }

  std::array<std::byte, kInlineBytes> inline_;
  std::vector<std::byte> spilled_;  // everything, once it is more than fits inline
  std::size_t size_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  bool ok() const noexcept { return ok_; }
  /// Everything was read, and all of it was there.
  bool finished() const noexcept { return ok_ && left_.empty(); }
  std::size_t left_bytes() const noexcept { return left_.size(); }

  template <Plain T>
  T get() noexcept {
    T value{};
    const std::span<const std::byte> bytes = get_bytes(sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      if (ok_) value = bytes[0] != std::byte{0};  // a bool with any other byte would be undefined
    } else {
      if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    }
    return value;
  }
  /// A view into the bytes read from; empty after a failure.
  std::span<const std::byte> get_bytes(std::size_t size) noexcept {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> bytes = left_.first(size);
    left_ = left_.subspan(size);
    return bytes;
  }
  std::span<const std::byte> get_sized() noexcept { return get_bytes(get<std::uint32_t>()); }
  std::string_view get_text() noexcept {
    const std::span<const std::byte> bytes = get_sized();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// For a decoder that has found an impossible value.
  void reject() noexcept { ok_ = false; }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace troupe::inline v0::wire
