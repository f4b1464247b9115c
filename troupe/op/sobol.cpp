#include "troupe/op/sobol.hpp"

#include <bit>

namespace troupe::inline v0::random {
namespace {

#include "troupe/op/sobol_numbers.inc"

static_assert(std::size(kPolynomials) == kMaxSobolDimensions - 1, "the first coordinate needs none");

/// By the recurrence of Bratley and Fox, from the top bit on.
void make_directions(std::uint32_t polynomial, const std::uint16_t* first_numbers, std::uint64_t* directions) {
  const int degree = std::bit_width(polynomial) - 1;
  for (int i = 0; i < kSobolBits; ++i) {
    if (i < degree) {
      directions[i] = std::uint64_t{first_numbers[i]} << (kSobolBits - 1 - i);
      continue;
    }
    directions[i] = directions[i - degree] ^ directions[i - degree] >> degree;
    for (int k = 1; k < degree; ++k)
      if ((polynomial >> (degree - k) & 1) != 0) directions[i] ^= directions[i - k];
  }
}

/// Each bit becomes its sum with a random choice of the bits above it.
void scramble(const Source& source, std::uint32_t dimension, std::uint64_t kept, std::uint64_t* directions) {
  std::uint64_t rows[kSobolBits];
  for (unsigned i = 0; i < kSobolBits; ++i) {
    const std::uint64_t index = (std::uint64_t{dimension} * kSobolBits + i) / 2;
    const std::uint64_t own = std::uint64_t{1} << (kSobolBits - 1 - i);
    rows[i] = (number_of(philox(source, index, kScramble), i % 2) & ~(own | (own - 1))) | own;
  }
  for (int direction = 0; direction < kSobolBits; ++direction) {
    std::uint64_t scrambled = 0;
    for (const std::uint64_t row : rows)
      scrambled = scrambled << 1 | static_cast<std::uint64_t>(std::popcount(row & directions[direction]) % 2);
    directions[direction] = scrambled & kept;
  }
}

}  // namespace

SobolTable::SobolTable(std::uint32_t dimensions)
    : dimensions_(dimensions), directions_(std::size_t{dimensions} * kSobolBits), shifts_(dimensions) {
  for (int i = 0; i < kSobolBits; ++i)
    directions_[static_cast<std::size_t>(i)] = std::uint64_t{1} << (kSobolBits - 1 - i);
  const std::uint16_t* first_numbers = kFirstNumbers;
  for (std::uint32_t dimension = 1; dimension < dimensions; ++dimension) {
    const std::uint32_t polynomial = kPolynomials[dimension - 1];
    make_directions(polynomial, first_numbers, directions_.data() + std::size_t{dimension} * kSobolBits);
    first_numbers += std::bit_width(polynomial) - 1;
  }
}

SobolTable::SobolTable(std::uint32_t dimensions, const Source& source, bool is_of_32_bits) : SobolTable(dimensions) {
  const std::uint64_t kept = is_of_32_bits ? ~std::uint64_t{0} << 32 : ~std::uint64_t{0};
  for (std::uint32_t dimension = 0; dimension < dimensions; ++dimension) {
    scramble(source, dimension, kept, directions_.data() + std::size_t{dimension} * kSobolBits);
    shifts_[dimension] = number_of(philox(source, dimension, kScramble | 1U), 0) & kept;
  }
}

}  // namespace troupe::inline v0::random
