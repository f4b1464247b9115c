// A sealed array stays as it is, whatever runs in a worker: the plugins here write where they should only read.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class Seal : public DeviceTest {
 protected:
  static Array<float> sealable(const Device& device, std::int64_t count, float with) {
    Array<float> array = value(device.sealable_array<float>({count}));
    value(device.fill(array, with).get());
    return array;
  }
  static Array<float> sealed(const Device& device, std::int64_t count, float with) {
    Array<float> array = sealable(device, count, with);
    value(device.seal(array).get());
    return array;
  }
  /// The end of a plugin that overwrites an array which it should only read.
  static Result<void> end_of_scribble(const Device& device, const Array<float>& array) {
    return bad(device, "scribble", {reads(array)}).get();
  }
  static std::span<const std::byte> bytes_of(const std::int32_t& number) {
    return std::as_bytes(std::span(&number, 1));
  }
};

TEST_F(Seal, a_plugin_that_writes_there_crashes_and_changes_nothing) {
  const Device device = open();
  const Array<float> weights = sealed(device, 1000, 4.0f);
  const Array<float> other = filled(device, {1000}, 5.0f);
  const Result<void> end = end_of_scribble(device, weights);
  ASSERT_EQ(kind_of(end), ErrorKind::worker_crashed);
  if (!kSanitized) {
    EXPECT_NE(end.error().message().find("SIGSEGV"), std::string_view::npos) << end.error().to_string();
  }
  EXPECT_TRUE(weights.is_sealed());
  EXPECT_TRUE(all_equal(device, weights, 4.0f)) << "and it is not tainted";
  EXPECT_TRUE(all_equal(device, other, 5.0f));
  EXPECT_EQ(device.stats().culprits, 1U);
  ASSERT_TRUE(end_of_scribble(device, other)) << "what is not sealed is written, and nobody notices";
  EXPECT_TRUE(all_equal(device, other, 0.0f));
}

TEST_F(Seal, seven_of_seven_neighbours_stay_as_they_are) {
  const Device device = open();
  std::vector<Array<float>> neighbours;
  std::vector<ArrayUse> uses;
  for (int i = 0; i < 7; ++i) {
    neighbours.push_back(sealed(device, 3000, static_cast<float>(i + 1)));
    uses.push_back(reads(neighbours.back()));
  }
  for (std::int32_t i = 0; i < 7; ++i)
    EXPECT_EQ(kind_of(bad(device, "scribble", uses, bytes_of(i)).get()), ErrorKind::worker_crashed) << i;
  for (int i = 0; i < 7; ++i)
    EXPECT_TRUE(all_equal(device, neighbours[static_cast<std::size_t>(i)], static_cast<float>(i + 1))) << i;
}

TEST_F(Seal, code_in_a_worker_cannot_make_it_writable_again) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 4.0f);
  ASSERT_TRUE(bad(device, "insist", {reads(weights)}).get()) << "before it is sealed nobody stops it";
  EXPECT_TRUE(all_equal(device, weights, 0.0f));
  value(device.fill(weights, 4.0f).get());
  for (int i = 0; i < 2; ++i) {
    value(device.seal(weights).get());
    EXPECT_EQ(kind_of(bad(device, "insist", {reads(weights)}).get()), ErrorKind::library_error);
    kill_worker(device);
    EXPECT_EQ(kind_of(bad(device, "insist", {reads(weights)}).get()), ErrorKind::library_error) << "one that is new";
    EXPECT_TRUE(all_equal(device, weights, 4.0f));
    value(device.unseal(weights).get());
  }
}

TEST_F(Seal, holds_for_all_handles_and_views_and_is_read_as_before) {
  const Device device = open();
  const Array<float> weights = sealable(device, 6, 2.0f);
  const Array<float> copy = weights;
  const Array<float> view = value(value(weights.reshape({2, 3})).select(0, 1));
  EXPECT_FALSE(view.is_sealed());
  value(device.seal(view).get());
  for (const AnyArray& array : {AnyArray(weights), AnyArray(copy), AnyArray(view)}) {
    EXPECT_TRUE(array.is_sealed());
    EXPECT_EQ(kind_of(device.fill(array, 1.0f).get()), ErrorKind::invalid_argument);
  }
  const Array<float> to = value(device.array<float>({6}));
  EXPECT_TRUE(device.copy(weights, to).get());
  EXPECT_TRUE(all_equal(device, to, 2.0f));
  EXPECT_TRUE(all_equal(device, view, 2.0f));
  EXPECT_EQ(value(device.blas().dot(weights, to).get()), 24.0f);
}

TEST_F(Seal, can_be_broken_and_set_again) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 1.0f);
  for (int i = 2; i < 5; ++i) {
    value(device.seal(weights).get());
    value(device.seal(weights).get());
    EXPECT_EQ(kind_of(device.fill(weights, 9.0f).get()), ErrorKind::invalid_argument);
    value(device.unseal(weights).get());
    EXPECT_FALSE(weights.is_sealed());
    value(device.unseal(weights).get());
    value(device.fill(weights, static_cast<float>(i)).get());
    EXPECT_TRUE(all_equal(device, weights, static_cast<float>(i)));
  }
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, comes_after_what_was_submitted_before_it) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> from = filled(device, {100}, 3.0f);
  const Array<float> weights = sealable(device, 100, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(from), writes(weights)}).submit());
  ASSERT_TRUE(device.blas().axpy(1.0f, from, weights).submit());
  std::atomic<bool> is_through = false;
  std::jthread sealer([&] {
    value(device.seal(weights).get());
    is_through = true;
  });
  gate.wait_until_begun();
  EXPECT_TRUE(device.nop().get());
  EXPECT_FALSE(is_through);
  gate.open();
  sealer.join();
  EXPECT_TRUE(all_equal(device, weights, 6.0f));
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, comes_after_writes_that_have_to_be_run_again) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> from = filled(device, {100}, 3.0f);
  const Array<float> weights = sealable(device, 100, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(from), writes(weights)}).submit());
  ASSERT_TRUE(device.copy(from, weights).submit());
  ASSERT_TRUE(device.seal(weights).submit());
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  EXPECT_TRUE(device.seal(weights).get());
  EXPECT_TRUE(all_equal(device, weights, 3.0f));
  EXPECT_EQ(device.stats().culprits, 0U);
}

TEST_F(Seal, waits_for_ops_that_read_and_holds_up_those_behind_it_and_nobody_else) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> weights = sealable(device, 100'000, 3.0f);
  const Array<float> to = filled(device, {100'000}, 0.0f), behind = filled(device, {100'000}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(weights), writes(to)}).submit());
  gate.wait_until_begun();
  EXPECT_EQ(kind_of(device.seal(weights).deadline(std::chrono::milliseconds(20)).get()), ErrorKind::deadline_exceeded);
  EXPECT_FALSE(weights.is_sealed());
  ASSERT_TRUE(device.seal(weights).submit());
  std::atomic<bool> is_through = false;
  std::jthread reader([&] {
    value(device.copy(weights, behind).get());
    EXPECT_TRUE(weights.is_sealed()) << "the seal came first";
    is_through = true;
  });
  for (int i = 0; i < 100; ++i) value(device.nop().get());
  const Array<float> other = filled(device, {10}, 4.0f);
  EXPECT_TRUE(all_equal(device, other, 4.0f));
  EXPECT_FALSE(is_through);
  gate.open();
  reader.join();
  EXPECT_TRUE(all_equal(device, to, 3.0f));
  EXPECT_TRUE(all_equal(device, behind, 3.0f));
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, refuses_a_write_that_was_made_before_and_is_submitted_after) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 1.0f);
  const Array<float> other = filled(device, {1000}, 1.0f);
  Call<void> waited_for = bad(device, "copy", {writes(other), writes(weights)});
  Call<void> let_go = bad(device, "copy", {writes(other), writes(weights)});
  value(device.seal(weights).get());
  EXPECT_EQ(kind_of(std::move(waited_for).get()), ErrorKind::invalid_argument);
  EXPECT_TRUE(all_equal(device, other, 1.0f)) << "it was not begun";
  EXPECT_TRUE(std::move(let_go).submit()) << "nobody waits for its end";
  EXPECT_EQ(kind_of(device.wait_for(other).get()), ErrorKind::buffer_tainted) << "so it shows in what it would write";
  EXPECT_TRUE(all_equal(device, weights, 1.0f)) << "but not in what is sealed";
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, and_writes_at_the_same_moment_do_not_hurt_each_other) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 1.0f);
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 2; ++i)
    writers.emplace_back([&] {
      while (!is_over) {
        const Result<void> end = device.fill(weights, 1.0f).get();
        EXPECT_TRUE(end || end.error().kind() == ErrorKind::invalid_argument) << end.error().to_string();
      }
    });
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(device.seal(weights).get());
    EXPECT_TRUE(device.unseal(weights).get());
  }
  is_over = true;
  writers.clear();
  EXPECT_TRUE(all_equal(device, weights, 1.0f));
  EXPECT_EQ(device.generation(), 1) << "a write is taken before the seal or refused, and never runs into it";
}

TEST_F(Seal, is_refused_while_something_is_unknown) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 1.0f);
  EXPECT_FALSE(bad(device, "error", {writes(weights)}).get());
  EXPECT_EQ(kind_of(device.seal(weights).get()), ErrorKind::buffer_tainted);
  EXPECT_FALSE(weights.is_sealed());
  ASSERT_TRUE(device.fill(weights, 2.0f).get());
  EXPECT_TRUE(device.seal(weights).get());
  EXPECT_TRUE(all_equal(device, weights, 2.0f));
}

TEST_F(Seal, survives_the_death_of_workers) {
  const Device device = open();
  const Array<float> weights = sealed(device, 1000, 4.0f);
  for (int i = 0; i < 3; ++i) {
    kill_worker(device);
    EXPECT_TRUE(all_equal(device, weights, 4.0f));
    EXPECT_EQ(kind_of(device.fill(weights, 1.0f).get()), ErrorKind::invalid_argument);
  }
  EXPECT_EQ(kind_of(end_of_scribble(device, weights)), ErrorKind::worker_crashed);
  EXPECT_TRUE(all_equal(device, weights, 4.0f));
  value(device.unseal(weights).get());
  kill_worker(device);
  EXPECT_TRUE(device.fill(weights, 1.0f).get());
}

TEST_F(Seal, ends_well_while_workers_are_killed) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 0.0f);
  for (int i = 1; i < 10; ++i) {
    eventually([&] { return device.kill_worker(); });
    ASSERT_TRUE(device.seal(weights).get());
    ASSERT_EQ(kind_of(end_of_scribble(device, weights)), ErrorKind::worker_crashed);
    eventually([&] { return device.kill_worker(); });
    ASSERT_TRUE(device.unseal(weights).get());
    ASSERT_TRUE(device.fill(weights, static_cast<float>(i)).get());
    ASSERT_TRUE(all_equal(device, weights, static_cast<float>(i)));
  }
}

TEST_F(Seal, memory_goes_back_when_the_last_handle_is_gone) {
  const Device device = open();
  const Array<float> usual = filled(device, {10}, 1.0f);
  const VaultStats before = device.stats().memory;
  for (int round = 0; round < 3; ++round) {
    std::vector<Array<float>> arrays;
    for (int i = 0; i < 20; ++i) arrays.push_back(sealed(device, 1000, static_cast<float>(i)));
    EXPECT_EQ(device.stats().memory.chunks, before.chunks + 20);
    for (int i = 0; i < 20; ++i)
      EXPECT_TRUE(all_equal(device, arrays[static_cast<std::size_t>(i)], static_cast<float>(i)));
    arrays.clear();
    const Array<float> next = value(device.array<float>({1000}));
    EXPECT_TRUE(device.fill(next, 7.0f).get()) << "what is used again is not sealed";
    EXPECT_TRUE(all_equal(device, next, 7.0f));
  }
  eventually([&] { return device.stats().memory.chunks == before.chunks; });
  const VaultStats after = device.stats().memory;
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.used_bytes, before.used_bytes);
  EXPECT_EQ(after.reserved_bytes, before.reserved_bytes);
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, of_many_at_once_and_of_those_whose_handle_is_dropped) {
  const Device device = open();
  std::vector<Array<float>> arrays;
  for (int i = 0; i < 30; ++i) arrays.push_back(sealable(device, 100, 1.0f));
  for (int i = 0; i < 10; ++i)
    for (const Array<float>& array : arrays) {
      ASSERT_TRUE(device.seal(array).submit());
      ASSERT_TRUE(device.unseal(array).submit());
    }
  for (const Array<float>& array : arrays) ASSERT_TRUE(device.seal(array).submit());
  for (std::size_t i = 0; i < arrays.size(); i += 2) arrays[i] = {};
  for (std::size_t i = 1; i < arrays.size(); i += 2) {
    ASSERT_TRUE(device.unseal(arrays[i]).get());
    ASSERT_TRUE(device.fill(arrays[i], 2.0f).get());
  }
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Seal, is_awaited_like_any_call_and_ends_when_the_device_does) {
  Device device = open();
  struct Sealer {
    struct Go {
      using Reply = bool;
      Device device;
      Array<float> array;
    };
    Task<Result<bool>> on(Go message) {
      CO_TRY(co_await message.device.seal(message.array));
      co_return message.array.is_sealed();
    }
  };
  const Array<float> weights = sealable(device, 10, 1.0f);
  const Ref<Sealer> sealer = value(system.spawn<Sealer>({}));
  EXPECT_TRUE(value(sealer.ask<Sealer::Go>(device, weights).get()));
  const Array<float> empty = value(device.sealable_array<float>({0}));
  EXPECT_TRUE(device.seal(empty).get()) << "it has nothing that could be written";
  device.close();
  EXPECT_EQ(kind_of(device.unseal(weights).get()), ErrorKind::stopped);
}

TEST_F(Seal, in_a_thread_of_the_app_is_the_same) {
  const Device device = open({.isolation = Isolation::thread, .standby = Standby::none});
  const Array<float> weights = sealed(device, 1000, 4.0f);
  EXPECT_EQ(kind_of(bad(device, "insist", {reads(weights)}).get()), ErrorKind::library_error);
  EXPECT_TRUE(all_equal(device, weights, 4.0f));
  value(device.unseal(weights).get());
  EXPECT_TRUE(device.fill(weights, 1.0f).get());
}

TEST_F(Seal, a_worker_that_does_not_do_it_is_replaced) {
  const Device device = open();
  const Array<float> weights = sealable(device, 1000, 4.0f);
  value(bad(device, "stun").get());
  EXPECT_TRUE(device.seal(weights).get());
  EXPECT_GT(device.generation(), 1);
  eventually([&] { return log.has("the worker did not seal or unseal memory within 10 s"); });
  EXPECT_EQ(kind_of(end_of_scribble(device, weights)), ErrorKind::worker_crashed);
  EXPECT_TRUE(all_equal(device, weights, 4.0f));
}

int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

/// The process of our device's standby, by its name in `ps`; 0 when there is none.
int standby() {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    std::ifstream comm(entry.path() / "comm");
    std::string name;
    std::getline(comm, name);
    if (pid > 0 && name == "troupe:host:sby" && parent_of(parent_of(pid)) == getpid()) return pid;
  }
  return 0;
}

TEST_F(Seal, a_standby_that_does_not_do_it_is_replaced_though_the_serving_worker_dies_meanwhile) {
  DeviceOptions options = patient();
  options.silence_limit = Duration(0);  // its silence is no reason
  const Device device = open(options);
  const Array<float> weights = sealable(device, 1000, 4.0f);
  int stopped = 0;
  eventually([&] { return (stopped = standby()) != 0; });
  ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
  ASSERT_TRUE(device.seal(weights).submit());
  eventually([&] { return weights.is_sealed(); });  // its turn has come
  ASSERT_TRUE(device.kill_worker());
  ASSERT_TRUE(device.seal(weights).deadline(std::chrono::minutes(1)).get());
  EXPECT_TRUE(all_equal(device, weights, 4.0f));
}

}  // namespace
}  // namespace troupe
