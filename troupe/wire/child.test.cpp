#include "troupe/wire/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe::wire {
namespace {

constexpr int kPatienceMs = 20'000;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  Descriptor read_end, write_end;
};

ChildOptions shell(std::string script) { return {"/bin/sh", {"-c", std::move(script)}, {}, {}}; }

/// A child that lives until its input ends, which it never does while `input` is open.
Child spawn_idle(const Pipe& input) { return value(Child::spawn({"/bin/cat", {}, {{0, input.read_end.get()}}, {}})); }

/// What the child writes to its standard output until it ends.
std::string output_of(ChildOptions options) {
  Pipe output;
  options.descriptors.emplace_back(1, output.write_end.get());
  Child child = value(Child::spawn(options));
  output.write_end.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(output.read_end.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  EXPECT_EQ(child.reap().to_string(), "exited with code 0");
  return text;
}

bool exists(int pid) { return std::filesystem::exists("/proc/" + std::to_string(pid)); }

bool has_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    if (word == "PPid:" && status >> word) return std::stoi(word);
  }
  return -1;
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
}

bool becomes_readable(int descriptor) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, kPatienceMs) == 1;
}

/// Leaves three processes behind when its input ends: two that began sessions of their own, and a child of one of them.
/// It prints their ids.
ChildOptions leaves_stragglers(const Pipe& input, const Pipe& output) {
  ChildOptions options = shell(
      "setsid sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'sleep 1000 & echo $!; echo $$; wait' & read end; exit "
      "3");
  options.descriptors = {{0, input.read_end.get()}, {1, output.write_end.get()}};
  return options;
}

std::vector<int> read_ids(const Pipe& output, std::ptrdiff_t count) {
  std::string text;
  char letter = 0;
  while (std::ranges::count(text, '\n') < count && read(output.read_end.get(), &letter, 1) == 1) text += letter;
  std::vector<int> ids;
  std::istringstream lines(text);
  for (int id = 0; lines >> id;) ids.push_back(id);
  return ids;
}

Descriptor open_process(int pid) { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

}  // namespace

TEST(Child, ends_with_the_code_it_exits_with) {
  EXPECT_EQ(value(Child::spawn({"/bin/true", {}, {}, {}})).reap().to_string(), "exited with code 0");
  const ChildEnd end = value(Child::spawn(shell("exit 3"))).reap();
  EXPECT_FALSE(end.signalled);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.to_string(), "exited with code 3");
}

TEST(Child, ends_with_the_signal_that_killed_it) {
  const Pipe input;
  Child child = spawn_idle(input);
  EXPECT_FALSE(child.try_reap());
  ASSERT_TRUE(child.kill());
  EXPECT_EQ(child.reap().to_string(), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(value(Child::spawn(shell("kill -SEGV $$"))).reap().to_string(), "was killed by signal 11 (SIGSEGV)");
}

TEST(Child, gives_the_same_end_again_and_takes_signals_when_it_has_ended) {
  Child child = value(Child::spawn(shell("exit 5")));
  EXPECT_EQ(child.reap().code, 5);
  EXPECT_EQ(child.reap().code, 5);
  EXPECT_EQ(child.try_reap()->code, 5);
  EXPECT_TRUE(child.kill());
}

TEST(Child, makes_its_pidfd_readable_when_it_can_be_reaped) {
  Pipe input;
  Child child = spawn_idle(input);
  input.write_end.reset();
  ASSERT_TRUE(becomes_readable(child.pidfd().get()));
  const auto end = child.try_reap();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->to_string(), "exited with code 0");
}

TEST(Child, is_reaped_without_a_zombie) {
  Child child = value(Child::spawn({"/bin/true", {}, {}, {}}));
  const int pid = child.pid();
  child.reap();
  EXPECT_FALSE(exists(pid));
  EXPECT_FALSE(has_children());
}

TEST(Child, is_killed_and_reaped_by_its_destructor) {
  const Pipe input;
  int pid = 0;
  {
    const Child child = spawn_idle(input);
    pid = child.pid();
    EXPECT_TRUE(exists(pid));
  }
  EXPECT_FALSE(exists(pid));
  EXPECT_FALSE(has_children());
}

TEST(Child, leaves_no_descriptors_behind) {
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) value(Child::spawn({"/bin/true", {}, {}, {}})).reap();
  EXPECT_FALSE(Child::spawn({"/nowhere", {}, {}, {}}));
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Child, names_an_executable_that_is_missing_or_none) {
  for (const char* executable : {"/nowhere/at/all", "/etc/passwd", "/", ""}) {
    const auto child = Child::spawn({executable, {}, {}, {}});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(child.error().message().find("\"" + std::string(executable) + "\""), std::string_view::npos);
  }
  EXPECT_FALSE(has_children());
}

TEST(Child, sees_exactly_the_descriptors_given) {
  const Pipe kept;
  const Descriptor leaking(dup(kept.read_end.get()));  // without close-on-exec
  ChildOptions options = shell("i=3; while [ $i -lt 200 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done; :");
  options.descriptors = {{3, kept.read_end.get()}, {150, kept.read_end.get()}};
  EXPECT_EQ(output_of(options), "3\n150\n");
}

TEST(Child, can_have_descriptors_in_each_others_places) {
  Pipe first, second;
  ASSERT_EQ(write(first.write_end.get(), "first\n", 6), 6);
  ASSERT_EQ(write(second.write_end.get(), "second\n", 7), 7);
  const int a = first.read_end.get(), b = second.read_end.get();
  ChildOptions options = shell("read x <&" + std::to_string(a) + "; read y <&" + std::to_string(b) + "; echo $x $y");
  options.descriptors = {{a, b}, {b, a}};
  EXPECT_EQ(output_of(options), "second first\n");
}

TEST(Child, refuses_descriptors_that_cannot_be) {
  using Descriptors = std::vector<std::pair<int, int>>;
  for (const Descriptors& wrong : {Descriptors{{3, -1}}, {{3, 1'000'000}}, {{-3, 0}}, {{3, 0}, {3, 1}}}) {
    const auto child = Child::spawn({"/bin/true", {}, wrong, {}});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().kind(), ErrorKind::invalid_argument) << child.error().message();
  }
  EXPECT_EQ(Child::spawn({"/bin/true", {}, {{INT_MAX, 0}}, {}}).error().kind(), ErrorKind::out_of_memory);
}

TEST(Child, gets_our_environment_and_what_is_added) {
  ASSERT_EQ(setenv("TROUPE_TEST_OURS", "ours", 1), 0);
  ASSERT_EQ(setenv("TROUPE_TEST_CHANGED", "before", 1), 0);
  ChildOptions options = shell("echo $TROUPE_TEST_OURS $TROUPE_TEST_CHANGED $TROUPE_TEST_ADDED");
  options.environment = {"TROUPE_TEST_CHANGED=after", "TROUPE_TEST_ADDED=a=b"};
  EXPECT_EQ(output_of(options), "ours after a=b\n");
  options.environment = {"no value"};
  EXPECT_EQ(Child::spawn(options).error().kind(), ErrorKind::invalid_argument);
}

TEST(Child, gets_its_arguments_unchanged) {
  EXPECT_EQ(output_of({"/bin/echo", {"two words", "", "$HOME"}, {}, {}}), "two words  $HOME\n");
}

TEST(Child, is_not_seen_by_the_apps_own_wait) {
  Child child = value(Child::spawn({"/bin/true", {}, {}, {}}));
  ASSERT_TRUE(becomes_readable(child.pidfd().get()));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(child.reap().code, 0);
}

TEST(Child, sends_the_app_no_signal) {
  sigset_t child_signal, before, pending;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_signal, &before);
  value(Child::spawn({"/bin/true", {}, {}, {}})).reap();
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGCHLD));
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(Child, keeps_its_end_when_the_app_ignores_its_children) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(value(Child::spawn(shell("exit 4"))).reap().code, 4);
  std::signal(SIGCHLD, before);
}

TEST(Child, starts_with_default_signals_though_the_app_blocks_and_ignores_them) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const auto ignored = std::signal(SIGUSR1, SIG_IGN);
  const ChildEnd end = value(Child::spawn(shell("kill -USR1 $$; exit 0"))).reap();
  sigset_t after;
  sigprocmask(SIG_SETMASK, &before, &after);
  std::signal(SIGUSR1, ignored);
  EXPECT_EQ(end.to_string(), "was killed by signal 10 (SIGUSR1)");
  EXPECT_TRUE(sigismember(&after, SIGUSR2));  // the app's mask is as it was
}

TEST(Child, dies_when_the_app_is_killed) {
  const Pipe input, report;
  const pid_t app = fork();
  if (app == 0) {
    const Child child = spawn_idle(input);
    const int pid = child.pid();
    if (write(report.write_end.get(), &pid, sizeof pid) != sizeof pid) _exit(1);
    for (;;) pause();
  }
  int pid = 0;
  ASSERT_EQ(read(report.read_end.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const Descriptor child = open_process(pid);
  ASSERT_TRUE(child);
  kill(app, SIGKILL);
  EXPECT_EQ(waitpid(app, nullptr, 0), app);
  EXPECT_TRUE(becomes_readable(child.get()));
}

TEST(Child, dies_with_the_thread_that_spawned_it) {
  const Pipe input;
  std::optional<Child> child;
  std::thread([&] { child = spawn_idle(input); }).join();
  EXPECT_EQ(child->reap().to_string(), "was killed by signal 9 (SIGKILL)");
}

TEST(Child, can_be_spawned_by_several_threads_at_once) {
  std::vector<std::thread> threads;
  for (int code = 1; code <= 4; ++code) {
    threads.emplace_back([code] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(value(Child::spawn(shell("exit " + std::to_string(code)))).reap().code, code);
        EXPECT_EQ(Child::spawn({"/nowhere", {}, {}, {}}).error().origin().native_code, ENOENT);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(has_children());
}

TEST(Child, dies_with_its_keeper) {
  const Pipe input;
  Child child = spawn_idle(input);
  const int pid = child.pid();
  kill(parent_of(pid), SIGKILL);
  ASSERT_TRUE(becomes_readable(child.pidfd().get()));
  EXPECT_EQ(child.reap().to_string(), "was killed by signal 9 (SIGKILL)");
  EXPECT_FALSE(has_children());
}

TEST(Child, ends_the_processes_that_it_leaves_behind) {
  Pipe input;
  const Pipe output;
  Child child = value(Child::spawn(leaves_stragglers(input, output)));
  const std::vector<int> left_behind = read_ids(output, 3);
  ASSERT_EQ(left_behind.size(), 3u);
  for (const int pid : left_behind) EXPECT_TRUE(exists(pid));
  input.write_end.reset();
  EXPECT_EQ(child.reap().to_string(), "exited with code 3");
  for (const int pid : left_behind) EXPECT_FALSE(exists(pid));
  EXPECT_FALSE(has_children());
}

TEST(Child, ends_them_when_it_is_killed_and_when_nobody_reaps) {
  const Pipe input, output;
  std::optional<Child> child = value(Child::spawn(leaves_stragglers(input, output)));
  const std::vector<int> left_behind = read_ids(output, 3);
  ASSERT_EQ(left_behind.size(), 3u);
  std::vector<Descriptor> processes;
  for (const int pid : left_behind) processes.push_back(open_process(pid));
  ASSERT_TRUE(child->kill());
  for (const Descriptor& process : processes) EXPECT_TRUE(becomes_readable(process.get()));
}

TEST(Child, ends_them_when_the_app_is_killed) {
  const Pipe input, output;
  const pid_t app = fork();
  if (app == 0) {
    const Child child = value(Child::spawn(leaves_stragglers(input, output)));
    for (;;) pause();
  }
  std::vector<Descriptor> processes;
  for (const int pid : read_ids(output, 3)) processes.push_back(open_process(pid));
  ASSERT_EQ(processes.size(), 3u);
  kill(app, SIGKILL);
  EXPECT_EQ(waitpid(app, nullptr, 0), app);
  for (const Descriptor& process : processes) EXPECT_TRUE(becomes_readable(process.get()));
}

TEST(Child, has_its_orphans_buried_while_it_lives) {
  Pipe input;
  const Pipe output;
  ChildOptions options = shell("(sh -c 'echo $$' &); read end");
  options.descriptors = {{0, input.read_end.get()}, {1, output.write_end.get()}};
  Child child = value(Child::spawn(options));
  const std::vector<int> orphan = read_ids(output, 1);
  ASSERT_EQ(orphan.size(), 1u);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (exists(orphan[0]) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_FALSE(exists(orphan[0]));
  EXPECT_FALSE(child.try_reap());
}

TEST(Child, is_heard_of_though_its_keeper_was_stopped) {
  const Pipe input;
  Child child = spawn_idle(input);
  ASSERT_EQ(kill(parent_of(child.pid()), SIGSTOP), 0);
  ASSERT_TRUE(child.kill());
  ASSERT_TRUE(becomes_readable(child.pidfd().get()));
  const auto end = child.try_reap();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->to_string(), "was killed by signal 9 (SIGKILL)");
}

TEST(Child, outlives_a_fork_of_the_app) {
  Pipe input;
  std::optional<Child> child = spawn_idle(input);
  const pid_t fork_of_app = fork();
  if (fork_of_app == 0) {
    child.reset();
    _exit(0);
  }
  EXPECT_EQ(waitpid(fork_of_app, nullptr, 0), fork_of_app);
  input.write_end.reset();
  EXPECT_EQ(child->reap().to_string(), "exited with code 0");
}

}  // namespace troupe::wire
