// The checksum of a checkpoint's bytes: XXH64 with seed 0, as its specification has it. It reads 32 bytes in a few
// cycles, so that it costs less than the file; and no two contents that differ in a single byte have the same one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::inline v0 {

class Checksum {
 public:
  static constexpr std::size_t kStripeBytes = 32;

  /// Takes the next bytes. All but the last ones come in multiples of `kStripeBytes`.
  void add(std::span<const std::byte> bytes) noexcept;
  std::uint64_t value() const noexcept;

  static std::uint64_t of(std::span<const std::byte> bytes) noexcept {
    Checksum sum;
    sum.add(bytes);
    return sum.value();
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F;

  std::array<std::uint64_t, 4> lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  std::uint64_t size_bytes_ = 0;
  std::array<std::byte, kStripeBytes> rest_{};  // what is left of the last bytes
};

}  // namespace troupe::inline v0
