// Workers that lie, say nothing, or say nonsense: the app believes none of it, and nobody waits for ever.
// tests/adversary (`./dev adversary`) changes everything that a worker can write at random.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "troupe/device/device_fixture.test.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/wire/channel.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Maps the memory that workers can write, found by its name, a second time: one mapping for each worker.
std::vector<std::byte*> shared_memory(const std::string& name, std::size_t size) {
  std::vector<std::byte*> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    if (!fs::read_symlink(entry.path(), ignored).string().starts_with("/memfd:" + name)) continue;
    const int opened = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) continue;
    void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    if (address != MAP_FAILED) found.push_back(static_cast<std::byte*>(address));
  }
  return found;
}

/// Does something with the status of each worker.
void with_statuses(const auto& do_with) {
  for (std::byte* memory : shared_memory("troupe-status", sizeof(wire::Status))) {
    do_with(*reinterpret_cast<wire::Status*>(memory));
    munmap(memory, sizeof(wire::Status));
  }
}

void with_lanes(const auto& do_with) {
  with_statuses([&](wire::Status& status) {
    for (wire::LaneStatus& lane : status.lanes) do_with(lane);
  });
}

class Adversary : public DeviceTest {
 protected:
  /// Quicker than the default.
  static DeviceOptions impatient() { return {.max_restarts = 1000, .silence_limit = 1s}; }

  /// The processes of this program's workers.
  static std::vector<int> workers() {
    std::vector<int> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid > 0 && fs::read_symlink(entry.path() / "exe", ignored).filename() == "troupe-worker" && is_ours(pid))
        found.push_back(pid);
    }
    return found;
  }
  /// Returns when it stands still: a signal takes a moment to arrive.
  static void stop(int pid) {
    ASSERT_GT(pid, 0);
    ASSERT_EQ(kill(pid, SIGSTOP), 0);
    eventually([&] {
      std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, state;
      return file >> number >> name >> state && state == "T";
    });
  }
  static void wait_for_standby() {
    eventually([] { return workers().size() == 2 && count_of_live() == 2; });
  }
  /// The one that does not serve.
  static int standby_of(const Device& device) {
    wait_for_standby();
    for (const int pid : workers())
      if (pid != device.worker_pid()) return pid;
    return 0;
  }

 private:
  /// Workers that have given a sign of life.
  static int count_of_live() {
    int live = 0;
    with_statuses([&](wire::Status& status) { live += status.heartbeat.load() != 0; });
    return live;
  }
  /// A worker's parent is its keeper, whose parent we are.
  static bool is_ours(int pid) {
    std::error_code ignored;
    for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task", ignored)) {
      std::ifstream keepers(task.path() / "children");
      for (int keeper = 0; keepers >> keeper;) {
        std::ifstream children("/proc/" + std::to_string(keeper) + "/task/" + std::to_string(keeper) + "/children");
        for (int child = 0; children >> child;)
          if (child == pid) return true;
      }
    }
    return false;
  }
};

// ---- words in shared memory ----

TEST_F(Adversary, a_timeline_that_is_ahead_gives_no_value_for_an_op_that_did_not_run) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  wait_for_standby();
  const int pid = device.worker_pid();
  stop(pid);  // so that it runs nothing
  std::jthread liar([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      with_lanes([&](wire::LaneStatus& lane) {
        const std::uint64_t word = lane.timeline.load();
        if (word != 0 && device.worker_pid() == pid) lane.timeline.store(word + (std::uint64_t{1} << 32));
      });
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(device.fill(array, 2.0f).get()) << "by another worker";
  liar.request_stop();
  liar.join();
  EXPECT_TRUE(all_equal(device, array, 2.0f));
  EXPECT_GT(device.generation(), 1);
  eventually([&] { return log.has("was overwritten"); });
}

TEST_F(Adversary, a_timeline_that_is_behind_costs_its_worker_and_no_deadline) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  with_lanes([](wire::LaneStatus& lane) { lane.timeline.store(0), lane.begun.store(0); });
  for (int i = 0; i < 20; ++i) (void)device.fill(array, 2.0f).deadline(5s).get();
  EXPECT_TRUE(device.fill(array, 3.0f).deadline(30s).get());
  EXPECT_TRUE(all_equal(device, array, 3.0f));
}

TEST_F(Adversary, scribbled_bells_delay_an_op_and_do_not_lose_it) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  for (std::byte* bells : shared_memory("troupe-bells", sizeof(wire::BellPage)))
    for (const int with : {0, 1, 2, 255}) {
      for (int i = 0; i < 5; ++i) {
        eventually([&] {  // until the app sleeps
          return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(bells)).load() == 1;
        });
        std::memset(bells, with, sizeof(wire::BellPage));
        ASSERT_TRUE(device.fill(array, 2.0f).deadline(20s).get()) << with;
      }
    }
  kill_worker(device);  // the standby's bell was scribbled on, too
  EXPECT_TRUE(device.fill(array, 3.0f).deadline(20s).get());
}

TEST_F(Adversary, words_of_what_had_begun_that_were_wiped_out_do_not_save_a_culprit) {
  const Device device = open({.max_restarts = 20});
  const Array<float> array = filled(device, {100}, 1.0f);
  std::jthread liar([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) with_lanes([](wire::LaneStatus& lane) { lane.begun.store(0); });
  });
  EXPECT_EQ(kind_of(bad(device, "abort").get()), ErrorKind::worker_crashed);
  liar.request_stop();
  liar.join();
  EXPECT_TRUE(device.fill(array, 2.0f).get());
  EXPECT_LT(device.generation(), 15) << "the app counts for itself how often it was tried";
}

TEST_F(Adversary, a_reply_that_was_wiped_out_is_no_success) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  std::atomic<bool> done{false};
  std::thread liar([&] {
    while (!done.load())
      for (std::byte* memory : shared_memory("troupe-status", sizeof(wire::Status) + 4096 * wire::kUnitBytes)) {
        std::memset(memory + sizeof(wire::Status), 0, 4096 * wire::kUnitBytes);
        munmap(memory, sizeof(wire::Status) + 4096 * wire::kUnitBytes);
      }
  });
  int failures = 0;
  for (int i = 0; i < 100; ++i) {
    const Result<void> end = bad(device, "error", {writes(array)}).deadline(30s).get();
    EXPECT_FALSE(end);
    failures += !end;
  }
  done.store(true);
  liar.join();
  EXPECT_EQ(failures, 100);
}

// ---- what it says ----

TEST_F(Adversary, a_worker_that_says_nonsense_or_hangs_up_is_replaced) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  const std::string nonsense = "nonsense", too_long(100'000, 'x');
  for (const std::string& words : {nonsense, too_long, std::string()}) {
    const std::int64_t generation = device.generation();
    (void)bad(device, "say", {}, std::as_bytes(std::span(words))).get();
    if (words.size() < 4096) eventually([&] { return device.generation() > generation; });
    EXPECT_TRUE(device.fill(array, 2.0f).deadline(30s).get());
  }
}

TEST_F(Adversary, a_worker_that_has_hung_up_is_not_waited_for) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 1.0f);
  // A busy machine may take that long now and then; a process that is waited for takes it every time.
  Duration quickest = Duration::max();
  for (int round = 0; round < 10 && quickest >= 700ms; ++round) {
    wait_for_standby();
    const std::int64_t generation = device.generation();
    const auto begin = std::chrono::steady_clock::now();
    (void)bad(device, "say").get();
    eventually([&] { return device.generation() > generation; });
    quickest = std::min(quickest, Duration(std::chrono::steady_clock::now() - begin));
    EXPECT_TRUE(device.fill(array, 2.0f).get());
  }
  EXPECT_LT(quickest, 700ms) << "though its process lives on for a second";
}

// ---- silence ----

TEST_F(Adversary, a_stopped_worker_is_replaced_though_it_has_nothing_to_do) {
  const Device device = open(impatient());
  const Array<float> array = filled(device, {100}, 1.0f);
  stop(device.worker_pid());
  eventually([&] { return device.generation() > 1; });
  EXPECT_TRUE(device.fill(array, 2.0f).get());
  eventually([&] { return log.has("gave no sign of life for 1 s"); });
}

TEST_F(Adversary, an_op_in_a_stopped_worker_is_run_by_the_next) {
  const Device device = open(impatient());
  const Array<float> array = filled(device, {100}, 1.0f);
  wait_for_standby();
  stop(device.worker_pid());
  EXPECT_TRUE(device.fill(array, 2.0f).get());
  EXPECT_TRUE(all_equal(device, array, 2.0f));
}

TEST_F(Adversary, a_stopped_standby_is_replaced_and_never_serves_for_long) {
  const Device device = open(impatient());
  const Array<float> array = filled(device, {100}, 1.0f);
  const int standby = standby_of(device);
  stop(standby);
  eventually([&] {
    const std::vector<int> all = workers();
    return std::ranges::find(all, standby) == all.end();
  });
  EXPECT_EQ(device.generation(), 1);

  stop(standby_of(device));
  kill_worker(device);
  EXPECT_TRUE(device.fill(array, 2.0f).get()) << "the stopped one takes over, and is replaced";
}

TEST_F(Adversary, a_process_that_never_gives_a_first_sign_of_life_is_replaced_long_before_it_must_have_started) {
  const fs::path folder = fs::path(testing::TempDir()) / ("troupe-silent-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path silence = folder / "silence";
  const std::string script = (folder / "worker").string();
  std::ofstream(script) << "#!/bin/sh\n[ -e '" << silence.string() << "' ] && exec sleep 1000\nexec '"
                        << value(find_worker_executable({})) << "' \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  DeviceOptions options = impatient();
  options.start_timeout = 10min;
  options.worker_executable = script;
  const Device device = open(options);
  const Array<float> array = filled(device, {100}, 1.0f);
  wait_for_standby();

  std::ofstream(silence) << "";
  kill_worker(device);  // the standby serves, and the one that is started now says nothing
  eventually([&] { return log.has("gave no sign of life for 2 s"); });
  fs::remove_all(silence);
  wait_for_standby();
  EXPECT_TRUE(device.fill(array, 2.0f).get());
  fs::remove_all(folder);
}

// ---- skipped is not cut off ----

TEST_F(Adversary, an_op_that_was_skipped_leaves_its_array_as_it_was) {
  const Device device = open();
  const Array<float> lost = filled(device, {100}, 1.0f);
  const Array<float> parameters = filled(device, {100}, 5.0f);
  ASSERT_FALSE(bad(device, "error", {writes(lost)}).get());
  EXPECT_EQ(lost.content(), Content::unknown);
  EXPECT_EQ(kind_of(device.blas().axpy(1.0, lost, parameters).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(parameters.content(), Content::skipped);
  EXPECT_EQ(kind_of(device.read(parameters).get()), ErrorKind::buffer_tainted) << "not without a word of its owner";
  EXPECT_TRUE(parameters.accept_skipped());
  EXPECT_EQ(parameters.content(), Content::whole);
  EXPECT_TRUE(all_equal(device, parameters, 5.0f));
  EXPECT_EQ(kind_of(lost.accept_skipped()), ErrorKind::buffer_tainted);
}

TEST_F(Adversary, what_was_submitted_behind_a_crash_and_skipped_is_as_it_was) {
  const Device device = open();
  const Array<float> lost = filled(device, {100}, 1.0f);
  const Array<float> parameters = filled(device, {100}, 5.0f);
  ASSERT_EQ(kind_of(bad(device, "null", {updates(lost)}).get()), ErrorKind::worker_crashed);
  ASSERT_TRUE(device.blas().axpy(1.0, lost, parameters).submit());
  EXPECT_EQ(kind_of(device.wait_for(parameters).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(parameters.content(), Content::skipped);
  EXPECT_TRUE(parameters.accept_skipped());
  EXPECT_TRUE(all_equal(device, parameters, 5.0f));
}

TEST_F(Adversary, an_op_that_nobody_waits_for_and_that_fails_before_it_begins_does_not_leave_old_content_as_good) {
  const Device device = open();
  const Array<float> array = filled(device, {100}, 5.0f);
  ASSERT_TRUE(device.call_plugin("/nowhere/plugin.so", "scale", {updates(array)}).submit());
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(array.content(), Content::skipped);
  EXPECT_TRUE(array.accept_skipped());
  EXPECT_TRUE(all_equal(device, array, 5.0f));

  EXPECT_FALSE(device.call_plugin("/nowhere/plugin.so", "scale", {updates(array)}).get());
  EXPECT_EQ(array.content(), Content::whole) << "its caller was told";
}

}  // namespace
}  // namespace troupe
