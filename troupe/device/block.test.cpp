#include "troupe/device/block.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "troupe/device/chunks.test.hpp"
#include "troupe/device/vault.hpp"

namespace troupe {
namespace {

const Error kWhy(ErrorKind::worker_crashed);

class BlockTest : public testing::Test {
 protected:
  op::Range part(std::uint64_t begin, std::uint64_t end) const {
    return {block->address() + begin, block->address() + end};
  }

  detail::IntrusivePtr<detail::Vault> vault =
      value(detail::Vault::create({.limit_bytes = 1 << 20}, 3, std::make_shared<TestChunks>()));
  detail::IntrusivePtr<detail::VaultBlock> front = value(vault->allocate(1));  // so that the block's offset is not 0
  detail::IntrusivePtr<detail::VaultBlock> block = value(vault->allocate(1000));
};

TEST_F(BlockTest, knows_its_place_and_its_size_as_asked) {
  EXPECT_EQ(block->size_bytes(), 1000U);
  EXPECT_EQ(block->range(), part(0, 1000));
  EXPECT_EQ(op::offset_of(block->address()), kVaultAlignment);
  EXPECT_EQ(block->data() - front->data(), static_cast<std::ptrdiff_t>(kVaultAlignment));
  EXPECT_EQ(block->device(), 3);
  EXPECT_EQ(&block->vault(), vault.get());
}

TEST_F(BlockTest, is_whole_when_it_is_new) {
  EXPECT_TRUE(block->is_whole());
  EXPECT_FALSE(block->is_tainted(block->range()));
  EXPECT_TRUE(block->tainted_range().empty());
}

TEST_F(BlockTest, is_whole_again_when_its_memory_gets_a_new_owner) {
  const op::Address address = block->address();
  block->taint(block->range(), kWhy);
  block = nullptr;
  block = value(vault->allocate(1000));
  EXPECT_EQ(block->address(), address);
  EXPECT_TRUE(block->is_whole());
  EXPECT_FALSE(block->is_tainted(block->range()));
  EXPECT_TRUE(block->tainted_range().empty());
}

TEST_F(BlockTest, is_empty_until_a_part_of_it_is_written) {
  block->make_empty();
  EXPECT_TRUE(block->is_empty());
  EXPECT_FALSE(block->is_whole());
  EXPECT_FALSE(block->is_tainted(block->range()));
  block->skip(part(0, 10), kWhy);
  EXPECT_TRUE(block->accept_skipped(part(0, 10)));
  EXPECT_TRUE(block->is_empty()) << "what was skipped has written nothing";
  block->taint(part(0, 10), kWhy);
  block->written_in_part();
  EXPECT_FALSE(block->is_empty());
  EXPECT_FALSE(block->is_whole());
  EXPECT_TRUE(block->is_tainted(part(0, 10)));
  block->rewritten(part(0, 10));
  EXPECT_TRUE(block->is_whole());
  block->make_empty();
  block->rewritten(part(5, 10));
  EXPECT_TRUE(block->is_whole());
}

TEST_F(BlockTest, taints_what_lies_around_all_that_was_cut_off) {
  block->taint(part(100, 200), kWhy);
  EXPECT_FALSE(block->is_whole());
  EXPECT_TRUE(block->is_tainted(part(0, 101)));
  EXPECT_FALSE(block->is_tainted(part(0, 100)));
  EXPECT_FALSE(block->is_tainted(part(200, 1000)));
  EXPECT_FALSE(block->is_tainted(part(150, 150)));
  block->taint(part(400, 500), kWhy);
  EXPECT_EQ(block->tainted_range(), part(100, 500));
  EXPECT_TRUE(block->is_tainted(part(300, 310)));
}

TEST_F(BlockTest, ignores_taint_outside_of_it) {
  block->taint(front->range(), kWhy);
  block->taint({}, kWhy);
  EXPECT_TRUE(block->is_whole());
  block->taint({front->address(), block->address() + 10}, kWhy);
  EXPECT_EQ(block->tainted_range(), part(0, 10));
}

TEST_F(BlockTest, becomes_whole_by_a_write_that_covers_the_taint) {
  block->taint(part(100, 200), kWhy);
  block->rewritten(part(100, 200));
  EXPECT_TRUE(block->is_whole());
  EXPECT_FALSE(block->is_tainted(block->range()));
}

TEST_F(BlockTest, is_less_tainted_after_a_write_at_either_end) {
  block->taint(part(100, 500), kWhy);
  block->rewritten(part(0, 200));
  EXPECT_EQ(block->tainted_range(), part(200, 500));
  block->rewritten(part(400, 1000));
  EXPECT_EQ(block->tainted_range(), part(200, 400));
  block->rewritten(part(250, 300));  // in the middle: one range cannot say so
  block->rewritten(part(600, 700));  // elsewhere
  EXPECT_EQ(block->tainted_range(), part(200, 400));
  EXPECT_FALSE(block->is_whole());
  block->rewritten(block->range());
  EXPECT_TRUE(block->is_whole());
}

TEST_F(BlockTest, is_being_written_while_an_op_that_writes_it_is_in_a_ring) {
  EXPECT_FALSE(block->is_being_written());
  block->begin_write();
  block->begin_write();
  block->end_write();
  EXPECT_TRUE(block->is_being_written());
  block->end_write();
  EXPECT_FALSE(block->is_being_written());
}

TEST_F(BlockTest, of_no_bytes_cannot_be_tainted) {
  const auto none = value(vault->allocate(0));
  none->taint({0, ~op::Address{0}}, kWhy);
  EXPECT_TRUE(none->is_whole());
}

TEST_F(BlockTest, may_be_shared_tainted_and_asked_by_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 2000; ++i) {
        const detail::IntrusivePtr<detail::VaultBlock> mine = block;  // one more owner
        if (t == 0) mine->taint(part(100, 200), kWhy);
        if (t == 1) mine->rewritten(mine->range());
        if (t == 2) (void)mine->is_tainted(mine->range());
        if (t == 3) mine->begin_write();
        if (t == 3) mine->end_write();
      }
    });
  for (std::thread& thread : threads) thread.join();
  block->rewritten(block->range());
  EXPECT_TRUE(block->is_whole());
}

TEST_F(BlockTest, counts_what_was_skipped_as_tainted_until_its_owner_takes_it_as_it_is) {
  block->skip(part(100, 200), kWhy);
  EXPECT_FALSE(block->is_whole());
  EXPECT_TRUE(block->is_tainted(part(150, 151)));
  EXPECT_FALSE(block->is_unknown(block->range()));
  EXPECT_EQ(block->tainted_range(), part(100, 200));
  EXPECT_TRUE(block->accept_skipped(block->range()));
  EXPECT_TRUE(block->is_whole());
  EXPECT_FALSE(block->is_tainted(block->range()));
}

TEST_F(BlockTest, gives_nothing_unknown_for_something_skipped) {
  block->skip(part(0, 1000), kWhy);
  block->taint(part(400, 500), kWhy);
  EXPECT_FALSE(block->accept_skipped(block->range()));
  EXPECT_TRUE(block->is_tainted(part(0, 10))) << "nothing has changed";
  EXPECT_TRUE(block->accept_skipped(part(0, 400))) << "that part is as it was";
  EXPECT_FALSE(block->is_tainted(part(0, 400)));
  block->rewritten(part(400, 500));
  EXPECT_FALSE(block->is_unknown(block->range()));
  EXPECT_TRUE(block->accept_skipped(block->range()));
  EXPECT_TRUE(block->is_whole());
}

}  // namespace
}  // namespace troupe
