#include "troupe/library/checkpoint/checksum.hpp"

#include <bit>
#include <cstring>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                        kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so are the words of a sum");

template <class Word>
std::uint64_t word_at(const std::byte* bytes) noexcept {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  TROUPE_ASSERT(size_bytes_ % kStripeBytes == 0, "only the last bytes may end inside a stripe");
  size_bytes_ += bytes.size();
  for (; bytes.size() >= kStripeBytes; bytes = bytes.subspan(kStripeBytes))
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      lanes_[i] = round(lanes_[i], word_at<std::uint64_t>(bytes.data() + 8 * i));
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const noexcept {
  std::uint64_t sum = kPrime5;
  if (size_bytes_ >= kStripeBytes) {
    sum = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) sum = (sum ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  sum += size_bytes_;
  const std::byte* at = rest_.data();
  std::size_t left = size_bytes_ % kStripeBytes;
  for (; left >= 8; left -= 8, at += 8)
    sum = std::rotl(sum ^ round(0, word_at<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  for (; left >= 4; left -= 4, at += 4)
    sum = std::rotl(sum ^ (word_at<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
  for (; left > 0; --left, ++at) sum = std::rotl(sum ^ (word_at<std::uint8_t>(at) * kPrime5), 11) * kPrime1;
  sum = (sum ^ (sum >> 33)) * kPrime2;
  sum = (sum ^ (sum >> 29)) * kPrime3;
  return sum ^ (sum >> 32);
}

}  // namespace troupe::inline v0
