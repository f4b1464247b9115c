// The loop with the host's backend, in this process and without a device: the tests write the ring by hand.
#include "troupe/worker/loop.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <deque>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "troupe/backend/host/host_backend.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::worker {
namespace {

using namespace std::chrono_literals;
using op::View;

constexpr std::uint32_t kChunk = 5;
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
constexpr auto kPatience = 60s;

template <class Done>
void wait_until(const Done& done) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "waited in vain";
    sched_yield();
  }
}

template <class Op>
std::vector<std::byte> encoded(const Op& op) {
  wire::Writer out;
  op::encode(op, out);
  return {out.bytes().begin(), out.bytes().end()};
}

View bytes_at(std::uint64_t offset, std::int64_t size, DType dtype = DType::u8) {
  return {.address = op::address_of(kChunk, offset), .dtype = dtype, .shape = {size}, .strides = {1}};
}

op::Fill fill(const View& out, std::uint8_t value) { return {.out = out, .value = op::Scalar(value)}; }

/// An op as the app sees it.
struct Submitted {
  std::uint32_t lane = 0;
  wire::Ticket ticket = 0;
  wire::RingSlot slot;
};

/// A worker's loop in a thread, one chunk of memory, and the app's side of the ring.
struct TestLoop {
  explicit TestLoop(std::uint64_t ring_units = 64) : channel(value(wire::Channel::create(ring_units))) {
    value(backend->memory().map({.id = kChunk, .size_bytes = kChunkBytes}, value(chunk.descriptor().duplicate())));
    thread = std::thread([this] { loop.run(); });
  }
  ~TestLoop() {
    open_gate();
    loop.stop();
    thread.join();
  }
  TestLoop(const TestLoop&) = delete;
  TestLoop& operator=(const TestLoop&) = delete;

  Submitted submit_bytes(std::uint32_t lane, std::span<const std::byte> bytes) {
    std::optional<wire::RingSlot> slot;
    wait_until([&] {
      free_places();
      return (slot = tail.reserve(channel.ring(), bytes.size(), head)).has_value();
    });
    return commit(lane, *slot, bytes);
  }
  Submitted commit(std::uint32_t lane, const wire::RingSlot& slot, std::span<const std::byte> bytes) {
    (void)channel.take_failure(slot.record(), slot.units);
    channel.ring().commit(slot, lane, bytes);
    bells.doorbell(0).ring();
    under_way.push_back({.lane = lane, .ticket = ++issued[lane], .slot = slot});
    return under_way.back();
  }
  template <class Op>
  Submitted submit(std::uint32_t lane, const Op& op) {
    return submit_bytes(lane, encoded(op));
  }

  bool done(const Submitted& op) const { return channel.timeline(op.lane).done(op.ticket); }
  bool begun(const Submitted& op) const { return wire::reached(channel.begun(op.lane).value(), op.ticket); }
  /// How it ended, once it has.
  Result<void> end_of(const Submitted& op) {
    wait_until([&] { return done(op); });
    const std::unique_ptr<wire::Channel::Failure> failure = channel.take_failure(op.slot.record(), op.slot.units);
    return failure ? fail(failure->error) : Result<void>();
  }
  void finish_all() {
    for (const Submitted& op : under_way) wait_until([&] { return done(op); });
  }

  /// An op that begins and then waits for `open_gate`; after that it copies.
  op::PluginCall gate(const View* from = nullptr, const View* to = nullptr) const {
    op::PluginCall call;
    call.path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbad_plugin.so";
    call.function = "wait_for_flag";
    call.arrays.push_back({op::Access::read, bytes_at(kFlagOffset, 1, DType::u32)});
    if (from != nullptr) {
      call.arrays.push_back({op::Access::read, *from});
      call.arrays.push_back({op::Access::write, *to});
    }
    return call;
  }
  void open_gate() { flag().store(1, std::memory_order_release); }

  std::uint8_t byte(std::uint64_t offset) { return static_cast<std::uint8_t>(chunk.data()[offset]); }
  void set(std::uint64_t offset, std::uint64_t size, std::uint8_t value) {
    std::fill_n(chunk.data() + offset, size, static_cast<std::byte>(value));
  }

  wire::Channel channel;
  wire::SharedBells bells = value(wire::SharedBells::create());
  wire::SharedMemory chunk = value(wire::SharedMemory::create("chunk", kChunkBytes));

  static constexpr std::uint64_t kFlagOffset = kChunkBytes - 64;

  std::atomic_ref<std::uint32_t> flag() {
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(chunk.data() + kFlagOffset));
  }
  void free_places() {
    while (!under_way.empty() && done(under_way.front())) {
      const wire::RingSlot& slot = under_way.front().slot;
      channel.ring().free(slot.begin, slot.end() - slot.begin);
      head = slot.end();
      under_way.pop_front();
    }
  }

  std::unique_ptr<host::HostBackend> backend =
      value(host::HostBackend::open({.channel = channel, .bell = bells.app(), .log = {}}));

  Loop<host::HostBackend> loop{channel, bells.doorbell(0), *backend};

  wire::RingTail tail;
  wire::Position head = 0;
  std::array<wire::Ticket, wire::kMaxLanes> issued{};
  std::deque<Submitted> under_way;
  std::thread thread;
};

TEST(Loop, runs_an_op_and_raises_its_timeline) {
  TestLoop test;
  const Submitted op = test.submit(3, fill(bytes_at(100, 50), 7));
  EXPECT_TRUE(test.end_of(op));
  EXPECT_TRUE(test.begun(op));
  EXPECT_EQ(test.byte(99), 0);
  EXPECT_EQ(test.byte(100), 7);
  EXPECT_EQ(test.byte(149), 7);
  EXPECT_EQ(test.byte(150), 0);
  for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane)
    EXPECT_EQ(test.channel.timeline(lane).now(), lane == 3 ? 1U : 0U);
}

TEST(Loop, counts_the_ops_of_each_lane_for_itself) {
  TestLoop test;
  for (std::uint32_t i = 0; i < 160; ++i) test.submit(i % wire::kMaxLanes, op::Nop{});
  test.submit(4, op::Nop{});
  test.finish_all();
  for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane)
    EXPECT_EQ(test.channel.timeline(lane).now(), lane == 4 ? 11U : 10U);
}

TEST(Loop, rings_the_app_when_something_is_done) {
  TestLoop test;
  test.bells.app().listen();
  const Submitted op = test.submit(0, op::Nop{});
  while (test.bells.app().listening()) test.bells.app().sleep(TimePoint::max());
  EXPECT_TRUE(test.done(op)) << "the timeline is raised before the bell is rung";
}

TEST(Loop, sleeps_when_the_ring_is_empty_and_wakes_for_the_next_op) {
  TestLoop test;
  for (int round = 0; round < 20; ++round) {
    wait_until([&] { return test.bells.doorbell(0).listening(); });
    EXPECT_TRUE(test.end_of(test.submit(0, op::Nop{})));
  }
}

TEST(Loop, ends_when_it_is_told_to_while_it_sleeps) {
  TestLoop test;
  wait_until([&] { return test.bells.doorbell(0).listening(); });
}

TEST(Loop, answers_with_the_error_of_an_op_that_fails) {
  TestLoop test;
  const Submitted bad = test.submit(2, op::Copy{.in = bytes_at(0, 10), .out = bytes_at(100, 11)});
  const Submitted good = test.submit(2, op::Nop{});
  const Result<void> end = test.end_of(bad);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument);
  EXPECT_FALSE(end.error().message().empty());
  EXPECT_TRUE(test.end_of(good));
}

TEST(Loop, does_not_run_what_was_cancelled_before_it_began) {
  TestLoop test;
  const Submitted gate = test.submit(1, test.gate());
  const Submitted unwanted = test.submit(1, fill(bytes_at(0, 10), 9));
  const Submitted wanted = test.submit(1, fill(bytes_at(10, 10), 9));
  wait_until([&] { return test.begun(gate); });
  test.channel.ring().cancel(unwanted.slot.record());
  EXPECT_FALSE(test.begun(unwanted));
  test.open_gate();
  EXPECT_TRUE(test.end_of(gate));
  EXPECT_EQ(test.end_of(unwanted).error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(test.end_of(wanted));
  EXPECT_EQ(test.byte(0), 0);
  EXPECT_EQ(test.byte(10), 9);
}

TEST(Loop, answers_a_corrupt_record_on_its_lane_and_goes_on) {
  TestLoop test;
  std::vector<std::byte> other_version = encoded(op::Nop{});
  other_version[0] = std::byte{99};
  std::vector<std::byte> cut = encoded(fill(bytes_at(0, 10), 1));
  cut.pop_back();
  const std::vector<std::byte> garbage(300, std::byte{0xff});
  std::uint32_t lane = 4;
  for (const auto& bytes : {other_version, cut, garbage, std::vector<std::byte>{}}) {
    const Submitted bad = test.submit_bytes(lane, bytes);
    const Submitted good = test.submit(lane, op::Nop{});
    EXPECT_EQ(test.end_of(bad).error().kind(), ErrorKind::invalid_argument);
    EXPECT_TRUE(test.end_of(good));
    ++lane;
  }
  EXPECT_EQ(test.byte(0), 0);
}

TEST(Loop, answers_a_record_whose_length_cannot_be) {
  TestLoop test;
  const Submitted before = test.submit(6, op::Nop{});
  EXPECT_TRUE(test.end_of(before));
  // It says that it takes seven units and has the bytes of one: the loop takes it for one.
  wire::RingSlot lies{.begin = before.slot.end(), .skip = 0, .units = 7};
  const Submitted bad = test.commit(6, lies, encoded(op::Nop{}));
  EXPECT_EQ(test.end_of(bad).error().kind(), ErrorKind::invalid_argument);
  const wire::RingSlot next{.begin = lies.begin + 1, .skip = 0, .units = 1};
  EXPECT_TRUE(test.end_of(test.commit(6, next, encoded(op::Nop{}))));
}

TEST(Loop, refuses_memory_that_is_not_in_the_vault) {
  TestLoop test;
  View past_the_end = bytes_at(kChunkBytes - 10, 11);
  View before_the_start = bytes_at(5, 10);
  before_the_start.strides = {-1};
  View no_such_chunk = bytes_at(0, 1);
  no_such_chunk.address = op::address_of(op::kMaxChunks, 0);
  View at_the_end_of_all_addresses = bytes_at(0, 1);
  at_the_end_of_all_addresses.address = ~op::Address{0};
  for (const View& view : {past_the_end, before_the_start, no_such_chunk, at_the_end_of_all_addresses}) {
    EXPECT_EQ(test.end_of(test.submit(0, fill(view, 1))).error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(test.end_of(test.submit(1, op::Copy{.in = view, .out = view})).error().kind(),
              ErrorKind::invalid_argument);
    op::PluginCall call = test.gate();
    call.arrays.push_back({op::Access::read, view});
    EXPECT_EQ(test.end_of(test.submit(2, call)).error().kind(), ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(test.end_of(test.submit(0, fill(bytes_at(kChunkBytes - 10, 10), 1)))) << "up to the last byte";
}

TEST(Loop, lets_lanes_overlap_that_share_no_memory) {
  TestLoop test;
  const View from = bytes_at(0, 100), to = bytes_at(1000, 100);
  const Submitted gate = test.submit(0, test.gate(&from, &to));
  const Submitted small = test.submit(1, fill(bytes_at(2000, 100), 1));
  const Submitted large = test.submit(2, fill(bytes_at(10'000, 100'000), 2));
  const Submitted reads_too = test.submit(3, op::Copy{.in = from, .out = bytes_at(4000, 100)});
  EXPECT_TRUE(test.end_of(small));
  EXPECT_TRUE(test.end_of(large));
  EXPECT_TRUE(test.end_of(reads_too));
  wait_until([&] { return test.begun(gate); });
  EXPECT_FALSE(test.done(gate));
  test.open_gate();
  EXPECT_TRUE(test.end_of(gate));
}

/// Waits until the loop has handed in everything before this call, gates or not.
void pass_through(TestLoop& test) { EXPECT_TRUE(test.end_of(test.submit(15, op::Nop{}))); }

TEST(Loop, makes_a_read_wait_for_the_write_before_it) {
  TestLoop test;
  test.set(0, 100, 42);
  const View source = bytes_at(0, 100), shared = bytes_at(1000, 100), target = bytes_at(2000, 100);
  const Submitted write = test.submit(0, test.gate(&source, &shared));
  const Submitted read = test.submit(1, op::Copy{.in = shared, .out = target});
  pass_through(test);
  EXPECT_FALSE(test.begun(read));
  test.open_gate();
  EXPECT_TRUE(test.end_of(read));
  EXPECT_TRUE(test.done(write));
  EXPECT_EQ(test.byte(2000), 42);
}

TEST(Loop, makes_a_write_wait_for_the_read_before_it) {
  TestLoop test;
  test.set(1000, 100, 42);
  const View shared = bytes_at(1000, 100), target = bytes_at(2000, 100);
  const Submitted read = test.submit(0, test.gate(&shared, &target));
  const Submitted write = test.submit(1, fill(shared, 7));
  pass_through(test);
  EXPECT_FALSE(test.begun(write));
  test.open_gate();
  EXPECT_TRUE(test.end_of(write));
  EXPECT_TRUE(test.done(read));
  EXPECT_EQ(test.byte(1000), 7);
  EXPECT_EQ(test.byte(2000), 42);
}

TEST(Loop, makes_a_write_wait_for_the_write_before_it) {
  TestLoop test;
  test.set(0, 100, 42);
  const View source = bytes_at(0, 100), shared = bytes_at(1000, 100);
  test.submit(0, test.gate(&source, &shared));
  const Submitted second = test.submit(1, fill(bytes_at(1050, 10), 7));
  pass_through(test);
  EXPECT_FALSE(test.begun(second));
  test.open_gate();
  EXPECT_TRUE(test.end_of(second));
  EXPECT_EQ(test.byte(1000), 42);
  EXPECT_EQ(test.byte(1050), 7);
}

TEST(Loop, keeps_a_chain_of_conflicts_across_lanes_in_order) {
  TestLoop test;
  test.set(0, 100, 42);
  const View a = bytes_at(0, 100);
  View previous = bytes_at(1000, 100);
  test.submit(0, test.gate(&a, &previous));
  for (std::uint32_t lane = 1; lane < 14; ++lane) {
    const View next = bytes_at(std::uint64_t{1000} * (lane + 1), 100);
    test.submit(lane, op::Copy{.in = previous, .out = next});
    previous = next;
  }
  pass_through(test);
  EXPECT_EQ(test.byte(14'000), 0);
  test.open_gate();
  test.finish_all();
  EXPECT_EQ(test.byte(14'000), 42);
}

TEST(Loop, lets_go_of_what_waited_for_an_op_that_failed_or_was_cancelled) {
  TestLoop test;
  const View source = bytes_at(0, 100), shared = bytes_at(1000, 100);
  const View other_type = bytes_at(1000, 25, DType::f32);
  const Submitted fails = test.submit(0, test.gate(&source, &other_type));
  const Submitted next = test.submit(1, fill(shared, 7));
  pass_through(test);
  test.open_gate();
  EXPECT_FALSE(test.end_of(fails));
  EXPECT_TRUE(test.end_of(next));
  EXPECT_EQ(test.byte(1099), 7);
}

// Fills, copies and additions of arrays that overlap, short ones that the loop runs itself and long ones, on random
// lanes: afterwards the memory is as if they had run one after the other.
TEST(Loop, gives_what_program_order_gives) {
  constexpr std::uint64_t kMemory = 400'000;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TestLoop test(32);
    std::vector<std::uint8_t> model(kMemory);
    for (int step = 0; step < 400; ++step) {
      const std::uint64_t size = random() % 3 == 0 ? 20'000 + random() % 30'000 : 1 + random() % 3000;
      const std::uint64_t out = random() % (kMemory - size);
      const std::uint64_t in = random() % (kMemory - size);
      const auto lane = static_cast<std::uint32_t>(random() % 6);
      if (random() % 3 == 0 || std::max(in, out) < std::min(in, out) + size) {
        const auto value = static_cast<std::uint8_t>(random());
        test.submit(lane, fill(bytes_at(out, static_cast<std::int64_t>(size)), value));
        std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(out), size, value);
      } else {
        test.submit(lane, op::Copy{.in = bytes_at(in, static_cast<std::int64_t>(size)),
                                   .out = bytes_at(out, static_cast<std::int64_t>(size))});
        std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(in), size,
                    model.begin() + static_cast<std::ptrdiff_t>(out));
      }
    }
    test.finish_all();
    EXPECT_EQ(std::memcmp(model.data(), test.chunk.data(), kMemory), 0);
  }
}

}  // namespace
}  // namespace troupe::worker
