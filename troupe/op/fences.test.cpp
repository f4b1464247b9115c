#include "troupe/op/fences.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "troupe/op/memory.hpp"
#include "troupe/op/table.hpp"

namespace troupe::op {
namespace {

constexpr FencedArray kIn{{4096, 4160}, {0, 8704}, 0};
constexpr FencedArray kOut{{14336, 14352}, {10240, 18944}, 1};

/// Fences as somebody finds them.
class Found {
 public:
  Found() {
    for (const FencedArray& array : {kIn, kOut})
      for (const Range& fence : {array.before(), array.behind()})
        bytes_[fence.begin].assign(fence.end - fence.begin, kFencePattern);
  }
  void write(const Range& fence, std::size_t at) { bytes_[fence.begin].at(at) = std::byte{1}; }
  std::optional<Error> compare(const Result<void>& end = {}, bool is_seen = true) const {
    const std::vector<FencedArray> arrays{kIn, kOut};
    Copy op;
    op.in = {.address = kIn.elements.begin, .dtype = DType::f32, .shape = {16}, .strides = {1}};
    op.out = {.address = kOut.elements.begin, .dtype = DType::f32, .shape = {4}, .strides = {1}};
    Views views;
    info_of<Copy>().views(&op, views);
    return find_overrun(FencedArrays(std::as_bytes(std::span(arrays))), views, end,
                        [&](const Range& fence) -> std::span<const std::byte> {
                          if (!is_seen) return {};
                          return bytes_.at(fence.begin);
                        });
  }

 private:
  std::map<Address, std::vector<std::byte>> bytes_;
};

TEST(Fences, that_are_whole_accuse_nobody) { EXPECT_FALSE(Found().compare()); }

TEST(Fences, say_which_array_was_overrun_and_where) {
  Found found;
  found.write(kOut.behind(), 0);
  EXPECT_EQ(found.compare()->message(),
            "out, [4] of f32, was overrun: 1 byte was written right behind its last element");
  found.write(kOut.before(), 4096 - 2);
  EXPECT_EQ(
      found.compare()->message(),
      "out, [4] of f32, was overrun: 1 byte was written in front of its first element, the farthest 2 bytes away, "
      "and 1 byte was written right behind its last element");
  found.write(kIn.before(), 0);
  EXPECT_TRUE(
      found.compare()->message().starts_with("in, [16] of f32, was overrun: 1 byte was written in front of its "
                                             "first element, the farthest 4096 bytes away; out, [4] of f32"));
  EXPECT_EQ(found.compare()->kind(), ErrorKind::library_error);
}

TEST(Fences, that_nobody_sees_accuse_nobody) {
  Found found;
  found.write(kOut.behind(), 0);
  EXPECT_FALSE(found.compare({}, false));
}

TEST(Fences, keep_what_the_op_itself_ended_in) {
  Found found;
  found.write(kIn.behind(), 7);
  EXPECT_EQ(
      found.compare(fail(ErrorKind::numerical_error, "row 1 is zero"))->message(),
      "in, [16] of f32, was overrun: 1 byte was written behind its last element, the farthest 8 bytes away; the op "
      "itself ended in numerical_error: row 1 is zero");
}

TEST(GuardedRecord, has_the_op_and_its_fences) {
  for (const std::size_t op_bytes : {1U, 500U, 2000U, 16000U}) {
    const std::vector<std::byte> op(op_bytes, std::byte{3});
    const std::vector<FencedArray> arrays{kIn, kOut};
    for (const std::size_t room : {2U, 3U, 192U}) {  // some may turn out to have none
      std::vector<std::byte> record(guarded_record_bytes(op.size(), room));
      EXPECT_LE(record.size(), kMaxGuardedBytes);
      write_guarded_record(record, op, arrays);
      const Result<GuardedRecord> read = read_guarded_record(record);
      ASSERT_TRUE(read);
      EXPECT_TRUE(std::ranges::equal(read->op, op));
      ASSERT_EQ(read->arrays.size(), 2U);
      EXPECT_EQ(read->arrays[0].elements, kIn.elements);
      EXPECT_EQ(read->arrays[1].with_fences, kOut.with_fences);
      EXPECT_EQ(read->arrays[1].view, 1U);
    }
  }
}

TEST(GuardedRecord, is_refused_when_it_says_more_than_it_has) {
  const std::vector<std::byte> op(8);
  std::vector<std::byte> record(guarded_record_bytes(op.size(), 1));
  for (const std::size_t from_end : {8U, 4U}) {  // the bytes of the op, the number of arrays
    write_guarded_record(record, op, {});
    std::fill_n(record.end() - static_cast<std::ptrdiff_t>(from_end), 4, std::byte{0xff});
    EXPECT_FALSE(read_guarded_record(record)) << from_end;
  }
  EXPECT_FALSE(read_guarded_record(std::span(record).first(7)));
}

}  // namespace
}  // namespace troupe::op
