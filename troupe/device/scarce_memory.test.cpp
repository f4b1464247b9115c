// Memory runs out in the threads of a system: whatever they do then, nothing aborts, every call ends, and everything
// works again when there is memory again.
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "troupe/device/device_fixture.test.hpp"
#include "troupe/device/low_limit.test.hpp"

namespace {

/// How many of a thousand allocations fail in threads that are not `spared`.
constinit std::atomic<std::uint32_t> failing_per_mille{0};
[[maybe_unused]] constinit std::atomic<std::uint64_t> allocations{0};
constinit std::atomic<std::uint64_t> failures{0};
constinit thread_local bool is_spared = false;

#if !TROUPE_SANITIZED

bool fails_now() noexcept {
  const std::uint32_t per_mille = failing_per_mille.load(std::memory_order_relaxed);
  if (per_mille == 0 || is_spared) return false;
  std::uint64_t z = (allocations.fetch_add(1, std::memory_order_relaxed) + 1) * 0x9E3779B97F4A7C15u;  // splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  if ((z ^ (z >> 31)) % 1000 >= per_mille) return false;
  failures.fetch_add(1, std::memory_order_relaxed);
  return true;
}

#endif

}  // namespace

// The whole program allocates here, including the library. A sanitizer has its own functions instead. (Not inlined,
// because g++ would warn of a `new` that is freed by `free`.)
#if !TROUPE_SANITIZED
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace troupe {
namespace {

/// Until the end of the scope, that many of a thousand allocations fail in other threads.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::uint32_t per_mille) {
    is_spared = true;
    failing_per_mille = per_mille;
  }
  ~ScarceMemory() { failing_per_mille = 0; }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;
};

class Scarcity : public DeviceTest {
 protected:
  static SystemOptions without_log() {
    SystemOptions options;
    options.threads = 2;
    options.log = log_nothing();  // a sink that keeps lines would need memory itself
    return options;
  }
  Device open_quietly() { return value(quiet.device("host", patient())); }
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer has its own allocator and maps terabytes that it never touches";
  }
  /// Everything that a device does in its life. Each call ends, in whatever way.
  static void live_through(const Device& device, const Array<float>& from, const Array<float>& to) {
    (void)device.fill(to, 1.0f).get();
    (void)device.copy(from, to).get();
    (void)device.read(from).get();
    (void)bad(device, "error", {writes(to)}).get();
    (void)bad(device, "null", {writes(to)}).get();
    (void)bad(device, "loop").deadline(std::chrono::milliseconds(20)).get();
    (void)device.kill_worker();
    (void)device.fill(to, 2.0f).get();
    (void)bad(device, "print", {}).get();
  }

  System quiet{without_log()};
};

TEST_F(Scarcity, a_device_lives_through_failing_allocations_and_serves_again) {
  const Device device = open_quietly();
  const Array<float> from = filled(device, {64}, 3.0f);
  const Array<float> to = filled(device, {64}, 0.0f);
  for (const std::uint32_t per_mille : {1U, 3U, 6U}) {
    {
      const ScarceMemory scarce(per_mille);
      for (int i = 0; i < 4; ++i) live_through(device, from, to);
    }
    EXPECT_TRUE(device.fill(to, 4.0f).get());
    EXPECT_TRUE(all_equal(device, to, 4.0f));
    EXPECT_TRUE(all_equal(device, from, 3.0f));
  }
  EXPECT_GT(failures.load(), 0U);
}

TEST_F(Scarcity, a_device_is_closed_without_memory) {
  for (int i = 0; i < 5; ++i) {
    Device device = open_quietly();
    const Array<float> array = filled(device, {64}, 3.0f);
    const ScarceMemory scarce(1000);
    device.close();
    EXPECT_EQ(kind_of(device.fill(array, 1.0f).get()), ErrorKind::stopped);
  }
}

TEST_F(Scarcity, a_device_is_closed_while_its_threads_wait_for_memory) {
  for (const bool guard : {false, true}) {
    DeviceOptions options = patient();
    options.guard = guard;
    Device device = value(quiet.device("host", options));
    Gate gate = make_gate(device);
    const Array<float> array = filled(device, {64}, 3.0f);
    ASSERT_TRUE(bad(device, "wait_for_flag", {updates(gate.flag)}).submit());
    ASSERT_TRUE(bad(device, "error", {reads(gate.flag), writes(array)}).submit());
    gate.wait_until_begun();
    const ScarceMemory scarce(1000);
    const std::uint64_t before = failures.load();
    gate.open();
    eventually([&] { return failures.load() > before + 10; });  // for the words of the error, or for a look at fences
    device.close();
    EXPECT_EQ(kind_of(device.fill(array, 1.0f).get()), ErrorKind::stopped);
  }
}

TEST_F(Scarcity, a_seal_that_has_ended_well_holds) {
  const Device device = open_quietly();
  const Array<float> weights = value(device.sealable_array<float>({1000}));
  value(device.fill(weights, 4.0f).get());
  int sealed = 0;
  for (int i = 0; i < 60; ++i) {
    bool has_ended_well = false;
    {
      const ScarceMemory scarce(100);
      has_ended_well = device.seal(weights).get().has_value();
    }
    ASSERT_EQ(weights.is_sealed(), has_ended_well);
    if (!has_ended_well) continue;
    ++sealed;
    ASSERT_EQ(kind_of(bad(device, "insist", {reads(weights)}).get()), ErrorKind::library_error) << "it could write";
    value(device.unseal(weights).get());
  }
  EXPECT_GT(sealed, 0);
  EXPECT_TRUE(all_equal(device, weights, 4.0f));
}

TEST_F(Scarcity, ops_end_without_any_memory) {
  const Device device = open_quietly();
  const Array<float> array = filled(device, {64}, 0.0f);
  {
    const ScarceMemory scarce(1000);
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(device.fill(array, 1.0f).submit());  // the poller sees them end
    EXPECT_TRUE(device.fill(array, 2.0f).get());
  }
  EXPECT_TRUE(all_equal(device, array, 2.0f));
}

/// Fails, answers, stops.
struct Fickle {
  struct Add {
    using Reply = int;
    int by;
  };
  struct Fail {
    using Reply = int;
  };
  int on(Add add) { return sum += add.by; }
  int on(Fail) { throw std::runtime_error("a failure with words that need memory of their own"); }
  int sum = 0;
};

TEST_F(Scarcity, every_ask_ends_and_actors_live_on) {
  const Ref<Fickle> actor = value(quiet.spawn<Fickle>({.supervision = {.max_restarts = 1'000'000}}));
  {
    const ScarceMemory scarce(100);
    for (int i = 0; i < 500; ++i) {
      (void)actor.ask<Fickle::Add>(1).wait_at_most(std::chrono::seconds(10)).get();
      (void)actor.ask<Fickle::Fail>().get();
    }
    for (int i = 0; i < 100; ++i) {
      const Ref<Fickle> other = value(quiet.spawn<Fickle>({}));
      other.stop();
      (void)other.ask<Fickle::Add>(1).get();
    }
  }
  EXPECT_TRUE(actor.ask<Fickle::Add>(1).get());
}

/// What this process has mapped.
rlim_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(Scarcity, a_device_lives_through_a_lack_of_address_space) {
  const Device device = open_quietly();
  const Array<float> array = filled(device, {64}, 3.0f);
  constexpr rlim_t kALittle = 1 << 20;
  constexpr std::int64_t kManyElements = 64 << 20;
  std::vector<ErrorKind> refusals;
  refusals.reserve(1000);
  {
    const LowLimit little(RLIMIT_AS, address_space_bytes() + kALittle);
    refusals.push_back(kind_of(device.host_array<float>({kManyElements})));
    kill_worker(device);  // the standby takes over, and no other can be started
    for (int i = 0; i < 100; ++i)
      if (const Result<void> end = device.fill(array, 5.0f).get(); !end) refusals.push_back(end.error().kind());
    (void)bad(device, "error").get();
  }
  for (const ErrorKind kind : refusals) EXPECT_EQ(kind, ErrorKind::out_of_memory);
  EXPECT_FALSE(refusals.empty());
  EXPECT_TRUE(device.host_array<float>({kManyElements}));
  kill_worker(device);
  EXPECT_TRUE(device.fill(array, 6.0f).get());
  EXPECT_TRUE(all_equal(device, array, 6.0f));
}

}  // namespace
}  // namespace troupe
