#include "troupe/wire/shared_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace troupe::wire {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kTiB = std::uint64_t{1} << 40;

bool says(const Error& error, std::string_view text) { return error.message().find(text) != std::string_view::npos; }

std::uint64_t used_bytes(const SharedMemory& memory) {
  struct stat file{};
  fstat(memory.descriptor().get(), &file);
  return static_cast<std::uint64_t>(file.st_blocks) * 512;
}

}  // namespace

TEST(SharedMemory, is_seen_through_every_mapping) {
  SharedMemory ours = value(SharedMemory::create("test", 5000));
  SharedMemory theirs = value(SharedMemory::map(value(ours.descriptor().duplicate()), 5000, true));
  EXPECT_EQ(ours.size_bytes(), 5000u);
  EXPECT_NE(ours.data(), theirs.data());
  EXPECT_EQ(theirs.data()[4999], std::byte{0});
  ours.data()[4999] = std::byte{7};
  EXPECT_EQ(theirs.data()[4999], std::byte{7});
}

TEST(SharedMemory, outlives_the_object_that_created_it) {
  SharedMemory first = value(SharedMemory::create("test", 1));
  first.data()[0] = std::byte{9};
  SharedMemory second = value(SharedMemory::map(value(first.descriptor().duplicate()), 1, false));
  first = std::move(second);
  EXPECT_FALSE(second.mapped());  // NOLINT: that it is empty is the promise
  EXPECT_EQ(first.data()[0], std::byte{9});
}

TEST(SharedMemory, can_be_made_for_others_only) {
  const SharedMemory memory = value(SharedMemory::create_unmapped("test", 8 * kTiB));
  EXPECT_FALSE(memory.mapped());
  EXPECT_EQ(memory.data(), nullptr);
  EXPECT_EQ(memory.size_bytes(), 8 * kTiB);
  EXPECT_EQ(used_bytes(memory), 0u);
}

TEST(SharedMemory, has_at_least_one_byte) {
  EXPECT_EQ(SharedMemory::create("test", 0).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(SharedMemory::create_unmapped("test", 0).error().kind(), ErrorKind::invalid_argument);
  SharedMemory memory = value(SharedMemory::create_unmapped("test", 1));
  EXPECT_EQ(SharedMemory::map(value(memory.descriptor().duplicate()), 0, true).error().kind(),
            ErrorKind::invalid_argument);
}

TEST(SharedMemory, never_changes_its_size) {
  const SharedMemory memory = value(SharedMemory::create("test", kMiB));
  EXPECT_EQ(ftruncate(memory.descriptor().get(), 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(memory.descriptor().get(), 2 * kMiB), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(SharedMemory, is_not_mapped_past_its_end) {
  const SharedMemory memory = value(SharedMemory::create_unmapped("test", kMiB));
  const auto larger = SharedMemory::map(value(memory.descriptor().duplicate()), kMiB + 1, true);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().kind(), ErrorKind::invalid_argument);
}

TEST(SharedMemory, is_written_by_its_owner_alone_once_sealed) {
  SharedMemory ours = value(SharedMemory::create("test", 4096));
  ASSERT_TRUE(ours.seal_writing_elsewhere());
  const auto writable = SharedMemory::map(value(ours.descriptor().duplicate()), 4096, true);
  ASSERT_FALSE(writable);
  EXPECT_EQ(writable.error().kind(), ErrorKind::invalid_argument);

  SharedMemory theirs = value(SharedMemory::map(value(ours.descriptor().duplicate()), 4096, false));
  EXPECT_EQ(mprotect(theirs.data(), 4096, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(write(ours.descriptor().get(), "x", 1), -1);
  ours.data()[0] = std::byte{3};
  EXPECT_EQ(theirs.data()[0], std::byte{3});
}

TEST(SharedMemory, takes_memory_when_it_is_committed) {
  SharedMemory memory = value(SharedMemory::create("test", 4 * kMiB));
  EXPECT_EQ(used_bytes(memory), 0u);
  const auto committed = memory.commit(kMiB, kMiB);
  ASSERT_TRUE(committed) << committed.error().message();
  EXPECT_EQ(used_bytes(memory), kMiB);
  EXPECT_EQ(memory.commit(kMiB, 4 * kMiB).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(memory.commit(5 * kMiB, 0).error().kind(), ErrorKind::invalid_argument);
}

TEST(SharedMemory, refuses_to_commit_more_than_the_machine_has) {
  SharedMemory memory = value(SharedMemory::create_unmapped("test", 8 * kTiB));
  const auto committed = memory.commit(0, 8 * kTiB);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind(), ErrorKind::out_of_memory);
  EXPECT_TRUE(says(committed.error(), "8 TiB asked for")) << committed.error().message();
  EXPECT_EQ(used_bytes(memory), 0u);
}

TEST(SharedMemory, survives_the_file_size_limit) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{.rlim_cur = kMiB, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto memory = SharedMemory::create("test", 2 * kMiB);
  setrlimit(RLIMIT_FSIZE, &limit);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind(), ErrorKind::out_of_memory);
  EXPECT_TRUE(says(memory.error(), "2 MiB asked for, 1 MiB allowed")) << memory.error().message();
}

TEST(SharedMemory, refuses_sizes_beyond_every_address) {
  EXPECT_EQ(SharedMemory::create("test", ~std::uint64_t{0}).error().kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(SharedMemory::create("test", std::uint64_t{1} << 62).error().kind(), ErrorKind::out_of_memory);
}

TEST(SharedMemory, takes_names_of_any_length) { EXPECT_TRUE(SharedMemory::create(std::string(1000, 'n'), 1)); }

TEST(SharedMemory, mapped_again_for_reading_only_stays_where_it_is_and_cannot_be_written) {
  SharedMemory app = value(SharedMemory::create("test", 8192));
  SharedMemory worker = value(SharedMemory::map(value(app.descriptor().duplicate()), 8192, true));
  std::byte* const address = worker.data();
  address[5] = std::byte{1};
  ASSERT_TRUE(worker.remap(value(app.open_for_reading()), false));
  EXPECT_EQ(worker.data(), address);
  EXPECT_EQ(address[5], std::byte{1});
  EXPECT_DEATH(address[5] = std::byte{2}, "");
  EXPECT_NE(mprotect(address, 8192, PROT_READ | PROT_WRITE), 0) << "nor be made writable";
  EXPECT_EQ(fcntl(worker.descriptor().get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  app.data()[5] = std::byte{3};
  EXPECT_EQ(address[5], std::byte{3}) << "it is the same memory";
  ASSERT_TRUE(worker.remap(value(app.descriptor().duplicate()), true));
  address[5] = std::byte{4};
  EXPECT_EQ(app.data()[5], std::byte{4});
}

TEST(SharedMemory, is_not_mapped_again_as_other_memory) {
  SharedMemory memory = value(SharedMemory::create("test", 8192));
  SharedMemory other = value(SharedMemory::create("other", 8192));
  EXPECT_EQ(memory.remap(value(other.descriptor().duplicate()), true).error().kind(), ErrorKind::invalid_argument);
  EXPECT_FALSE(memory.remap(Descriptor(), true));
  memory.data()[0] = std::byte{1};
}

}  // namespace troupe::wire
