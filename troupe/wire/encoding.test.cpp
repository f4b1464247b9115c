#include "troupe/wire/encoding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace troupe::wire {
namespace {

enum class Colour : std::uint16_t { red, green = 700 };

std::vector<std::byte> some_bytes(std::size_t size, std::uint8_t first = 1) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(first++);
  return bytes;
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

TEST(Encoding, gives_back_numbers_enums_and_texts) {
  Writer out;
  out.put(std::uint8_t{200});
  out.put(std::numeric_limits<std::int64_t>::min());
  out.put(1.5F);
  out.put(true);
  out.put(Colour::green);
  out.put_text("a text");
  out.put_sized(some_bytes(3));

  Reader in(out.bytes());
  EXPECT_EQ(in.get<std::uint8_t>(), 200);
  EXPECT_EQ(in.get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(in.get<float>(), 1.5F);
  EXPECT_TRUE(in.get<bool>());
  EXPECT_EQ(in.get<Colour>(), Colour::green);
  EXPECT_EQ(in.get_text(), "a text");
  EXPECT_FALSE(in.finished());
  EXPECT_TRUE(equal(in.get_sized(), some_bytes(3)));
  EXPECT_TRUE(in.finished());
}

TEST(Encoding, writes_each_value_in_its_own_size_and_nothing_between) {
  Writer out;
  EXPECT_TRUE(out.bytes().empty());
  out.put(std::uint8_t{1});
  out.put(std::uint64_t{2});
  EXPECT_EQ(out.bytes().size(), 9U);
  out.put_text("");
  EXPECT_EQ(out.bytes().size(), 13U);
  out.put_bytes({});
  EXPECT_EQ(out.bytes().size(), 13U);
}

TEST(Encoding, keeps_everything_when_it_outgrows_the_room_inside) {
  for (const std::size_t before : {0, 1, 100, 255, 256, 257}) {
    for (const std::size_t after : {0, 1, 155, 156, 157, 256, 257, 5000}) {
      Writer out;
      out.put_bytes(some_bytes(before, 3));
      out.put_bytes(some_bytes(after, 77));
      out.put(std::uint32_t{42});
      ASSERT_EQ(out.bytes().size(), before + after + 4);
      Reader in(out.bytes());
      EXPECT_TRUE(equal(in.get_bytes(before), some_bytes(before, 3)));
      EXPECT_TRUE(equal(in.get_bytes(after), some_bytes(after, 77)));
      EXPECT_EQ(in.get<std::uint32_t>(), 42U);
      EXPECT_TRUE(in.finished());
    }
  }
}

TEST(Encoding, reads_texts_in_place) {
  Writer out;
  out.put_text("here");
  Reader in(out.bytes());
  const void* text = in.get_text().data();
  EXPECT_EQ(text, out.bytes().data() + sizeof(std::uint32_t));
}

TEST(Encoding, takes_any_byte_but_zero_for_true) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::byte bytes[] = {static_cast<std::byte>(byte)};
    EXPECT_EQ(Reader(bytes).get<bool>(), byte != 0);
  }
}

TEST(Encoding, fails_for_good_at_the_first_thing_that_does_not_fit) {
  const auto bytes = some_bytes(6);
  Reader in(bytes);
  in.get<std::uint32_t>();
  EXPECT_EQ(in.get<std::uint32_t>(), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.get<std::uint8_t>(), 0) << "though one byte would be there";
  EXPECT_TRUE(in.get_bytes(0).empty());
  EXPECT_TRUE(in.get_text().empty());
  EXPECT_FALSE(in.finished());
}

TEST(Encoding, refuses_lengths_beyond_what_is_left) {
  for (const std::uint32_t length : {4U, 5U, 0x7fffffffU, 0xffffffffU}) {
    Writer out;
    out.put(length);
    out.put_bytes(some_bytes(3));
    Reader in(out.bytes());
    EXPECT_TRUE(in.get_sized().empty());
    EXPECT_FALSE(in.ok());
  }
  Reader in(some_bytes(0));
  EXPECT_TRUE(in.get_bytes(std::numeric_limits<std::size_t>::max()).empty());
  EXPECT_FALSE(in.ok());
}

TEST(Encoding, is_finished_only_when_everything_was_read_and_nothing_rejected) {
  const auto bytes = some_bytes(4);
  Reader in(bytes);
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.finished());
  in.get<std::uint32_t>();
  EXPECT_TRUE(in.finished());
  in.reject();
  EXPECT_FALSE(in.finished());
  EXPECT_TRUE(Reader({}).finished());
}

TEST(Encoding, counts_what_is_left) {
  const auto bytes = some_bytes(9);
  Reader in(bytes);
  EXPECT_EQ(in.left_bytes(), 9U);
  in.get<std::uint64_t>();
  EXPECT_EQ(in.left_bytes(), 1U);
}

TEST(Encoding, every_cut_of_an_encoding_fails_and_the_whole_does_not) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Writer out;
    const std::string text(random() % 300, 't');
    const std::vector<std::byte> blob = some_bytes(random() % 300);
    out.put_text(text);
    out.put(random());
    out.put_sized(blob);
    const auto reads_whole = [&](std::span<const std::byte> bytes) {
      Reader in(bytes);
      const bool same = in.get_text() == text;
      in.get<std::uint64_t>();
      return equal(in.get_sized(), blob) && same && in.finished();
    };
    EXPECT_TRUE(reads_whole(out.bytes()));
    for (std::size_t size = 0; size < out.bytes().size(); ++size) EXPECT_FALSE(reads_whole(out.bytes().first(size)));
  }
}

}  // namespace
}  // namespace troupe::wire
