#include "troupe/backend/host/vectors/half_bits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "troupe/core/seed.test.hpp"

namespace troupe::host {
namespace {

/// Around every power of two, where a f16 or bf16 changes its step, and half-way between neighbours.
std::vector<float> hard_floats() {
  std::vector<float> floats;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const std::uint32_t mantissa :
         {0U,        1U,        0xFFFU,    0x1000U,   0x1001U,   0x1FFFU,   0x2000U,  0x2FFFU,
          0x3000U,   0x3001U,   0x7FFFU,   0x8000U,   0x8001U,   0x17FFFU,  0x18000U, 0x18001U,
          0x400000U, 0x7FEFFFU, 0x7FF000U, 0x7FF001U, 0x7F7FFFU, 0x7F8000U, 0x7FFFFFU})
      for (const std::uint32_t sign : {0U, 1U})
        floats.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | mantissa));
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 1'000'000; ++i) floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return floats;
}

template <class Half>
void expect_every_half_widens() {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(to_float(half)), std::bit_cast<std::uint32_t>(static_cast<float>(half)))
        << std::hex << bits;
  }
}

TEST(HalfBits, widen_every_number_to_the_same_bits) {
  expect_every_half_widens<f16>();
  expect_every_half_widens<bf16>();
}

TEST(HalfBits, narrow_floats_to_the_same_bits) {
  for (const float number : hard_floats()) {
    ASSERT_EQ(to_f16(number).bits, f16(number).bits) << std::hexfloat << number;
    ASSERT_EQ(to_bf16(number).bits, bf16(number).bits) << std::hexfloat << number;
  }
}

TEST(HalfBits, round_doubles_and_integers_once) {
  std::mt19937_64 random(test_seed());
  const std::vector<float> floats = hard_floats();
  for (int i = 0; i < 1'000'000; ++i) {
    const double near = floats[static_cast<std::size_t>(i) % floats.size()];
    for (const double number : {near, std::nextafter(near, 0.0), std::nextafter(near, 1e300),
                                std::bit_cast<double>(random()), near * 1.0000000001}) {
      ASSERT_EQ(convert_number<f16>(number).bits, convert<f16>(number).bits) << std::hexfloat << number;
      ASSERT_EQ(convert_number<bf16>(number).bits, convert<bf16>(number).bits) << std::hexfloat << number;
    }
    const auto whole = static_cast<std::int64_t>(random()) >> (i % 64);
    ASSERT_EQ(convert_number<f16>(whole).bits, convert<f16>(whole).bits) << whole;
    ASSERT_EQ(convert_number<bf16>(whole).bits, convert<bf16>(whole).bits) << whole;
    const auto half = static_cast<std::int32_t>(whole);
    ASSERT_EQ(convert_number<f16>(half).bits, convert<f16>(half).bits) << half;
    ASSERT_EQ(convert_number<bf16>(half).bits, convert<bf16>(half).bits) << half;
  }
}

}  // namespace
}  // namespace troupe::host
