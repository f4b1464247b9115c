#include "troupe/backend/host/memory/host_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace troupe::host {
namespace {

constexpr std::uint64_t kBytes = 8192;

wire::SharedMemory new_chunk(std::uint64_t size_bytes = kBytes) {
  return value(wire::SharedMemory::create("chunk", size_bytes));
}

Result<void> map(HostMemory& memory, std::uint32_t id, const wire::SharedMemory& chunk,
                 std::uint64_t size_bytes = kBytes) {
  return memory.map({.id = id, .size_bytes = size_bytes}, value(chunk.descriptor().duplicate()));
}

op::Range range(std::uint32_t chunk, std::uint64_t begin, std::uint64_t end) {
  return {op::address_of(chunk, begin), op::address_of(chunk, 0) + end};
}

TEST(HostMemory, is_the_memory_that_the_app_has) {
  wire::SharedMemory chunk = new_chunk();
  HostMemory memory;
  ASSERT_TRUE(map(memory, 9, chunk));
  chunk.data()[100] = std::byte{1};
  EXPECT_EQ(*memory.at(op::address_of(9, 100)), std::byte{1});
  *memory.at(op::address_of(9, kBytes - 1)) = std::byte{2};
  EXPECT_EQ(chunk.data()[kBytes - 1], std::byte{2});
}

TEST(HostMemory, contains_what_lies_in_one_chunk) {
  HostMemory memory;
  ASSERT_TRUE(map(memory, 9, new_chunk()));
  ASSERT_TRUE(map(memory, 10, new_chunk()));
  EXPECT_TRUE(memory.contains(range(9, 0, kBytes)));
  EXPECT_TRUE(memory.contains(range(9, kBytes - 1, kBytes)));
  EXPECT_FALSE(memory.contains(range(9, 0, kBytes + 1)));
  EXPECT_FALSE(memory.contains(range(9, kBytes, kBytes + 1)));
  EXPECT_FALSE(memory.contains({op::address_of(9, 0), op::address_of(10, 1)})) << "two chunks";
  EXPECT_FALSE(memory.contains({op::address_of(9, 10), op::address_of(9, 9)})) << "backwards";
  EXPECT_FALSE(memory.contains({op::address_of(9, 10), 0}));
  EXPECT_FALSE(memory.contains(range(op::kMaxChunks, 0, 1)));
}

TEST(HostMemory, holds_as_many_chunks_as_there_are_numbers) {
  HostMemory memory;
  const wire::SharedMemory chunk = new_chunk(1);
  EXPECT_TRUE(map(memory, op::kMaxChunks - 1, chunk, 1));
  EXPECT_TRUE(memory.contains(range(op::kMaxChunks - 1, 0, 1)));
  EXPECT_EQ(map(memory, op::kMaxChunks, chunk, 1).error().kind(), ErrorKind::invalid_argument);
  memory.unmap(op::kMaxChunks);
}

TEST(HostMemory, refuses_a_chunk_that_is_smaller_than_said) {
  HostMemory memory;
  EXPECT_EQ(map(memory, 1, new_chunk(), kBytes + 1).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(map(memory, 1, new_chunk(), 0).error().kind(), ErrorKind::invalid_argument);
  EXPECT_TRUE(map(memory, 1, new_chunk())) << "and the number is still free";
}

TEST(HostMemory, protects_a_chunk_where_it_is) {
  wire::SharedMemory chunk = new_chunk();
  HostMemory memory;
  ASSERT_TRUE(map(memory, 9, chunk));
  std::byte* const address = memory.at(op::address_of(9, 0));
  ASSERT_TRUE(memory.protect({.id = 9, .read_only = true}, value(chunk.open_for_reading())));
  EXPECT_EQ(memory.at(op::address_of(9, 0)), address);
  EXPECT_DEATH(*address = std::byte{1}, "");
  ASSERT_TRUE(memory.protect({.id = 9, .read_only = false}, value(chunk.descriptor().duplicate())));
  *address = std::byte{1};
  EXPECT_EQ(chunk.data()[0], std::byte{1});
  for (const std::uint32_t none : {8U, op::kMaxChunks})
    EXPECT_EQ(memory.protect({.id = none}, value(chunk.descriptor().duplicate())).error().kind(),
              ErrorKind::invalid_argument);
}

TEST(HostMemory, maps_a_sealed_chunk_for_reading_only_from_the_start) {
  wire::SharedMemory chunk = new_chunk();
  HostMemory memory;
  ASSERT_TRUE(memory.map({.id = 9, .size_bytes = kBytes, .read_only = true}, value(chunk.open_for_reading())));
  chunk.data()[7] = std::byte{1};
  EXPECT_EQ(*memory.at(op::address_of(9, 7)), std::byte{1});
  EXPECT_DEATH(*memory.at(op::address_of(9, 7)) = std::byte{2}, "");
}

TEST(HostMemory, waits_for_no_chunk_once_none_will_come) {
  HostMemory memory;
  std::atomic<bool> contains = true;
  const auto began = std::chrono::steady_clock::now();
  std::thread waits([&] { contains = memory.contains(range(3, 0, 1)); });
  memory.close();
  waits.join();
  EXPECT_FALSE(contains);
  EXPECT_LT(std::chrono::steady_clock::now() - began, backend::kChunkPatience);
}

TEST(HostMemory, takes_other_memory_under_a_number_that_is_free_again) {
  HostMemory memory;
  wire::SharedMemory second = new_chunk();
  second.data()[0] = std::byte{7};
  ASSERT_TRUE(map(memory, 3, new_chunk()));
  memory.unmap(3);
  memory.unmap(3);
  ASSERT_TRUE(map(memory, 3, second));
  EXPECT_EQ(*memory.at(op::address_of(3, 0)), std::byte{7});
}

TEST(HostMemory, waits_for_a_chunk_that_is_about_to_come) {
  for (std::uint32_t id = 0; id < 50; ++id) {
    HostMemory memory;
    std::atomic<bool> looks{false};
    bool found = false;
    std::thread looker([&] {
      looks = true;
      found = memory.contains(range(id, 0, kBytes));
    });
    while (!looks) std::this_thread::yield();
    ASSERT_TRUE(map(memory, id, new_chunk()));
    looker.join();
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace troupe::host
