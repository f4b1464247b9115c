// Guard mode in the engine, with a worker that exists only as its channel: it may say what it likes about fences.
#include <gtest/gtest.h>

#include <thread>

#include "troupe/device/chunks.test.hpp"
#include "troupe/device/engine.hpp"
#include "troupe/device/vault.hpp"
#include "troupe/op/fences.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/table.hpp"

namespace troupe {
namespace {

class EngineGuardTest : public ::testing::Test {
 protected:
  using Block = detail::IntrusivePtr<detail::VaultBlock>;
  using Call = detail::IntrusivePtr<detail::OpCall>;
  static constexpr std::uint64_t kUnits = 1024;

  EngineGuardTest() {
    engine.open(0, channel, doorbell);
    engine.take_over(0, 1);
  }
  ~EngineGuardTest() override {
    engine.stop_polling();
    poller.join();
    engine.shut(Error(ErrorKind::stopped));
  }

  /// With whole fences.
  Block block() {
    Block made = value(vault->allocate(64));
    fence(*made, op::kFencePattern);
    return made;
  }
  void fence(const detail::VaultBlock& block, std::byte with) {
    const op::Range all = vault->with_fences(block);
    std::byte* const first = block.data() - (block.address() - all.begin);
    std::fill(first, block.data(), with);
    std::fill(block.data() + block.size_bytes(), first + (all.end - all.begin), with);
  }
  Call submit(const Block& block) {
    auto call = Call::adopt(new detail::OpCall);
    op::Fill fill;
    fill.out = {.address = block->address(), .dtype = DType::f32, .shape = {16}, .strides = {1}};
    fill.value = op::Scalar(1.0f);
    call->kind = op::Fill::kKind;
    op::encode(fill, call->bytes);
    call->uses.add(block, {.range = block->range(), .writes = true, .whole = true});
    engine.submit(call);
    return call;
  }
  Result<void> end_of(const Call& call) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!call->settled() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return call->settled() ? call->take() : fail(ErrorKind::timeout);
  }
  /// The worker says that its next op went well.
  void say_it_went_well() {
    channel.begin(0, ++ticket);
    channel.timeline(0).raise_to(ticket);
    bell.ring();
  }

  std::shared_ptr<TestChunks> source = std::make_shared<TestChunks>();
  detail::IntrusivePtr<detail::Vault> vault =
      value(detail::Vault::create({.limit_bytes = std::uint64_t{64} << 20, .fence_bytes = op::kFenceBytes}, 0, source));
  wire::Channel channel = value(wire::Channel::create(kUnits));
  wire::Bell doorbell, bell;
  wire::Ticket ticket = 0;
  Engine engine{
      {.ring_units = kUnits, .guard = true},
      {.kill = [](std::uint32_t, const Error&) {}, .distrust = [](std::uint32_t, const Error&) {}, .attend = [] {}},
      bell};
  std::thread poller{[this] { engine.poll_until_stopped(); }};
};

TEST_F(EngineGuardTest, does_not_believe_a_worker_that_sees_nothing) {
  const Block good = block(), bad = block();
  const Call first = submit(good);
  say_it_went_well();
  EXPECT_TRUE(end_of(first));
  const Call second = submit(bad);
  fence(*bad, std::byte{0});
  say_it_went_well();
  const Result<void> end = end_of(second);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::library_error);
  EXPECT_TRUE(
      end.error().message().starts_with("out, [16] of f32, was overrun: 4096 bytes were written right in front"))
      << end.error().message();
  EXPECT_TRUE(bad->is_tainted(bad->range()));
  EXPECT_FALSE(good->is_tainted(good->range()));
}

TEST_F(EngineGuardTest, leaves_it_to_the_worker_where_the_app_sees_nothing) {
  const Block bad = block();
  source->visible = false;
  const Call call = submit(bad);
  fence(*bad, std::byte{0});
  say_it_went_well();
  EXPECT_TRUE(end_of(call));
}

TEST_F(EngineGuardTest, gives_a_worker_one_op_at_a_time_with_its_fences) {
  const Block one = block(), other = block();
  const Call first = submit(one);
  const Call second = submit(other);
  const std::optional<wire::Record> record = channel.ring().at(0);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->guarded);
  const op::GuardedRecord guarded = value(op::read_guarded_record(record->bytes));
  ASSERT_EQ(guarded.arrays.size(), 1U);
  EXPECT_EQ(guarded.arrays[0].elements, one->range());
  EXPECT_EQ(guarded.arrays[0].with_fences, vault->with_fences(*one));
  const wire::Position next = record->units;
  EXPECT_FALSE(channel.ring().has(next)) << "they share nothing, and still it waits";
  say_it_went_well();
  EXPECT_TRUE(end_of(first));
  while (!channel.ring().has(next)) std::this_thread::yield();
  say_it_went_well();
  EXPECT_TRUE(end_of(second));
}

}  // namespace
}  // namespace troupe
