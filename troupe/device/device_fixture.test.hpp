// What the device's tests share: a system that keeps its log, a device, and the plugin that does what bad code does.
// Tests wait for conditions (`eventually`), never for time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "troupe/core/sanitized.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// A file beside the test program.
inline std::string beside(const char* name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

/// Keeps what is logged.
class LogKeeper {
 public:
  LogSink sink() {
    return [this](const LogRecord& record) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::string(record.source) + ": " + std::string(record.message));
    };
  }
  bool has(std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
  std::string all() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

class DeviceTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cout << "what was logged:\n" << log.all();
  }
  static SystemOptions system_options(LogKeeper& log) {
    SystemOptions options;
    options.threads = 2;
    options.log = log.sink();
    return options;
  }
  /// Many restarts, so that a test's faults do not make the device give up.
  static DeviceOptions patient() { return {.max_restarts = 1000}; }

  Device open(const DeviceOptions& options = patient()) { return value(system.device("host", options)); }

  static Call<void> bad(const Device& device, const char* function, std::vector<ArrayUse> arrays = {},
                        std::span<const std::byte> parameters = {}) {
    return device.call_plugin(beside("libbad_plugin.so"), function, std::move(arrays), parameters);
  }
  template <Element T>
  static Array<T> filled(const Device& device, const Shape& shape, T with) {
    Array<T> array = value(device.array<T>(shape));
    value(device.fill(array, with).get());
    return array;
  }
  template <Element T>
  static bool all_equal(const Device& device, const Array<T>& array, T expected) {
    const HostArray<T> content = value(device.read(array).get());
    return std::ranges::all_of(content, [&](T element) { return element == expected; });
  }
  template <class R>
  static ErrorKind kind_of(const Result<R>& result) {
    return result ? static_cast<ErrorKind>(255) : result.error().kind();
  }
  /// Waits until `done`, yielding; fails the test when it takes too long.
  template <class Done>
  static void eventually(Done&& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "it did not happen within 30 s";
      std::this_thread::yield();
    }
  }
  /// A flag that an op waits for, and one that says that the op waits, so that a test knows what is under way.
  struct Gate {
    HostArray<std::uint32_t> flag;
    void open() { std::atomic_ref(flag[0]).store(1); }
    void wait_until_begun() {
      eventually([&] { return std::atomic_ref(flag[1]).load() == 1; });
    }
  };
  static Gate make_gate(const Device& device) {
    Gate gate{value(device.host_array<std::uint32_t>({2}))};
    std::ranges::fill(gate.flag, 0U);
    return gate;
  }
  /// Returns when another worker serves.
  static void kill_worker(const Device& device) {
    const std::int64_t generation = device.generation();
    eventually([&] { return device.kill_worker(); });
    eventually([&] { return device.generation() > generation; });
  }

  LogKeeper log;
  System system{system_options(log)};
};

}  // namespace troupe
