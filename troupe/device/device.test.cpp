// What every device can do when nothing goes wrong, in a worker process and in a worker thread.
#include "troupe/device/device.hpp"

#include <numeric>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class AnyIsolation : public DeviceTest, public ::testing::WithParamInterface<Isolation> {
 protected:
  DeviceOptions options() const { return {.isolation = GetParam(), .max_restarts = 1000}; }
};
INSTANTIATE_TEST_SUITE_P(Device, AnyIsolation, ::testing::Values(Isolation::process, Isolation::thread),
                         [](const auto& param) { return param.param == Isolation::process ? "process" : "thread"; });

TEST_P(AnyIsolation, multiplies_matrices) {
  const Device device = open(options());
  const Array<float> a = filled(device, {3, 4}, 2.0f);
  const Array<float> b = filled(device, {4, 5}, 3.0f);
  const Array<float> c = value(device.array<float>({3, 5}));
  ASSERT_TRUE(device.blas().gemm(a, b, c).get());
  EXPECT_TRUE(all_equal(device, c, 24.0f));
  ASSERT_TRUE(device.blas().gemm(a, b, c, {.alpha = 2.0, .beta = -1.0}).get());
  EXPECT_TRUE(all_equal(device, c, 24.0f));
}

TEST_P(AnyIsolation, writes_and_reads_ordinary_and_shared_memory) {
  const Device device = open(options());
  std::vector<std::int32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Array<std::int32_t> array = value(device.array<std::int32_t>({10, 100}));
  ASSERT_TRUE(device.write(array, numbers).get());
  HostArray<std::int32_t> back = value(device.read(array).get());
  EXPECT_TRUE(std::ranges::equal(back, numbers));
  back[7] = -7;
  ASSERT_TRUE(device.write(array, back).get());
  const HostArray<std::int32_t> again = value(device.host_array<std::int32_t>({10, 100}));
  ASSERT_TRUE(device.read(array, again).get());
  EXPECT_EQ(again[7], -7);
}

TEST_P(AnyIsolation, copies_and_casts_views) {
  const Device device = open(options());
  const Array<float> matrix = value(device.array<float>({2, 3}));
  ASSERT_TRUE(device.write(matrix, std::vector<float>{0, 1, 2, 3, 4, 5}).get());
  const Array<float> transposed = value(device.array<float>({3, 2}));
  ASSERT_TRUE(device.copy(matrix.transpose(), transposed).get());
  const Array<std::int64_t> numbers = value(device.array<std::int64_t>({3, 2}));
  ASSERT_TRUE(device.cast(transposed, numbers).get());
  const HostArray<std::int64_t> out = value(device.read(numbers).get());
  EXPECT_EQ(std::vector<std::int64_t>(out.begin(), out.end()), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST_P(AnyIsolation, keeps_the_order_of_ops_that_nobody_waits_for) {
  const Device device = open(options());
  const Array<double> a = value(device.array<double>({64}));
  const Array<double> b = value(device.array<double>({64}));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(device.fill(a, static_cast<double>(i)).submit());
    ASSERT_TRUE(device.copy(a, b).submit());
    ASSERT_TRUE(device.blas().axpy(1.0, a, b).submit());
  }
  EXPECT_TRUE(all_equal(device, b, 398.0));
}

TEST_P(AnyIsolation, serves_many_coroutines_at_once) {
  const Device device = open(options());
  const auto work = [](Device gpu, float start) -> Task<Result<float>> {
    const Array<float> x = CO_TRY(gpu.array<float>({100}));
    CO_TRY(co_await gpu.fill(x, start));
    const Array<float> y = CO_TRY(gpu.array<float>({100}));
    CO_TRY(co_await gpu.copy(x, y));
    for (int i = 0; i < 10; ++i) CO_TRY(co_await gpu.blas().axpy(1.0, x, y));
    const HostArray<float> out = CO_TRY(co_await gpu.read(y));
    co_return out[99];
  };
  const auto all = [&](Device gpu) -> Task<Result<float>> {
    std::vector<Task<Result<float>>> tasks;
    for (int i = 0; i < 50; ++i) tasks.push_back(work(gpu, static_cast<float>(i)));
    float sum = 0;
    for (Result<float>& result : co_await when_all(std::move(tasks))) sum += CO_TRY(std::move(result));
    co_return sum;
  };
  EXPECT_EQ(value(system.run(all(device))), 11.0f * 49 * 50 / 2);
}

TEST_P(AnyIsolation, takes_arrays_without_elements) {
  const Device device = open(options());
  const Array<float> none = value(device.array<float>({0, 5}));
  EXPECT_TRUE(device.fill(none, 1.0f).get());
  EXPECT_TRUE(device.copy(none, value(device.array<float>({0, 5}))).get());
  EXPECT_EQ(value(device.read(none).get()).size(), 0);
  EXPECT_TRUE(device.write(none, std::vector<float>{}).get());
  const Array<float> c = filled(device, {2, 2}, 7.0f);
  const Array<float> thin = value(device.array<float>({2, 0}));
  EXPECT_TRUE(device.blas().gemm(thin, value(device.array<float>({0, 2})), c).get());
  EXPECT_TRUE(all_equal(device, c, 0.0f));
}

TEST_P(AnyIsolation, gives_memory_back_when_nobody_owns_it) {
  const Device device = open(options());
  const std::uint64_t before = device.stats().memory.used_bytes;
  for (int i = 0; i < 100; ++i) {
    const Array<float> array = value(device.array<float>({1 << 16}));
    ASSERT_TRUE(device.fill(array, 1.0f).submit());  // the op keeps it
  }
  ASSERT_TRUE(device.nop().get());
  eventually([&] { return device.stats().memory.used_bytes == before; });
}

TEST_P(AnyIsolation, ends_what_is_under_way_when_it_is_closed) {
  Device device = open(options());
  const Array<float> array = filled(device, {4}, 1.0f);
  device.close();
  EXPECT_EQ(kind_of(device.fill(array, 2.0f).get()), ErrorKind::stopped);
  EXPECT_EQ(kind_of(device.array<float>({4})), ErrorKind::stopped);
}

TEST_P(AnyIsolation, outlives_its_handle_in_arrays_only) {
  std::optional<Device> device = open(options());
  const HostArray<float> kept = value(device->read(filled(*device, {4}, 5.0f)).get());
  device.reset();
  EXPECT_EQ(kept[3], 5.0f);
}

TEST_F(DeviceTest, is_listed_with_its_name_and_memory) {
  const std::vector<DeviceInfo> devices = system.devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.back().backend, "host");
  EXPECT_GT(devices.back().memory_bytes, 0U);
}

TEST_F(DeviceTest, overlaps_lanes_that_do_not_conflict_and_orders_those_that_do) {
  const Device device = open({.lanes = Lanes::per_family()});
  // Three ops: the first waits in its lane for a flag that the app raises, the second does not touch its memory and so
  // ends before it, and the third reads what the first writes and so waits.
  HostArray<std::uint32_t> flag = value(device.host_array<std::uint32_t>({1}));
  flag[0] = 0;
  const Array<float> from = filled(device, {4}, 3.0f);
  const Array<float> to = filled(device, {4}, 0.0f);
  const Array<float> other = filled(device, {4}, 0.0f);
  const Array<float> after = filled(device, {4}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(flag), reads(from), writes(to)}).submit());
  ASSERT_TRUE(device.copy(to, after).submit());
  // Copies share a lane, and the first of them waits; a multiplication has a lane of its own.
  ASSERT_TRUE(device.blas().axpy(2.0, from, other).get());
  std::atomic_ref(flag[0]).store(1);
  EXPECT_TRUE(all_equal(device, after, 3.0f));
  EXPECT_TRUE(all_equal(device, other, 6.0f));
}

TEST_F(DeviceTest, overlaps_a_chain_with_what_is_independent_of_it_by_dependency) {
  const Device device = open();
  HostArray<std::uint32_t> flag = value(device.host_array<std::uint32_t>({1}));
  flag[0] = 0;
  const Array<float> from = filled(device, {4}, 3.0f);
  const Array<float> to = filled(device, {4}, 0.0f);
  const Array<float> other = filled(device, {4}, 0.0f);
  const Array<float> after = filled(device, {4}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(flag), reads(from), writes(to)}).submit());
  ASSERT_TRUE(device.copy(to, after).submit());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(device.blas().axpy(1.0, from, other).submit());
  EXPECT_TRUE(all_equal(device, other, 60.0f)) << "of one family with nothing that waits, and it is done";
  std::atomic_ref(flag[0]).store(1);
  EXPECT_TRUE(all_equal(device, after, 3.0f));
}

TEST_F(DeviceTest, never_has_others_wait_behind_a_family_apart) {
  const Device device = open({.lanes = Lanes().apart(op::Family::plugin)});
  HostArray<std::uint32_t> flag = value(device.host_array<std::uint32_t>({1}));
  flag[0] = 0;
  const Array<float> from = filled(device, {4}, 3.0f);
  const Array<float> other = filled(device, {4}, 0.0f);
  // More of them than there are lanes of any kind, and each with something that waits for it.
  std::vector<Array<float>> after;
  for (int i = 0; i < 20; ++i) {
    const Array<float> to = filled(device, {4}, 0.0f);
    after.push_back(filled(device, {4}, 0.0f));
    ASSERT_TRUE(bad(device, "wait_for_flag", {reads(flag), reads(from), writes(to)}).submit());
    ASSERT_TRUE(device.blas().axpy(1.0, to, after.back()).submit());
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(device.blas().axpy(1.0, from, other).submit());
  EXPECT_TRUE(all_equal(device, other, 60.0f));
  std::atomic_ref(flag[0]).store(1);
  for (const Array<float>& array : after) EXPECT_TRUE(all_equal(device, array, 3.0f));
}

TEST_F(DeviceTest, runs_everything_in_one_lane_when_told_so) {
  const Device device = open({.lanes = Lanes::single()});
  const Array<float> a = filled(device, {8}, 1.0f);
  ASSERT_TRUE(device.blas().axpy(1.0, a, filled(device, {8}, 1.0f)).get());
  const Device pooled = open({.lanes = Lanes::pool(3)});
  const Array<float> b = filled(pooled, {8}, 1.0f);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(pooled.blas().axpy(1.0, filled(pooled, {8}, 1.0f), b).submit());
  EXPECT_TRUE(all_equal(pooled, b, 21.0f));
}

TEST_F(DeviceTest, costs_no_process_and_no_descriptor_once_it_is_closed) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  open().close();  // the system's own come with its first device
  const auto before = descriptors();
  for (int i = 0; i < 3; ++i) {
    Device device = open();
    (void)filled(device, {1024}, 1.0f);
    device.close();
  }
  eventually([&] { return descriptors() <= before; });
}

}  // namespace
}  // namespace troupe
