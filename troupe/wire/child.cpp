#include "troupe/wire/child.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "troupe/core/sanitized.hpp"

// Keeper and child run on borrowed memory and thread-local storage: nothing of a sanitizer's may run in them.
#define TROUPE_BORROWS [[gnu::noinline]] __attribute__((no_sanitize("address", "thread", "undefined")))

namespace troupe::inline v0::wire {
namespace {

/// Of which keeper and child use a few hundred bytes, and the loader a few thousand when it binds a function.
constexpr std::size_t kStackBytes = 64 * 1024;

enum class Step : int { none, keep, clone, death_signal, close_others, descriptors, exec };

/// What keeper and child leave for the app: in memory that they share even where they do not share everything.
struct Record {
  Step failed_at;
  int errno_value;
  int failed_number;  // the descriptor, when one was to blame
  pid_t pid;
  int pidfd;
  bool ended;
  bool signalled;
  int code;
};

struct Stacks {
  alignas(16) std::byte keeper[kStackBytes];
  alignas(16) std::byte child[kStackBytes];
  Record record;
};

struct Placement {
  int in_child;
  int ours;
  int parked;  // where the child holds it while it moves the others
};

/// All that keeper and child need, made ready before they exist: there they may not allocate.
struct Plan {
  Record* record;
  Stacks* stacks;
  const char* executable;
  char** arguments;
  char** environment;
  Placement* placements;
  std::size_t placement_count;
  int first_parking_number;
  pid_t app;
  pid_t keeper;
  int started;  // an eventfd: the keeper's word that the record is complete
};

// From here to `keep` only system calls, on the stacks above. `errno` is the spawning thread's, which sits in `poll`
// until `started` is written; afterwards the keeper makes no call that fails.

TROUPE_BORROWS void note_failure(Record* record, Step step, int number = -1) noexcept {
  record->failed_at = step;
  record->errno_value = errno;
  record->failed_number = number;
}

TROUPE_BORROWS long start_process(int (*run)(void*), std::byte* stack, long flags, Plan* plan, int* pidfd) noexcept {
#if TROUPE_SANITIZED
  (void)stack;  // a copy of our memory instead of the memory itself: what a sanitizer keeps per thread stays sound
  const long pid = syscall(SYS_clone, flags & ~CLONE_VM, nullptr, pidfd, nullptr, nullptr);
  if (pid == 0) run(plan);
  return pid;
#else
  return clone(run, stack + kStackBytes, static_cast<int>(flags), plan, pidfd);
#endif
}

TROUPE_BORROWS bool dies_with(pid_t parent) noexcept {
  return syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && syscall(SYS_getppid) == parent;
}

/// First all of them to numbers that nobody wants, then to those they should have: no order could overwrite one.
TROUPE_BORROWS bool place_descriptors(const Plan* plan) noexcept {
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    Placement* placement = plan->placements + i;
    const long parked = syscall(SYS_fcntl, placement->ours, F_DUPFD_CLOEXEC, plan->first_parking_number);
    if (parked < 0) return note_failure(plan->record, Step::descriptors, placement->ours), false;
    placement->parked = static_cast<int>(parked);
  }
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    const Placement* placement = plan->placements + i;
    if (syscall(SYS_dup3, placement->parked, placement->in_child, 0) < 0) {
      return note_failure(plan->record, Step::descriptors, placement->ours), false;
    }
  }
  return true;
}

TROUPE_BORROWS int become_executable(void* argument) noexcept {
  const Plan* plan = static_cast<const Plan*>(argument);
  const std::uint64_t no_signals = 0;
  if (!dies_with(plan->keeper)) {
    note_failure(plan->record, Step::death_signal);
  } else if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) != 0) {
    note_failure(plan->record, Step::close_others);
  } else if (place_descriptors(plan)) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, sizeof no_signals);
    syscall(SYS_execve, plan->executable, plan->arguments, plan->environment);
    note_failure(plan->record, Step::exec);
  }
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

/// No handler of the app may ever run in keeper or child, and an ignored SIGCHLD would lose the child's end.
TROUPE_BORROWS void reset_signal_actions() noexcept {
  constexpr int kSignals = 64;
  struct KernelAction {
    std::uintptr_t handler, flags, restorer;
    std::uint64_t mask;
  } by_default;
  by_default.handler = by_default.flags = by_default.restorer = 0;
  by_default.mask = 0;
  for (int signal = 1; signal <= kSignals; ++signal) {
    syscall(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof by_default.mask);
  }
}

TROUPE_BORROWS int keep(void* argument) noexcept {
  Plan* plan = static_cast<Plan*>(argument);
  Record* record = plan->record;
  const std::uint64_t one = 1;
  reset_signal_actions();
  syscall(SYS_prctl, PR_SET_NAME, "troupe-keeper", 0, 0, 0);
  plan->keeper = static_cast<pid_t>(syscall(SYS_getpid));
  if (!dies_with(plan->app)) {
    note_failure(record, Step::keep);
  } else {
    // CLONE_VFORK: goes on when the child has become its executable, or has failed and said so.
    record->pid = static_cast<pid_t>(start_process(
        become_executable, plan->stacks->child, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, plan, &record->pidfd));
    if (record->pid < 0) note_failure(record, Step::clone);
  }
  const pid_t pid = record->pid;
  syscall(SYS_write, plan->started, &one, sizeof one);  // the plan may be gone from here on
  syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE);

  siginfo_t info;
  if (pid > 0 && syscall(SYS_waitid, P_PID, pid, &info, WEXITED, nullptr) == 0) {
    record->signalled = info.si_code != CLD_EXITED;
    record->code = info.si_status;
    record->ended = true;
  }
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

// Here the app's side begins.

struct Unmap {
  void operator()(Stacks* stacks) const noexcept { munmap(stacks, sizeof(Stacks)); }
};
using StackMemory = std::unique_ptr<Stacks, Unmap>;

Result<StackMemory> map_stacks() {
  void* address = mmap(nullptr, sizeof(Stacks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return fail(errno_error("mapping the stacks of a child process", errno));
  StackMemory stacks(static_cast<Stacks*>(address));
  stacks->record.pidfd = -1;
  return stacks;
}

/// Blocks every signal of this thread, those included that the C library keeps for itself.
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

/// True when a descriptor of the list is readable; waits for that if `block`.
bool wait_readable(std::initializer_list<int> descriptors, bool block) noexcept {
  pollfd entries[2] = {};
  nfds_t count = 0;
  for (const int descriptor : descriptors) entries[count++] = {.fd = descriptor, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(entries, count, block ? -1 : 0);
  } while (ready < 0 && block);
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
  PreparedPlan(const ChildOptions& options, Stacks* stacks, int started) {
    // Nobody writes through these pointers; exec just never learnt to say const.
    const auto pointer = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
    arguments.push_back(pointer(options.executable));
    for (const std::string& argument : options.arguments) arguments.push_back(pointer(argument));
    arguments.push_back(nullptr);
    for (char** variable = environ; variable && *variable; ++variable) {
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
    plan = Plan{.record = &stacks->record,
                .stacks = stacks,
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

  Plan plan;
  std::vector<char*> arguments, environment;
  std::vector<Placement> placements;
};

Error failure(const Record& record, const std::string& executable) {
  const std::string what = "starting \"" + executable + "\"";
  const int number = record.errno_value;
  switch (record.failed_at) {
    case Step::none: return Error(ErrorKind::internal, what + ": its keeper was killed");
    case Step::close_others: return errno_error(ErrorKind::unsupported, what + ": close_range (Linux 5.11)", number);
    case Step::descriptors: {
      const std::string which = what + ": passing on descriptor " + std::to_string(record.failed_number);
      if (number == EBADF) return errno_error(ErrorKind::invalid_argument, which, number);
      return errno_error(which, number == EINVAL ? EMFILE : number);  // EINVAL: its new number is beyond the limit
    }
    case Step::exec: {
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
  Life(StackMemory stacks, Descriptor keeper) noexcept : stacks_(std::move(stacks)), keeper_(std::move(keeper)) {}
  Life(const Life&) = delete;
  ~Life() {
    if (getpid() != app_) return;  // a fork of the app ends: the child is not its own
    kill(SIGKILL);
    wait(true);
  }

  /// Waits for the keeper's word; from then on the record is complete.
  const Record& wait_for_start(const Descriptor& started) noexcept {
    wait_readable({started.get(), keeper_.get()}, true);
    child_ = Descriptor(stacks_->record.pidfd);
    return stacks_->record;
  }

  int pid() const noexcept { return stacks_->record.pid; }
  const Descriptor& pidfd() const noexcept { return keeper_; }

  /// 0 or an errno.
  int kill(int signal) noexcept {
    if (!child_ || syscall(SYS_pidfd_send_signal, child_.get(), signal, nullptr, 0) == 0) return 0;
    return errno == ESRCH ? 0 : errno;
  }

  std::optional<ChildEnd> wait(bool block) noexcept {
    if (end_) return end_;
    if (!wait_readable({keeper_.get()}, block)) return std::nullopt;
    const Record& record = stacks_->record;
    // Who kills the keeper kills the child, which may take longer.
    if (!record.ended && child_ && !wait_readable({child_.get()}, block)) return std::nullopt;
    siginfo_t info;
    while (waitid(P_PIDFD, static_cast<id_t>(keeper_.get()), &info, WEXITED | __WALL) != 0 && errno == EINTR) {
    }
    end_ = record.ended ? ChildEnd{record.signalled, record.code} : ChildEnd{true, SIGKILL};
    return end_;
  }

 private:
  StackMemory stacks_;
  Descriptor keeper_;
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
  StackMemory stacks = TROUPE_TRY(map_stacks());
  PreparedPlan prepared(options, stacks.get(), started.get());

  const SignalsBlocked blocked;
  int keeper = -1;
  // The exit signal is 0: no SIGCHLD, and only a wait with __WALL sees it.
  if (start_process(keep, stacks->keeper, CLONE_VM | CLONE_FILES | CLONE_PIDFD, &prepared.plan, &keeper) < 0) {
    return fail(errno_error("starting \"" + options.executable + "\"", errno));
  }
  auto life = std::make_unique<Life>(std::move(stacks), Descriptor(keeper));
  const Record& record = life->wait_for_start(started);
  if (record.failed_at != Step::none || record.pid <= 0) return fail(failure(record, options.executable));
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

ChildEnd Child::reap() { return *life_->wait(true); }

}  // namespace troupe::inline v0::wire
