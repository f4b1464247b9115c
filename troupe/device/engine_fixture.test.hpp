// The engine with workers that exist only as their channels: what happens to ops that a worker had handed to lanes
// which run ahead, as a GPU's streams do. Everything else is tested with real workers.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "troupe/device/chunks.test.hpp"
#include "troupe/device/engine.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/families.hpp"
#include "troupe/op/table.hpp"

namespace troupe {

inline constexpr std::uint64_t kUnits = 256;

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    for (std::uint32_t worker = 0; worker < 2; ++worker) engine.open(worker, channels[worker], doorbells[worker]);
    engine.take_over(0, 1);
  }
  ~EngineTest() override { engine.shut(Error(ErrorKind::stopped)); }

  detail::IntrusivePtr<detail::VaultBlock> block() { return value(vault->allocate(4096)); }

  /// An op on a lane that reads the one block and writes the other, or updates it where they are the same.
  detail::IntrusivePtr<detail::OpCall> submit(std::uint32_t lane, const detail::IntrusivePtr<detail::VaultBlock>& reads,
                                              const detail::IntrusivePtr<detail::VaultBlock>& writes,
                                              bool follows = false) {
    auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
    call->lane = lane;
    call->follows = follows;
    op::encode(op::Nop{}, call->bytes);
    if (reads) call->uses.add(reads, {.range = reads->range(), .reads = true, .writes = reads == writes});
    if (writes && reads != writes) call->uses.add(writes, {.range = writes->range(), .writes = true, .whole = true});
    engine.submit(call);
    return call;
  }
  /// Worker 0 has handed everything to its lanes, and dies.
  void die_with_all_handed_in() {
    for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane) channels[0].begin(lane, 1000);
    engine.retire_active();
    engine.take_over(1, 2);
    engine.reaped(0, Error(ErrorKind::worker_crashed));
  }

  /// So many workers die that had not begun the op that it is tried alone, in worker 2, which begins it.
  void begin_its_trial() {
    for (int death = 1; !engine.has_suspects(); ++death) {
      const std::uint32_t dead = static_cast<std::uint32_t>((death - 1) % 2), next = 1 - dead;
      engine.retire_active();
      engine.take_over(next, death + 1);
      engine.reaped(dead, Error(ErrorKind::worker_crashed), Blame::nobody_here);
      channels[dead] = value(wire::Channel::create(kUnits));
      engine.open(dead, channels[dead], doorbells[dead]);
    }
    engine.open(2, channels[2], doorbells[2]);
    ASSERT_TRUE(engine.try_suspect(2));
    channels[2].begin(0, 1);
  }

  /// Worker 0 has said more than it can have done.
  void die_with_words_that_cannot_be_true() {
    channels[0].status().lanes[0].timeline.store(~std::uint64_t{0});
    std::thread poller([&] { engine.poll_until_stopped(); });
    while (lies.load() == 0) std::this_thread::yield();
    engine.stop_polling();
    poller.join();
    engine.retire_active();
    engine.take_over(1, 2);
    engine.reaped(0, Error(ErrorKind::worker_crashed));
    EXPECT_EQ(lies.load(), 1);
  }

  detail::IntrusivePtr<detail::Vault> vault =
      value(detail::Vault::create({.limit_bytes = std::uint64_t{64} << 20}, 0, std::make_shared<TestChunks>()));
  std::array<wire::Channel, 3> channels{value(wire::Channel::create(kUnits)), value(wire::Channel::create(kUnits)),
                                        value(wire::Channel::create(kUnits))};
  std::array<wire::Bell, 3> doorbells;
  wire::Bell bell;
  Engine engine{{.ring_units = kUnits, .ops_per_flag = wire::kMaxOpsPerFlag},
                {.kill = [this](std::uint32_t, const Error&) { kills.fetch_add(1); },
                 .distrust = [this](std::uint32_t, const Error&) { lies.fetch_add(1); },
                 .attend = [] {}},
                bell};
  std::atomic<int> kills{0};
  std::atomic<int> lies{0};
};

}  // namespace troupe
