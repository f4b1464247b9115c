// Bad input gets a typed error that says what is wrong, before anything reaches a worker, and nothing is lost.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class BadInput : public DeviceTest {
 protected:
  void expect_invalid(const Result<void>& result, std::string_view says) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(result.error().message().find(says), std::string_view::npos) << result.error().to_string();
    EXPECT_TRUE(device.nop().get()) << "the device goes on";
    EXPECT_EQ(device.generation(), 1);
  }

  Device device = open();
  Array<float> a = filled(device, {2, 3}, 1.0f);
  Array<float> b = filled(device, {3, 4}, 1.0f);
};

TEST_F(BadInput, shapes_that_do_not_fit) {
  expect_invalid(device.blas().gemm(a, a, b).get(), "a must have as many columns as b has rows");
  expect_invalid(device.copy(a, b).get(), "they must have the same shape");
  expect_invalid(device.blas().axpy(1.0, a, b).get(), "they must have the same shape");
  expect_invalid(device.blas().gemm(a, b, value(device.array<float>({8}))).get(), "c is [8]; it must be a matrix");
  expect_invalid(device.write(a, std::vector<float>{1.0f}).get(), "it needs 6 elements, and 1 are given");
}

TEST_F(BadInput, types_that_do_not_fit) {
  expect_invalid(device.copy(a, value(device.array<double>({2, 3}))).get(),
                 "they must have the same type, or use cast");
  const Array<std::int32_t> whole = value(device.array<std::int32_t>({2, 2}));
  EXPECT_EQ(kind_of(device.blas().gemm(whole, whole, value(device.array<std::int32_t>({2, 2}))).get()),
            ErrorKind::unsupported);
  const Array<bool> flags = value(device.array<bool>({2}));
  EXPECT_EQ(kind_of(device.blas().axpy(1.0, flags, value(device.array<bool>({2}))).get()), ErrorKind::unsupported);
  expect_invalid(device.blas().axpy(std::complex<float>(0, 1), a, filled(device, {2, 3}, 0.0f)).get(), "alpha is 0+1i");
  expect_invalid(device.blas().axpy(std::nan(""), a, filled(device, {2, 3}, 0.0f)).get(), "NaN");
}

TEST_F(BadInput, arrays_of_another_device) {
  const Device other = open();
  const Array<float> foreign = filled(other, {2, 3}, 4.0f);
  expect_invalid(device.copy(a, foreign).get(), "another device");
  EXPECT_TRUE(all_equal(other, foreign, 4.0f));
}

TEST_F(BadInput, arrays_that_are_gone) {
  Array<float> moved = filled(device, {2, 3}, 1.0f);
  const Array<float> target = std::move(moved);
  expect_invalid(device.fill(moved, 1.0f).get(), "empty");  // NOLINT(bugprone-use-after-move): that is the point
  expect_invalid(device.fill(AnyArray(), 1.0f).get(), "empty");
}

TEST_F(BadInput, outputs_that_overlap_inputs_or_themselves) {
  expect_invalid(device.copy(a, a).get(), "overlap");
  const Array<float> line = filled(device, {10}, 1.0f);
  expect_invalid(device.copy(value(line.slice(0, 0, 5)), value(line.slice(0, 4, 9))).get(), "overlap");
  EXPECT_TRUE(device.copy(value(line.slice(0, 0, 5)), value(line.slice(0, 5, 10))).get());
  const Array<float> square = filled(device, {3, 3}, 1.0f);
  expect_invalid(device.blas().gemm(square, filled(device, {3, 3}, 1.0f), square).get(), "overlap");
  expect_invalid(device.fill(value(filled(device, {1, 3}, 1.0f).broadcast({4, 3})), 1.0f).get(), "overlap each other");
}

TEST_F(BadInput, sizes_that_cannot_be) {
  EXPECT_EQ(kind_of(device.array<float>({-1})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.array<float>({1LL << 40, 1LL << 40})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.array<double>({1LL << 60})), ErrorKind::invalid_argument);
  const Result<Array<float>> huge = device.array<float>({1LL << 44});
  ASSERT_EQ(kind_of(huge), ErrorKind::out_of_memory);
  EXPECT_NE(huge.error().message().find("64 TiB"), std::string_view::npos) << huge.error().message();
  EXPECT_TRUE(device.array<float>({16}));
}

TEST_F(BadInput, devices_that_are_not_there) {
  const Result<Device> none = system.device("abacus");
  ASSERT_EQ(kind_of(none), ErrorKind::invalid_argument);
  EXPECT_NE(none.error().message().find("this machine has: "), std::string_view::npos) << none.error().message();
  const bool has_gpu = system.devices().front().backend == "cuda";
  EXPECT_EQ(kind_of(system.device("cuda")) == ErrorKind::invalid_argument, !has_gpu);
}

TEST_F(BadInput, more_memory_than_the_machine_has) {
  const Device greedy = open({.vault_limit_bytes = std::uint64_t{1} << 43});
  const Result<Array<float>> more = greedy.array<float>({std::int64_t{1} << 40});
  ASSERT_EQ(kind_of(more), ErrorKind::out_of_memory);
  EXPECT_NE(more.error().message().find("available"), std::string_view::npos) << more.error().message();
  EXPECT_TRUE(all_equal(greedy, filled(greedy, {4}, 1.0f), 1.0f));
}

TEST_F(BadInput, a_vault_at_its_limit) {
  const Device small = open({.vault_limit_bytes = 8 << 20});
  const Array<float> first = filled(small, {1 << 20}, 1.0f);
  const Result<Array<float>> second = small.array<float>({2 << 20});
  ASSERT_EQ(kind_of(second), ErrorKind::out_of_memory);
  EXPECT_NE(second.error().message().find("8 MiB"), std::string_view::npos) << second.error().message();
  EXPECT_TRUE(all_equal(small, first, 1.0f));
}

TEST_F(BadInput, options_that_cannot_be) {
  EXPECT_EQ(kind_of(system.device("host", {.vault_limit_bytes = 0})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(system.device("host", {.host_limit_bytes = 0})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(system.device("host", {.ring_units = 1000})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(system.device("host", {.lanes = Lanes::pool(0)})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(system.device(7)), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(system.device(-1)), ErrorKind::invalid_argument);
}

TEST_F(BadInput, more_threads_than_there_are_cores_or_none) {
  for (const int threads : {0, -1, 100'000}) {
    const Result<Device> none = system.device("host", {.cpu_threads = threads});
    ASSERT_EQ(kind_of(none), ErrorKind::invalid_argument);
    EXPECT_NE(none.error().message().find("cpu_threads is " + std::to_string(threads) + "; it must be 1 to "),
              std::string_view::npos)
        << none.error().message();
  }
  const Device alone = open({.cpu_threads = 1});
  EXPECT_TRUE(all_equal(alone, filled(alone, {1 << 20}, 3.0f), 3.0f));
}

TEST_F(BadInput, an_unknown_backend) {
  DeviceInfo info = system.devices().back();
  info.backend = "abacus";
  const Result<Device> none = Device::open(system, info);
  ASSERT_EQ(kind_of(none), ErrorKind::unsupported);
  EXPECT_NE(none.error().message().find("abacus"), std::string_view::npos) << none.error().message();
}

TEST_F(BadInput, a_worker_executable_that_is_missing_or_none) {
  const Result<Device> missing = system.device("host", {.worker_executable = "/nowhere/troupe-worker"});
  ASSERT_EQ(kind_of(missing), ErrorKind::invalid_argument);
  EXPECT_NE(missing.error().message().find("/nowhere/troupe-worker"), std::string_view::npos);
  const Result<Device> other = system.device("host", {.worker_executable = "/bin/true"});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("exited with code 0"), std::string_view::npos) << other.error().message();
}

TEST_F(BadInput, a_worker_of_another_version) {
  // A worker that answers, but not in our protocol.
  const std::string path = beside(("other_version_worker_" + std::to_string(getpid()) + ".py").c_str());
  std::ofstream(path) << "#!/usr/bin/env python3\n"
                         "import socket, sys\n"
                         "s = socket.socket(fileno=int(sys.argv[2]))\n"
                         "s.recv(65536)\n"
                         "text = b'troupe 99.0, protocol 99, ops 99'\n"
                         "s.send(bytes([3]) + len(text).to_bytes(4, sys.byteorder) + text)\n"
                         "s.recv(65536)\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const Result<Device> other = system.device("host", {.worker_executable = path});
  std::filesystem::remove(path);
  ASSERT_EQ(kind_of(other), ErrorKind::unsupported) << other.error().to_string();
  EXPECT_NE(other.error().message().find("another version"), std::string_view::npos) << other.error().message();
}

TEST_F(BadInput, too_few_descriptors) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const auto open_now =
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  for (rlim_t spare = 0; spare < 24; spare += 3) {
    const rlimit few{.rlim_cur = static_cast<rlim_t>(open_now) + spare, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    const Result<Device> opened = system.device("host", {.standby = Standby::none});
    setrlimit(RLIMIT_NOFILE, &before);
    if (!opened) {
      EXPECT_EQ(opened.error().kind(), ErrorKind::out_of_memory) << opened.error().to_string();
    }
  }
  EXPECT_TRUE(all_equal(device, a, 1.0f));
  EXPECT_TRUE(system.device("host"));
}

TEST_F(BadInput, plugins_that_are_none) {
  expect_invalid(device.call_plugin("/nowhere/plugin.so", "f").get(), "/nowhere/plugin.so");
  expect_invalid(device.call_plugin(beside("libnot_a_plugin.so"), "f").get(), "troupe_plugin");
  expect_invalid(device.call_plugin(beside("libother_abi_plugin.so"), "f").get(), "999");
  expect_invalid(bad(device, "no_such_function").get(), "no_such_function");
  expect_invalid(device.call_plugin("", "f").get(), "path");
  std::vector<ArrayUse> many;
  for (int i = 0; i < 17; ++i) many.push_back(reads(a));
  expect_invalid(bad(device, "sum", std::move(many)).get(), "there are 17 arrays; it takes at most 16");
  const std::vector<std::byte> long_parameters(5000);
  expect_invalid(bad(device, "sum", {}, long_parameters).get(), "at most 4096");
}

TEST_F(BadInput, waiting_in_a_handler) {
  const auto wait = [](Device gpu) -> Task<Result<void>> { co_return gpu.nop().get(); };
  expect_invalid(system.run(wait(device)), "get() inside a handler");
}

TEST_F(BadInput, deadlines_and_timeouts_of_zero) {
  EXPECT_EQ(kind_of(device.fill(a, 2.0f).deadline(Duration(0)).get()), ErrorKind::deadline_exceeded);
  EXPECT_EQ(kind_of(device.fill(a, 2.0f).wait_at_most(Duration(0)).get()), ErrorKind::timeout);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(kind_of(device.fill(a, 2.0f).cancel_on(stopped.get_token()).get()), ErrorKind::cancelled);
  EXPECT_TRUE(all_equal(device, a, 1.0f));
}

TEST_F(DeviceTest, a_system_in_virtual_time_has_no_devices) {
  SystemOptions options;
  options.deterministic_seed = 1;
  System still(options);
  EXPECT_EQ(kind_of(still.device("host")), ErrorKind::unsupported);
}

}  // namespace
}  // namespace troupe
