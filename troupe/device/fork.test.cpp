// The app forks, and the child uses what the parent has open: it gets an error, and ends like any other process.
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr std::string_view kAnswer = "this process is a fork; open a System of its own";

/// What `body` gives in a fork, where it runs before an ordinary `exit`; -1 when the fork crashes or does not end.
template <class Body>
int in_fork(const Body& body) {
  const pid_t fork_of_test = fork();
  if (fork_of_test == 0) {
    const int code = body();
    // A sanitizer would look for leaks then, on the stacks of threads that do not exist here.
    kSanitized ? _exit(code) : std::exit(code);  // NOLINT(concurrency-mt-unsafe): there is one thread
  }
  const int process = static_cast<int>(syscall(SYS_pidfd_open, fork_of_test, 0));
  pollfd end{.fd = process, .events = POLLIN, .revents = 0};
  if (poll(&end, 1, kPatienceMs) != 1) kill(fork_of_test, SIGKILL);
  close(process);
  int status = 0;
  waitpid(fork_of_test, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <class R>
bool is_refused(const Result<R>& result) {
  return !result && result.error().kind() == ErrorKind::stopped && result.error().message() == kAnswer;
}

/// The number of the first one that is false, counted from 1; 0 when all are true.
int first_false(std::initializer_list<bool> all) {
  int number = 0;
  for (const bool one : all) {
    ++number;
    if (!one) return number;
  }
  return 0;
}

struct Get {
  using Reply = int;
};
struct Add {};
struct Counter {
  int on(Get) { return count; }
  void on(Add) { ++count; }
  int count = 0;
};

class Fork : public DeviceTest {};

TEST_F(Fork, is_refused_every_op_and_every_array) {
  const Device device = open();
  const Array<float> array = filled(device, {1000}, 1.0f);
  const Array<float> large = filled(device, {4'000'000}, 1.0f);
  const std::vector<float> content(4'000'000);
  Call<void> made_before = device.fill(array, 7.0f);
  EXPECT_EQ(
      in_fork([&] {
        std::vector<float> into(1000);
        return first_false({is_refused(device.fill(array, 2.0f).get()),
                            is_refused(Result<void>(device.fill(array, 2.0f).submit())),
                            is_refused(device.fill(array, 2.0f).wait_at_most(std::chrono::seconds(1)).get()),
                            is_refused(std::move(made_before).get()), is_refused(device.read(array).get()),
                            is_refused(device.write(large, content).get()), is_refused(device.array<float>({10})),
                            is_refused(device.host_array<float>({10})), is_refused(device.sealable_array<float>({10})),
                            is_refused(system.device("host")), is_refused(system.device(0))});
      }),
      0);
  EXPECT_TRUE(all_equal(device, array, 1.0f));
  EXPECT_EQ(device.generation(), 1);
}

TEST_F(Fork, is_refused_every_ask_and_every_actor) {
  const Ref<Counter> counter = value(system.spawn<Counter>({}));
  value(counter.tell<Add>());
  EXPECT_EQ(in_fork([&] {
              counter.stop();
              return first_false({is_refused(counter.ask<Get>().get()),
                                  is_refused(counter.ask<Get>().wait_at_most(std::chrono::seconds(1)).get()),
                                  is_refused(counter.tell<Add>()), is_refused(system.spawn<Counter>({})),
                                  is_refused(system.pinned_thread("one")), is_refused(system.shutdown(Duration(0))),
                                  is_refused(system.run([]() -> Task<Result<int>> { co_return 1; }()))});
            }),
            0);
  EXPECT_EQ(value(counter.ask<Get>().get()), 1);
}

TEST_F(Fork, ends_with_what_the_parent_had_open_and_leaves_the_parent_its_workers) {
  std::optional<System> mine(std::in_place, system_options(log));
  std::optional<Device> device = value(mine->device("host", patient()));
  std::optional<Array<float>> array = filled(*device, {1000}, 1.0f);
  const int worker = device->worker_pid();
  EXPECT_EQ(in_fork([&] {
              const bool killed = device->kill_worker();
              device->close();
              array.reset();
              device.reset();
              mine.reset();
              return killed ? 1 : 0;
            }),
            0);
  EXPECT_EQ(device->worker_pid(), worker);
  EXPECT_TRUE(all_equal(*device, *array, 1.0f));
  EXPECT_EQ(device->generation(), 1);
}

TEST_F(Fork, ends_in_the_destructor_of_a_static_system) {
  static std::optional<System> lasting;
  lasting.emplace(system_options(log));
  EXPECT_EQ(in_fork([] { return 0; }), 0);
  lasting.reset();
}

TEST_F(Fork, ends_though_other_threads_of_the_parent_held_locks) {
  std::optional<Device> device = open();
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&, own = *device] {
      while (!stop.load()) {
        const Array<float> array = value(own.array<float>({1000}));
        value(own.fill(array, 1.0f).get());
      }
    });
  const Array<float> kept = filled(*device, {1000}, 3.0f);
  for (int i = 0; i < 20; ++i) {
    Array<float> shared = kept;
    EXPECT_EQ(in_fork([&] {
                shared = {};
                const bool refused = is_refused(device->array<float>({1000}));
                device.reset();
                return refused ? 0 : 1;
              }),
              0);
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_TRUE(all_equal(*device, kept, 3.0f));
}

TEST_F(Fork, can_open_a_system_of_its_own) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no fork of a process with threads start threads";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer lets no fork of a process with threads start threads";
#endif
#endif
  const Device device = open();
  EXPECT_EQ(in_fork([&] {
              System own({.threads = 2, .log = log_nothing()});
              const Device mine = value(own.device("host", patient()));
              return all_equal(mine, filled(mine, {1000}, 2.0f), 2.0f) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(device.generation(), 1);
}

}  // namespace
}  // namespace troupe
