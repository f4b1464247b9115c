#include "troupe/wire/child.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/wire/keeper.hpp"
#include "troupe/wire/shared_futex.hpp"

namespace troupe::inline v0::wire {
namespace {

/// How long we wait for a keeper to tell the child's end, or to end itself. It waits for stragglers in that time. One
/// that takes longer goes on without us: if it were killed, nobody would end what the child has left behind.
constexpr Duration kKeeperPatience = std::chrono::milliseconds(2 * kStragglerPatienceMs);
/// How long the destructor waits for a child that it has killed. One that hangs in the kernel is left behind.
constexpr int kEndPatienceMs = 10'000;
constexpr Duration kLookAgain = std::chrono::milliseconds(1);

struct Unmap {
  void operator()(KeeperMemory* memory) const noexcept { munmap(memory, sizeof(KeeperMemory)); }
};
using OwnedKeeperMemory = std::unique_ptr<KeeperMemory, Unmap>;

/// New memory, or that of a descriptor.
Result<OwnedKeeperMemory> map_keeper_memory(int descriptor = -1) {
  const int flags = MAP_SHARED | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* address = mmap(nullptr, sizeof(KeeperMemory), PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (address == MAP_FAILED) return fail(errno_error("mapping the stacks of a child process", errno));
  OwnedKeeperMemory memory(static_cast<KeeperMemory*>(address));
  memory->record.pidfd = -1;
  return memory;
}

/// Blocks every signal of this thread, even those that the C library keeps for itself.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    const std::uint64_t all = ~std::uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }

 private:
  std::uint64_t before_ = 0;
};

constexpr int kForEver = -1;

/// True when a descriptor of the list is readable; waits up to `timeout_ms` for it.
bool wait_readable(std::initializer_list<int> descriptors, int timeout_ms) noexcept {
  pollfd entries[2] = {};
  nfds_t count = 0;
  for (const int descriptor : descriptors) entries[count++] = {.fd = descriptor, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(entries, count, timeout_ms);
  } while (ready < 0 && timeout_ms == kForEver);
  return ready > 0;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

Result<void> check(const ChildOptions& options) {
  for (const auto& [in_child, ours] : options.descriptors) {
    const auto same = [&](const auto& other) { return other.first == in_child; };
    if (in_child < 0 || std::ranges::count_if(options.descriptors, same) > 1) {
      return fail(ErrorKind::invalid_argument, "child process: a descriptor's number is not negative and used once, " +
                                                   std::to_string(in_child) + " is not so");
    }
  }
  for (const std::string& variable : options.environment) {
    if (name_of(variable).empty() || name_of(variable) == variable) {
      return fail(ErrorKind::invalid_argument, "child process: \"" + variable + "\" is not NAME=value");
    }
  }
  return {};
}

/// The plan with the memory it points to.
struct PreparedPlan {
  PreparedPlan(const ChildOptions& options, KeeperMemory* memory, int started) {
    // Nobody writes through these pointers; exec merely lacks the const.
    const auto pointer = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
    arguments.push_back(pointer(options.executable));
    for (const std::string& argument : options.arguments) arguments.push_back(pointer(argument));
    arguments.push_back(nullptr);
    for (char** variable = options.inherits_environment ? environ : nullptr; variable && *variable; ++variable) {
      const auto same = [&](const std::string& other) { return name_of(other) == name_of(*variable); };
      if (std::ranges::none_of(options.environment, same)) environment.push_back(*variable);
    }
    for (const std::string& variable : options.environment) environment.push_back(pointer(variable));
    environment.push_back(nullptr);
    int first_parking_number = 3;
    for (const auto& [in_child, ours] : options.descriptors) {
      placements.push_back({.in_child = in_child, .ours = ours, .parked = -1});
      first_parking_number = std::max(first_parking_number, std::min(in_child, INT_MAX - 1) + 1);
    }
    plan = KeeperPlan{.memory = memory,
                      .name = options.keeper_name.c_str(),
                      .executable = options.executable.c_str(),
                      .arguments = arguments.data(),
                      .environment = environment.data(),
                      .placements = placements.data(),
                      .placement_count = placements.size(),
                      .first_parking_number = first_parking_number,
                      .app = getpid(),
                      .keeper = 0,
                      .started = started};
  }
  PreparedPlan(const PreparedPlan&) = delete;

  KeeperPlan plan;
  std::vector<char*> arguments, environment;
  std::vector<DescriptorPlacement> placements;
};

Error failure(const KeeperRecord& record, const std::string& executable) {
  const std::string what = "starting \"" + executable + "\"";
  const int number = record.errno_value;
  switch (record.failed_at) {
    case KeeperStep::none: return Error(ErrorKind::internal, what + ": its keeper was killed");
    case KeeperStep::close_others:
      return errno_error(ErrorKind::unsupported, what + ": close_range (Linux 5.11)", number);
    case KeeperStep::descriptors: {
      const std::string which = what + ": passing on descriptor " + std::to_string(record.failed_number);
      if (number == EBADF) return errno_error(ErrorKind::invalid_argument, which, number);
      return errno_error(which, number == EINVAL ? EMFILE : number);  // EINVAL: the new number is beyond the limit
    }
    case KeeperStep::exec: {
      const ErrorKind kind = kind_of_errno(number);
      return errno_error(kind == ErrorKind::internal ? ErrorKind::invalid_argument : kind, what, number);
    }
    default: return errno_error(what, number);
  }
}

}  // namespace

/// A keeper and its child, from the keeper's start to the reap.
class Child::Life {
 public:
  Life(OwnedKeeperMemory memory, Descriptor keeper) noexcept : memory_(std::move(memory)), keeper_(std::move(keeper)) {}
  Life(const Life&) = delete;
  ~Life() {
    if (getpid() != app_) return;  // a fork of the app ends, and the child is not the fork's
    kill(SIGKILL);
    if (!end_ && child_ && !wait_readable({child_.get()}, kEndPatienceMs)) {
      (void)memory_.release();  // the keeper uses it until the kernel lets go of the child
      return;
    }
    wait(true);
    if (!wait_for_keeper()) (void)memory_.release();  // likewise
  }

  /// Waits until the keeper says that the record is complete.
  const KeeperRecord& wait_for_start(const Descriptor& started) noexcept {
    wait_readable({started.get(), keeper_.get()}, kForEver);
    return has_started();
  }
  const KeeperRecord& has_started() noexcept {
    child_ = Descriptor(memory_->record.pidfd);
    return memory_->record;
  }

  int pid() const noexcept { return memory_->record.pid; }
  const Descriptor& pidfd() const noexcept { return child_; }

  /// 0 or an errno.
  int kill(int signal) noexcept { return child_ ? send(child_, signal) : 0; }

  std::optional<ChildEnd> wait(bool block) noexcept {
    if (!end_ && child_ && wait_readable({child_.get()}, block ? kForEver : 0)) end_ = hear_of_end();
    return end_;
  }

  /// True when the processes that the child left behind are gone. Otherwise they hang in the kernel, or get no core,
  /// and the keeper still waits for them.
  bool wait_for_keeper() noexcept {
    if (!keeper_) return true;
    const TimePoint until = std::chrono::steady_clock::now() + kKeeperPatience;
    while (!wait_readable({keeper_.get()}, 1)) {
      if (std::chrono::steady_clock::now() >= until) return false;
      urge_keeper();
    }
    siginfo_t info;
    while (waitid(P_PIDFD, static_cast<id_t>(keeper_.get()), &info, WEXITED | __WALL) != 0 && errno == EINTR) {
    }
    keeper_.reset();
    return true;
  }

 private:
  static int send(const Descriptor& process, int signal) noexcept {
    if (syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0) return 0;
    return errno == ESRCH ? 0 : errno;
  }

  /// Wakes a keeper that somebody stopped.
  void urge_keeper() noexcept { send(keeper_, SIGCONT); }

  /// The child has ended: takes the keeper's word for how. Whoever kills the keeper has killed the child with it, and
  /// of a keeper that says nothing the same is assumed.
  ChildEnd hear_of_end() noexcept {
    const std::atomic<std::uint32_t>& end = memory_->record.end;
    const TimePoint until = std::chrono::steady_clock::now() + kKeeperPatience;
    for (;;) {
      const bool keeper_is_gone = wait_readable({keeper_.get()}, 0);
      if (const std::uint32_t word = end.load(std::memory_order_acquire))
        return {(word & KeeperRecord::kSignalled) != 0, static_cast<int>(word & KeeperRecord::kCodeMask)};
      if (keeper_is_gone || std::chrono::steady_clock::now() >= until) return {true, SIGKILL};
      shared_futex_wait(end, 0, std::chrono::steady_clock::now() + kLookAgain);
      if (end.load(std::memory_order_acquire) == 0) urge_keeper();
    }
  }

  OwnedKeeperMemory memory_;
  Descriptor keeper_;  // empty once it is reaped
  Descriptor child_;
  pid_t app_ = getpid();
  std::optional<ChildEnd> end_;
};

std::string ChildEnd::to_string() const {
  if (!signalled) return "exited with code " + std::to_string(code);
  const char* name = sigabbrev_np(code);
  return "was killed by signal " + std::to_string(code) + (name ? " (SIG" + std::string(name) + ")" : "");
}

Result<Child> Child::spawn(const ChildOptions& options) {
  TROUPE_TRY(check(options));
  const Descriptor started(eventfd(0, EFD_CLOEXEC));
  if (!started) return fail(errno_error("starting \"" + options.executable + "\"", errno));
  OwnedKeeperMemory memory = TROUPE_TRY(map_keeper_memory());
  PreparedPlan prepared(options, memory.get(), started.get());

  const SignalsBlocked blocked;
  int keeper = -1;
  if (const int number = start_keeper(prepared.plan, keeper); number != 0)
    return fail(errno_error("starting \"" + options.executable + "\"", number));
  auto life = std::make_unique<Life>(std::move(memory), Descriptor(keeper));
  const KeeperRecord& record = life->wait_for_start(started);
  if (record.failed_at != KeeperStep::none || record.pid <= 0) return fail(failure(record, options.executable));
  return Child(std::move(life));
}

Result<Child> Child::adopt(const Descriptor& record, int pid, Descriptor keeper, Descriptor child) {
  OwnedKeeperMemory memory = TROUPE_TRY(map_keeper_memory(record.get()));
  memory->record.pid = pid;
  memory->record.pidfd = child.release();
  auto life = std::make_unique<Life>(std::move(memory), std::move(keeper));
  life->has_started();
  return Child(std::move(life));
}

Child::Child(std::unique_ptr<Life> life) noexcept : life_(std::move(life)) {}
Child::Child(Child&& other) noexcept = default;
Child& Child::operator=(Child&& other) noexcept = default;
Child::~Child() = default;

int Child::pid() const noexcept { return life_->pid(); }

const Descriptor& Child::pidfd() const noexcept { return life_->pidfd(); }

Result<void> Child::kill(int signal) {
  const int number = life_->kill(signal);
  if (number == 0) return {};
  return fail(errno_error("sending signal " + std::to_string(signal) + " to process " + std::to_string(pid()), number));
}

std::optional<ChildEnd> Child::try_reap() { return life_->wait(false); }

ChildEnd Child::reap() {
  const ChildEnd end = *life_->wait(true);
  (void)life_->wait_for_keeper();
  return end;
}

}  // namespace troupe::inline v0::wire
