// Memory that dies with its worker (managed arrays, and all arrays where a driver cannot export memory), and devices
// that only one process may use. Both are tried here on the host's device, which can pretend to be either.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class MortalMemory : public DeviceTest {
 protected:
  Device open_as(bool keeps_memory, bool is_exclusive) {
    DeviceInfo info = system.devices().back();
    info.keeps_memory = keeps_memory;
    info.is_exclusive = is_exclusive;
    return value(Device::open(system, info, patient()));
  }
};

TEST_F(MortalMemory, is_used_like_any_other) {
  const Device device = open();
  const Array<float> managed = value(device.managed_array<float>({100, 100}));
  const Array<float> kept = filled(device, {100, 100}, 2.0f);
  value(device.fill(managed, 1.0f).get());
  value(device.blas().axpy(3.0, kept, managed).get());
  EXPECT_TRUE(all_equal(device, managed, 7.0f));
  value(device.copy(managed, kept).get());
  EXPECT_TRUE(all_equal(device, kept, 7.0f));
}

TEST_F(MortalMemory, is_stale_after_a_take_over_and_can_be_made_anew) {
  const Device device = open();
  const Array<float> kept = filled(device, {100}, 2.0f);
  for (int i = 0; i < 3; ++i) {
    const Array<float> managed = value(device.managed_array<float>({100}));
    value(device.copy(kept, managed).get());
    EXPECT_TRUE(all_equal(device, managed, 2.0f));
    kill_worker(device);
    EXPECT_EQ(kind_of(device.read(managed).get()), ErrorKind::buffer_stale);
    EXPECT_EQ(kind_of(device.fill(managed, 1.0f).get()), ErrorKind::buffer_stale);
    EXPECT_TRUE(all_equal(device, kept, 2.0f));
  }
}

TEST_F(MortalMemory, makes_ops_stale_that_were_on_their_way_when_it_died) {
  const Device device = open();
  const Array<float> managed = value(device.managed_array<float>({1000}));
  const Array<float> kept = filled(device, {1000}, 2.0f);
  HostArray<std::uint32_t> gate = value(device.host_array<std::uint32_t>({2}));
  std::ranges::fill(gate, 0U);
  // Something runs; behind it wait ops with managed memory, and one without.
  std::jthread holder([&] { (void)bad(device, "wait_for_flag", {updates(gate), updates(kept)}).get(); });
  eventually([&] { return std::atomic_ref(gate[1]).load() == 1; });
  std::atomic<int> under_way{0};
  std::vector<Result<void>> ends(4, Result<void>(fail(ErrorKind::internal)));
  std::vector<std::jthread> callers;
  for (Result<void>& end : ends)
    callers.emplace_back([&] {
      ++under_way;
      end = device.copy(kept, managed).get();
    });
  eventually([&] { return under_way == 4 && device.stats().submitted >= 6; });
  kill_worker(device);
  std::atomic_ref(gate[0]).store(1);
  callers.clear();
  for (const Result<void>& end : ends)
    EXPECT_TRUE(kind_of(end) == ErrorKind::buffer_stale || kind_of(end) == ErrorKind::buffer_tainted)
        << (end ? "it succeeded" : end.error().to_string());
}

TEST_F(MortalMemory, is_all_there_is_where_a_driver_cannot_export_memory) {
  const Device device = open_as(false, false);
  EXPECT_TRUE(log.has("cannot export memory"));
  const Array<float> array = filled(device, {1000}, 3.0f);
  EXPECT_TRUE(all_equal(device, array, 3.0f));
  kill_worker(device);
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_stale);
  EXPECT_TRUE(all_equal(device, filled(device, {1000}, 4.0f), 4.0f));
}

TEST_F(MortalMemory, answers_out_of_memory_when_there_is_no_more) {
  const Device device = open({.vault_limit_bytes = std::uint64_t{16} << 20, .max_restarts = 1000});
  EXPECT_EQ(kind_of(device.managed_array<float>({std::int64_t{1} << 24})), ErrorKind::out_of_memory);
}

TEST_F(MortalMemory, belongs_to_its_device) {
  const Device one = open();
  const Device other = open();
  const Array<float> managed = value(one.managed_array<float>({10}));
  EXPECT_FALSE(other.fill(managed, 1.0f).get());
}

TEST_F(MortalMemory, a_device_for_one_process_at_a_time_has_no_standby_and_says_so) {
  const Device device = open_as(true, true);
  EXPECT_TRUE(log.has("there is no standby"));
  const Array<float> kept = filled(device, {1000}, 3.0f);
  const Array<float> out = value(device.array<float>({2}));
  HostArray<std::uint32_t> gate = value(device.host_array<std::uint32_t>({2}));
  std::ranges::fill(gate, 0U);
  Result<void> end;
  std::jthread caller([&] { end = bad(device, "wait_for_flag", {writes(gate), writes(out)}).get(); });
  eventually([&] { return std::atomic_ref(gate[1]).load() == 1; });
  kill_worker(device);
  caller.join();
  EXPECT_EQ(kind_of(end), ErrorKind::worker_crashed) << "it is not tried again: that would need a second worker";
  EXPECT_TRUE(all_equal(device, kept, 3.0f));
}

}  // namespace
}  // namespace troupe
