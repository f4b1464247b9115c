#include "troupe/library/checkpoint/format.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "troupe/library/checkpoint/checksum.hpp"

namespace troupe {
namespace {

std::uint64_t sum_of(std::string_view text) { return Checksum::of(std::as_bytes(std::span(text))); }

TEST(Checksum, is_the_one_of_the_specification) {
  EXPECT_EQ(sum_of(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(sum_of("a"), 0xD24EC4F1A98C6E5BU);
  EXPECT_EQ(sum_of("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(sum_of("Call me Ishmael. Some years ago--never mind how long precisely-"), 0x02A2E85470D6FD96U);
}

TEST(Checksum, does_not_depend_on_the_pieces) {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  for (const std::size_t first : {std::size_t{0}, std::size_t{32}, std::size_t{960}}) {
    Checksum sum;
    sum.add(std::span(bytes).first(first));
    sum.add(std::span(bytes).subspan(first));
    EXPECT_EQ(sum.value(), Checksum::of(bytes));
  }
}

std::vector<SavedArray> two() {
  return {{.name = "weights", .dtype = DType::bf16, .shape = {2, 3}}, {.name = "n", .dtype = DType::i64, .shape = {}}};
}

/// As somebody would who wants to do harm: the checksum is right.
void sum_again(std::vector<std::byte>& opening) {
  const std::uint64_t sum = Checksum::of(std::span(opening).first(opening.size() - kChecksumBytes));
  std::memcpy(opening.data() + opening.size() - kChecksumBytes, &sum, sizeof sum);
}

TEST(CheckpointFormat, gives_back_what_was_described) {
  const std::vector<std::byte> opening = encode_opening(two());
  EXPECT_EQ(check_preamble(std::span(opening).first(kPreambleBytes)).value() + kPreambleBytes, opening.size());
  const Result<std::vector<SavedArray>> arrays = decode_opening(opening);
  ASSERT_TRUE(arrays) << arrays.error().to_string();
  ASSERT_EQ(arrays->size(), 2U);
  EXPECT_EQ((*arrays)[0].name, "weights");
  EXPECT_EQ((*arrays)[0].to_string(), "[2, 3] of bf16");
  EXPECT_EQ((*arrays)[1].to_string(), "[] of i64");
  EXPECT_EQ(file_bytes(opening.size(), *arrays), opening.size() + 12 + 8 + 8 + 8);
}

TEST(CheckpointFormat, survives_any_header_whose_checksum_is_right) {
  std::mt19937 random(1);
  const std::vector<std::byte> good = encode_opening(two());
  int decoded = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> opening = good;
    for (std::size_t flips = 1 + random() % 4; flips > 0; --flips)
      opening[kPreambleBytes + random() % (opening.size() - kPreambleBytes)] = static_cast<std::byte>(random() % 256);
    if (random() % 4 == 0) opening.resize(kPreambleBytes + kChecksumBytes + random() % (opening.size() - 23));
    sum_again(opening);
    const Result<std::vector<SavedArray>> arrays = decode_opening(opening);
    if (!arrays) continue;
    ++decoded;
    EXPECT_LE(arrays->size(), kMaxArrays);
    for (const SavedArray& array : *arrays) EXPECT_GE(array.size_bytes(), 0);
  }
  EXPECT_GT(decoded, 0);
}

TEST(CheckpointFormat, refuses_what_no_checkpoint_says) {
  const auto refused = [](const std::vector<SavedArray>& arrays, std::string_view text) {
    const Result<std::vector<SavedArray>> end = decode_opening(encode_opening(arrays));
    ASSERT_FALSE(end) << text;
    EXPECT_NE(end.error().message().find(text), std::string_view::npos) << end.error().to_string();
  };
  refused({}, "it has 0 arrays; it must have 1 to 1024");
  refused(std::vector<SavedArray>(1025, two()[0]), "it has 1025 arrays");
  refused({{.name = "", .dtype = DType::f32, .shape = {1}}}, "a name has 0 bytes");
  refused({{.name = std::string(201, 'x'), .dtype = DType::f32, .shape = {1}}}, "a name has 201 bytes");
  refused({{.name = "a", .dtype = DType::f32, .shape = {-1}}}, "a: ");
  refused({{.name = "a\n", .dtype = DType::f64, .shape = {std::int64_t{1} << 62}}}, "a?: ");
  std::vector<std::byte> other_type = encode_opening(two());
  const auto type = std::ranges::search(other_type, std::as_bytes(std::span(std::string_view("bf16"))));
  *type.begin() = std::byte{'x'};
  sum_again(other_type);
  EXPECT_FALSE(decode_opening(other_type));
}

TEST(CheckpointFormat, does_not_count_past_the_end_of_numbers) {
  const SavedArray huge{.name = "a", .dtype = DType::u8, .shape = {std::int64_t{1} << 62}};
  EXPECT_EQ(file_bytes(100, std::vector{huge, huge, huge}), 0U);
}

}  // namespace
}  // namespace troupe
