#include "troupe/wire/zygote.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace troupe::wire {
namespace {

constexpr int kPatienceMs = 20'000;

/// A process that forks workers which do that, and no imports. It dies with the object.
class SmallZygote {
 public:
  explicit SmallZygote(const std::function<void()>& work) {
    auto [ours, theirs] = value(Socket::make_pair());
    pid_ = fork();
    if (pid_ == 0) {
      ours = Socket(Descriptor());
      serve(Socket(std::move(theirs)), work);
      _exit(0);
    }
    socket_.emplace(std::move(ours));
  }
  SmallZygote(const SmallZygote&) = delete;
  ~SmallZygote() {
    end();
    waitpid(pid_, nullptr, 0);
  }
  void end() const { kill(pid_, SIGKILL); }
  Socket& socket() { return *socket_; }

 private:
  static void serve(Socket app, const std::function<void()>& work) {
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
      Result<ForkOrder> order = receive_order(app);
      if (!order) return;
      const pid_t zygote = getpid();
      if (fork() != 0) continue;
      if (!begin_to_keep(zygote)) _exit(1);
      const pid_t keeper = getpid();
      if (const pid_t worker = fork()) keep_fork(std::move(app), std::move(*order), worker);
      if (!begin_fork(std::move(app), std::move(*order), keeper)) _exit(1);
      work();
      _exit(0);
    }
  }

  pid_t pid_ = 0;
  std::optional<Socket> socket_;
};

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  Descriptor read_end, write_end;
};

bool has_ended(const Child& child) {
  pollfd entry{.fd = child.pidfd().get(), .events = POLLIN, .revents = 0};
  return poll(&entry, 1, kPatienceMs) == 1;
}

TEST(Zygote, forks_a_child_with_the_descriptors_of_the_order) {
  SmallZygote zygote([] { (void)!write(9, "here", 4); });
  Pipe output;
  Child child = value(order_fork(zygote.socket(), {{9, output.write_end.get()}}));
  output.write_end.reset();
  char text[8] = {};
  EXPECT_EQ(read(output.read_end.get(), text, sizeof text), 4);
  EXPECT_STREQ(text, "here");
  EXPECT_EQ(child.reap().to_string(), "exited with code 0");
}

TEST(Zygote, forks_one_after_another_and_tells_how_each_has_ended) {
  SmallZygote exits([] { _exit(7); });
  SmallZygote crashes([] { raise(SIGUSR1); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(value(order_fork(exits.socket(), {})).reap().to_string(), "exited with code 7");
    EXPECT_EQ(value(order_fork(crashes.socket(), {})).reap().to_string(), "was killed by signal 10 (SIGUSR1)");
  }
}

TEST(Zygote, its_forks_can_be_killed_and_are_gone_then) {
  SmallZygote zygote([] { pause(); });
  Child child = value(order_fork(zygote.socket(), {}));
  const pid_t pid = child.pid();
  EXPECT_EQ(kill(pid, 0), 0);
  EXPECT_FALSE(child.try_reap());
  ASSERT_TRUE(child.kill());
  EXPECT_EQ(child.reap().to_string(), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(kill(pid, 0), -1);  // not even a zombie
}

TEST(Zygote, its_forks_end_with_it) {
  SmallZygote zygote([] { pause(); });
  Child child = value(order_fork(zygote.socket(), {}));
  zygote.end();
  EXPECT_TRUE(has_ended(child));
  EXPECT_EQ(child.reap().to_string(), "was killed by signal 9 (SIGKILL)");
}

TEST(Zygote, what_its_forks_leave_behind_is_ended) {
  SmallZygote zygote([] {
    if (fork() == 0) {
      setsid();
      const pid_t self = getpid();
      (void)!write(9, &self, sizeof self);
      pause();
    }
    pause();
  });
  Pipe output;
  Child child = value(order_fork(zygote.socket(), {{9, output.write_end.get()}}));
  output.write_end.reset();
  pid_t left = 0;
  ASSERT_EQ(read(output.read_end.get(), &left, sizeof left), static_cast<ssize_t>(sizeof left));
  ASSERT_TRUE(child.kill());
  child.reap();
  EXPECT_EQ(kill(left, 0), -1);
}

TEST(Zygote, an_order_to_one_that_has_ended_is_an_error) {
  SmallZygote zygote([] {});
  zygote.end();
  pollfd entry{.fd = zygote.socket().descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&entry, 1, kPatienceMs), 1);
  EXPECT_EQ(order_fork(zygote.socket(), {}).error().kind(), ErrorKind::stopped);
}

}  // namespace
}  // namespace troupe::wire
