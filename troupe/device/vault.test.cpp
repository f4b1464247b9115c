#include "troupe/device/vault.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "troupe/device/chunks.test.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

template <class T>
void expect_error(const Result<T>& result, ErrorKind kind, std::string_view what) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), kind);
  EXPECT_NE(result.error().message().find(what), std::string_view::npos) << result.error().message();
}

class VaultTest : public testing::Test {
 protected:
  detail::IntrusivePtr<detail::Vault> make_vault(VaultOptions options) {
    return value(detail::Vault::create(options, 7, source));
  }

  std::shared_ptr<TestChunks> source = std::make_shared<TestChunks>();
};

TEST_F(VaultTest, needs_a_limit_and_a_source) {
  expect_error(detail::Vault::create({}, 0, source), ErrorKind::invalid_argument,
               "limit_bytes is 0; a vault needs at least 512");
  expect_error(detail::Vault::create({.limit_bytes = kMiB}, 0, nullptr), ErrorKind::invalid_argument,
               "source of chunks");
}

TEST_F(VaultTest, makes_no_chunk_before_the_first_block) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  EXPECT_EQ(source->makes, 0);
  const auto block = value(vault->allocate(100));
  EXPECT_EQ(source->makes, 1);
  std::memset(block->data(), 1, block->size_bytes());
}

TEST_F(VaultTest, counts_what_is_used) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  auto a = value(vault->allocate(1));
  const auto b = value(vault->allocate(1000));
  a = nullptr;
  const VaultStats stats = vault->stats();
  EXPECT_EQ(stats.limit_bytes, 64 * kMiB);
  EXPECT_EQ(stats.used_bytes, 1024U);
  EXPECT_EQ(stats.peak_bytes, 1536U);
  EXPECT_EQ(stats.reserved_bytes, 8 * kMiB);
  EXPECT_EQ(stats.chunks, 1U);
  EXPECT_EQ(stats.blocks, 1U);
  EXPECT_EQ(stats.allocations, 2U);
  EXPECT_EQ(stats.frees, 1U);
}

TEST_F(VaultTest, gives_every_block_a_number_that_no_other_has_had) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  std::set<std::uint64_t> numbers{0};
  std::set<op::Address> places;
  for (const std::uint64_t size_bytes : {100U, 100U, 0U, 70'000U, 70'000U, 100U}) {  // each in the place of the last
    const auto block = value(vault->allocate(size_bytes));
    EXPECT_TRUE(numbers.insert(block->number()).second) << block->number();
    places.insert(block->address());
  }
  EXPECT_LT(places.size(), 6U);
}

TEST_F(VaultTest, gives_blocks_of_no_bytes_that_take_nothing) {
  const auto vault = make_vault({.limit_bytes = kMiB});
  const auto block = value(vault->allocate(0));
  EXPECT_TRUE(block->range().empty());
  EXPECT_EQ(block->data(), nullptr);
  EXPECT_EQ(block->device(), 7);
  EXPECT_EQ(source->makes, 0);
  EXPECT_EQ(vault->stats().used_bytes, 0U);
  EXPECT_EQ(vault->stats().blocks, 1U);
}

TEST_F(VaultTest, hides_memory_that_the_app_does_not_see) {
  source->visible = false;
  const auto vault = make_vault({.limit_bytes = kMiB});
  EXPECT_EQ(value(vault->allocate(10))->data(), nullptr);
}

TEST_F(VaultTest, gives_a_chunk_of_its_own_to_a_block_that_needs_one_and_takes_it_back_with_it) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB, .keep_empty_bytes = 64 * kMiB});
  const auto usual = value(vault->allocate(100));
  auto own = value(vault->allocate_own_chunk(100));
  EXPECT_TRUE(own->has_own_chunk());
  EXPECT_FALSE(usual->has_own_chunk());
  EXPECT_EQ(source->last_size_bytes, kChunkStepBytes);
  std::memset(own->data(), 1, own->size_bytes());
  const auto second = value(vault->allocate_own_chunk(kChunkStepBytes + 1));
  EXPECT_EQ(source->last_size_bytes, 2 * kChunkStepBytes);
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> others;
  for (int i = 0; i < 100; ++i) others.push_back(value(vault->allocate(kMiB / 8)));
  for (const auto& other : others) {
    EXPECT_NE(op::chunk_of(other->address()), op::chunk_of(own->address()));
    EXPECT_NE(op::chunk_of(other->address()), op::chunk_of(second->address()));
  }
  others.clear();
  own->begin_seal();
  const std::uint64_t chunks = vault->stats().chunks;
  own = nullptr;
  EXPECT_EQ(source->drops, 1) << "at once, whatever else is kept";
  EXPECT_EQ(vault->stats().chunks, chunks - 1);
  EXPECT_FALSE(value(vault->allocate_own_chunk(100))->is_sealed());
}

TEST_F(VaultTest, has_no_room_for_chunks_of_their_own_beyond_its_limit) {
  const auto vault = make_vault({.limit_bytes = 8 * kMiB});
  auto usual = value(vault->allocate(100));
  usual = nullptr;
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(value(vault->allocate_own_chunk(100)));
  expect_error(vault->allocate_own_chunk(100), ErrorKind::out_of_memory, "no room for 100 B");
  expect_error(vault->allocate_own_chunk(9 * kMiB), ErrorKind::out_of_memory, "no room for 9 MiB");
  blocks.pop_back();
  EXPECT_TRUE(vault->allocate_own_chunk(kMiB));
  EXPECT_TRUE(value(vault->allocate_own_chunk(0))->range().empty());
  source->commit_fails = true;
  blocks.pop_back();
  expect_error(vault->allocate_own_chunk(100), ErrorKind::out_of_memory, "commits nothing");
  EXPECT_EQ(vault->stats().chunks, 2U);
  vault->close();
  expect_error(vault->allocate_own_chunk(100), ErrorKind::stopped, "closed");
}

TEST_F(VaultTest, gives_a_small_piece_again_to_the_next_block_of_its_size) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  const auto kept = value(vault->allocate(512));
  auto first = value(vault->allocate(700));
  const op::Address address = first->address();
  first->taint(first->range(), Error(ErrorKind::worker_crashed));
  first = nullptr;
  EXPECT_NE(value(vault->allocate(512))->address(), address) << "of another size";
  const auto second = value(vault->allocate(1000));
  EXPECT_EQ(second->address(), address);
  EXPECT_EQ(second->size_bytes(), 1000U);
  EXPECT_TRUE(second->is_whole()) << "what was there is nobody's concern";
  EXPECT_EQ(vault->stats().used_bytes, 512U + 1024U);
}

TEST_F(VaultTest, holds_no_small_pieces_back_when_somebody_needs_the_room) {
  const auto vault = make_vault({.limit_bytes = kMiB, .chunk_bytes = kMiB});
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  while (auto block = vault->allocate(512)) blocks.push_back(*block);
  EXPECT_GT(blocks.size(), 200U);
  const std::size_t count = blocks.size();
  blocks.clear();
  while (auto block = vault->allocate(1024)) blocks.push_back(*block);
  EXPECT_EQ(blocks.size(), count / 2);
  blocks.clear();
  vault->trim();
  EXPECT_EQ(vault->stats().chunks, 0U);
}

TEST_F(VaultTest, asks_the_source_for_nothing_in_the_steady_state) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB});
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks(16);
  const auto round = [&] {
    for (auto& block : blocks) block = value(vault->allocate(kMiB));
    blocks.assign(16, nullptr);
  };
  round();
  const int makes = source->makes;
  const int commits = source->commits;
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(source->makes, makes);
  EXPECT_EQ(source->commits, commits);
  EXPECT_EQ(source->drops, 0);
}

TEST_F(VaultTest, commits_in_steps) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB});
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(value(vault->allocate(kMiB)));
  EXPECT_EQ(source->makes, 1);
  EXPECT_EQ(source->commits, 4);
}

TEST_F(VaultTest, uses_the_same_memory_and_block_again) {
  const auto vault = make_vault({.limit_bytes = kMiB});
  auto block = value(vault->allocate(4096));
  const detail::VaultBlock* const object = block.get();
  const op::Address address = block->address();
  block = nullptr;
  block = value(vault->allocate(4096));
  EXPECT_EQ(block.get(), object);
  EXPECT_EQ(block->address(), address);
}

TEST_F(VaultTest, can_use_nearly_all_of_its_limit) {
  for (const std::uint64_t limit : {std::uint64_t{512}, 100 * kVaultAlignment + 3, 3 * kMiB, 33 * kMiB, 200 * kMiB}) {
    SCOPED_TRACE(limit);
    const auto vault = make_vault({.limit_bytes = limit});
    const std::uint64_t size = limit > 10 * kMiB ? kMiB : kVaultAlignment;
    std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
    Result<detail::IntrusivePtr<detail::VaultBlock>> block = vault->allocate(size);
    for (; block; block = vault->allocate(size)) blocks.push_back(*block);
    EXPECT_EQ(block.error().kind(), ErrorKind::out_of_memory);
    EXPECT_EQ(vault->stats().used_bytes, limit / kVaultAlignment * kVaultAlignment);
    EXPECT_LE(vault->stats().reserved_bytes, limit);
    blocks.clear();
    block = vault->allocate(limit / kVaultAlignment * kVaultAlignment);  // and all of it as one block
    ASSERT_TRUE(block) << block.error().message();
  }
}

TEST_F(VaultTest, makes_small_chunks_under_a_small_limit) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  const auto small = value(vault->allocate(1));
  EXPECT_EQ(source->last_size_bytes, 8 * kMiB);
  EXPECT_TRUE(vault->allocate(56 * kMiB));  // one small block does not stand in the way
}

TEST_F(VaultTest, makes_large_chunks_when_there_would_be_too_many) {
  const auto vault = make_vault({.limit_bytes = std::uint64_t{1} << 40});
  const auto block = value(vault->allocate(1));
  EXPECT_EQ(source->last_size_bytes, (std::uint64_t{1} << 40) / 2048);
}

TEST_F(VaultTest, gives_a_large_block_a_chunk_of_its_size) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB, .chunk_bytes = 16 * kMiB});
  const auto block = value(vault->allocate(16 * kMiB + 1));
  EXPECT_EQ(source->last_size_bytes, 18 * kMiB);
  std::memset(block->data() + 16 * kMiB, 1, 1);
  const auto small = value(vault->allocate(1));
  EXPECT_NE(op::chunk_of(small->address()), op::chunk_of(block->address()));
}

TEST_F(VaultTest, uses_what_a_large_block_leaves_when_nothing_else_is_left) {
  const auto vault = make_vault({.limit_bytes = 18 * kMiB});
  const auto large = value(vault->allocate(16 * kMiB + 1));
  const auto small = value(vault->allocate(kMiB));
  EXPECT_EQ(op::chunk_of(small->address()), op::chunk_of(large->address()));
}

TEST_F(VaultTest, says_the_figures_when_it_has_no_room) {
  const auto vault = make_vault({.limit_bytes = 4 * kMiB});
  const auto block = value(vault->allocate(kMiB));
  const auto refused = vault->allocate(4 * kMiB - 1);
  expect_error(
      refused, ErrorKind::out_of_memory,
      "no room for 4 MiB: 1 MiB of 4 MiB are used, the largest free piece has 1 MiB, 1 chunks have 2 MiB; the limit "
      "leaves no room for another chunk");
  EXPECT_EQ(refused.error().origin().device, 7);
  expect_error(vault->allocate(~std::uint64_t{0}), ErrorKind::out_of_memory, "no room for 16 EiB");
}

TEST_F(VaultTest, keeps_one_empty_chunk_and_gives_others_back) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB, .chunk_bytes = 2 * kMiB});
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(value(vault->allocate(2 * kMiB)));
  EXPECT_EQ(source->makes, 5);
  blocks.pop_back();
  EXPECT_EQ(source->drops, 0);
  blocks.clear();
  EXPECT_EQ(source->drops, 4);
  EXPECT_EQ(vault->stats().chunks, 1U);
  EXPECT_EQ(vault->stats().reserved_bytes, 2 * kMiB);
  vault->trim();
  EXPECT_EQ(source->drops, 5);
  EXPECT_EQ(vault->stats().reserved_bytes, 0U);
}

TEST_F(VaultTest, gives_the_chunk_of_a_large_block_back_at_once) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB, .chunk_bytes = 2 * kMiB});
  auto small = value(vault->allocate(1));
  auto large = value(vault->allocate(10 * kMiB));
  small = nullptr;  // the usual chunk is empty and kept
  large = nullptr;
  EXPECT_EQ(source->drops, 1);
  EXPECT_EQ(vault->stats().reserved_bytes, 2 * kMiB);
}

TEST_F(VaultTest, keeps_chunks_of_large_blocks_when_told_to) {
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB, .chunk_bytes = 2 * kMiB, .keep_empty_bytes = 128 * kMiB});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(vault->allocate(100 * kMiB));
  EXPECT_EQ(source->makes, 1);
  EXPECT_EQ(source->drops, 0);
  EXPECT_TRUE(vault->allocate(1000 * kMiB));  // they do not stand in the way
}

TEST_F(VaultTest, gives_empty_chunks_back_before_it_has_no_room) {
  const auto vault = make_vault({.limit_bytes = 32 * kMiB});
  EXPECT_TRUE(vault->allocate(1));
  EXPECT_EQ(vault->stats().chunks, 1U);  // kept
  EXPECT_TRUE(vault->allocate(32 * kMiB));
  EXPECT_EQ(source->drops, 2);
}

TEST_F(VaultTest, makes_do_with_less_when_the_source_has_less_than_the_limit) {
  source->left_bytes = 4 * kMiB;
  const auto vault = make_vault({.limit_bytes = 1024 * kMiB});
  const auto a = vault->allocate(kMiB);  // a usual chunk has 64 MiB
  ASSERT_TRUE(a) << a.error().message();
  const auto b = vault->allocate(2 * kMiB);
  ASSERT_TRUE(b) << b.error().message();
  expect_error(vault->allocate(2 * kMiB), ErrorKind::out_of_memory, "the test's source is exhausted");
  EXPECT_TRUE(vault->allocate(kMiB));
}

TEST_F(VaultTest, passes_on_what_the_source_answers) {
  source->make_fails = true;
  const auto vault = make_vault({.limit_bytes = kMiB});
  expect_error(vault->allocate(1), ErrorKind::library_error, "the test's source makes nothing");
  EXPECT_EQ(vault->stats().chunks, 0U);
  EXPECT_EQ(vault->stats().reserved_bytes, 0U);
  source->make_fails = false;
  EXPECT_TRUE(vault->allocate(1));
}

TEST_F(VaultTest, takes_a_piece_back_that_cannot_be_committed) {
  source->commit_fails = true;
  const auto vault = make_vault({.limit_bytes = 2 * kMiB});
  expect_error(vault->allocate(kMiB), ErrorKind::out_of_memory, "the test's source commits nothing");
  EXPECT_EQ(vault->stats().used_bytes, 0U);
  source->commit_fails = false;
  EXPECT_TRUE(vault->allocate(2 * kMiB));
}

TEST_F(VaultTest, lives_as_long_as_its_blocks) {
  auto vault = make_vault({.limit_bytes = kMiB});
  auto block = value(vault->allocate(100));
  vault = nullptr;
  std::memset(block->data(), 1, 100);
  EXPECT_EQ(block->vault().stats().blocks, 1U);
  EXPECT_EQ(source->drops, 0);
  block = nullptr;
  EXPECT_EQ(source->drops, 1);
  EXPECT_EQ(source.use_count(), 1);
}

TEST_F(VaultTest, gives_nothing_more_after_close) {
  auto vault = make_vault({.limit_bytes = kMiB});
  auto block = value(vault->allocate(100));
  vault->close();
  expect_error(vault->allocate(1), ErrorKind::stopped, "the vault of device 7 is closed");
  expect_error(vault->allocate(0), ErrorKind::stopped, "closed");
  std::memset(block->data(), 1, 100);
  block = nullptr;
  vault->trim();
  EXPECT_EQ(vault->stats().blocks, 0U);
  vault->close();
  vault = nullptr;
  EXPECT_EQ(source->drops, 0);
}

TEST_F(VaultTest, stays_right_when_it_is_closed_under_way) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB, .chunk_bytes = 2 * kMiB});
  std::vector<std::thread> threads;
  std::atomic<int> given = 0;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (auto block = vault->allocate(kMiB); block || block.error().kind() != ErrorKind::stopped;
           block = vault->allocate(kMiB))
        ++given;
    });
  while (given < 1000) std::this_thread::yield();
  vault->close();
  const int drops = source->drops;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source->drops, drops);
  EXPECT_EQ(vault->stats().used_bytes, 0U);
}

TEST_F(VaultTest, gives_no_byte_to_two_blocks_of_any_threads) {
  const auto vault = make_vault({.limit_bytes = 32 * kMiB, .chunk_bytes = 2 * kMiB});
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<detail::IntrusivePtr<detail::VaultBlock>> mine(32);
      std::vector<int> marks(32);  // what was written into both ends of each block
      for (int i = 0; i < 3000; ++i) {
        const std::size_t at = random() % mine.size();
        detail::IntrusivePtr<detail::VaultBlock>& block = mine[at];
        int found[2] = {marks[at], marks[at]};
        if (block) std::memcpy(&found[0], block->data(), 4);
        if (block) std::memcpy(&found[1], block->data() + block->size_bytes() - 4, 4);
        if (found[0] != marks[at] || found[1] != marks[at]) ++failures;
        const std::uint64_t size = 8 + (random() % 50 == 0 ? random() % (3 * kMiB) : random() % 4096);
        Result<detail::IntrusivePtr<detail::VaultBlock>> next = vault->allocate(size);
        if (!next && next.error().kind() != ErrorKind::out_of_memory) ++failures;
        block = next ? *std::move(next) : nullptr;
        marks[at] = static_cast<int>(t) << 16 | i;
        if (block) std::memcpy(block->data(), &marks[at], 4);
        if (block) std::memcpy(block->data() + size - 4, &marks[at], 4);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  const VaultStats stats = vault->stats();
  EXPECT_EQ(stats.blocks, 0U);
  EXPECT_EQ(stats.used_bytes, 0U);
  EXPECT_EQ(stats.allocations, stats.frees);
  vault->trim();
  EXPECT_EQ(vault->stats().reserved_bytes, 0U);
  EXPECT_EQ(source->makes, source->drops);
}

TEST_F(VaultTest, takes_blocks_back_on_other_threads) {
  const auto vault = make_vault({.limit_bytes = 8 * kMiB});
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(value(vault->allocate(1024)));
  std::thread([given = std::exchange(blocks, {})]() mutable { given.clear(); }).join();
  EXPECT_EQ(vault->stats().used_bytes, 0U);
}

/// Frees a block while it makes a chunk, as a thread that the source waits for may do.
class FreeingChunks : public TestChunks {
 public:
  Result<Chunk> make(std::uint64_t size_bytes) override {
    std::thread([this] { held = nullptr; }).join();
    return TestChunks::make(size_bytes);
  }
  detail::IntrusivePtr<detail::VaultBlock> held;
};

TEST_F(VaultTest, lets_blocks_be_freed_while_it_waits_for_the_source) {
  const auto freeing = std::make_shared<FreeingChunks>();
  const auto vault = value(detail::Vault::create({.limit_bytes = 64 * kMiB, .chunk_bytes = 2 * kMiB}, 0, freeing));
  auto first = value(vault->allocate(2 * kMiB));
  auto second = value(vault->allocate(2 * kMiB));
  freeing->held = std::move(first);
  second = nullptr;
  const auto third = value(vault->allocate(4 * kMiB));
  EXPECT_EQ(vault->stats().used_bytes, 4 * kMiB);
  EXPECT_EQ(freeing->drops, 1);  // one of the two empty ones, by the thread that made the third
}

TEST_F(VaultTest, puts_fences_around_blocks_that_are_no_other_blocks) {
  constexpr std::uint64_t kFence = 4096;
  const auto vault = make_vault({.limit_bytes = 64 * kMiB, .fence_bytes = kFence});
  EXPECT_TRUE(vault->has_fences());
  EXPECT_FALSE(make_vault({.limit_bytes = kMiB})->has_fences());
  std::vector<detail::IntrusivePtr<detail::VaultBlock>> blocks;
  for (int round = 0; round < 3; ++round) {
    blocks.clear();  // what is given back comes again
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{512}, std::uint64_t{513}, 3 * kMiB, 9 * kMiB})
      blocks.push_back(value(vault->allocate(size)));
    blocks.push_back(value(vault->allocate_own_chunk(1000)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const op::Range all = vault->with_fences(*blocks[i]), elements = blocks[i]->range();
      EXPECT_EQ(elements.begin - all.begin, kFence);
      EXPECT_GE(all.end - elements.end, kFence);
      EXPECT_LT(all.end - elements.end, kFence + kVaultAlignment);
      std::memset(blocks[i]->data() - kFence, 1, static_cast<std::size_t>(all.end - all.begin));
      for (std::size_t other = 0; other < i; ++other) EXPECT_FALSE(all.overlaps(vault->with_fences(*blocks[other])));
    }
  }
  const auto none = value(vault->allocate(0));
  EXPECT_TRUE(none->range().empty());
  EXPECT_TRUE(vault->with_fences(*none).empty());
  for (const std::uint64_t size : {64 * kMiB, ~std::uint64_t{0}})
    EXPECT_EQ(vault->allocate(size).error().kind(), ErrorKind::out_of_memory);
}

TEST_F(VaultTest, copies_what_the_app_can_see) {
  const auto vault = make_vault({.limit_bytes = 64 * kMiB});
  (void)value(vault->allocate(100));
  const auto block = value(vault->allocate(100));
  std::memset(block->data(), 7, 100);
  std::array<std::byte, 3> copy{};
  EXPECT_TRUE(vault->look({block->address() + 98, block->address() + 101}, copy));
  EXPECT_EQ(copy[1], std::byte{7});
  EXPECT_NE(copy[2], std::byte{7});
  source->visible = false;
  EXPECT_FALSE(vault->look(block->range(), copy));
}

}  // namespace
}  // namespace troupe
