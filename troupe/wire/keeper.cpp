#include "troupe/wire/keeper.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>

#include "troupe/core/sanitized.hpp"
#include "troupe/wire/raw_call.hpp"

// Keeper and child run on borrowed memory, and the thread whose thread-local storage they use may end before them. So
// they must run no code of a sanitizer and no stack protector, which look there.
#define TROUPE_BORROWS \
  [[gnu::noinline]] __attribute__((no_sanitize("address", "thread", "undefined"), no_stack_protector))

namespace troupe::inline v0::wire {
namespace {

/// The signal that the kernel sends to the keeper when the thread that started it has ended. Nobody sends this one to a
/// group of processes.
constexpr int kAppDied = SIGPWR;
constexpr std::size_t kSignalSetBytes = 8;
constexpr char kForkedKeeperName[] = "troupe-keeper";
constexpr std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

TROUPE_BORROWS void note_failure(KeeperRecord* record, KeeperStep step, long answer, int number = -1) noexcept {
  record->failed_at = step;
  record->errno_value = static_cast<int>(-answer);
  record->failed_number = number;
}

/// A process id, or a negative errno.
TROUPE_BORROWS long start_process(int (*run)(void*), std::byte* stack, long flags, KeeperPlan* plan,
                                  int* pidfd) noexcept {
#if TROUPE_SANITIZED
  (void)stack;  // run on a copy of our memory, so that what a sanitizer keeps per thread stays intact
  const long pid = raw_call(SYS_clone, flags & ~CLONE_VM, 0, raw(pidfd));
  if (pid == 0) run(plan);
  return pid;
#else
  const long pid = clone(run, stack + kKeeperStackBytes, static_cast<int>(flags), plan, pidfd);
  return pid < 0 ? -errno : pid;
#endif
}

/// 0 or a negative errno.
TROUPE_BORROWS long hear_of_death(pid_t parent, int signal) noexcept {
  const long set = raw_call(SYS_prctl, PR_SET_PDEATHSIG, signal);
  if (set < 0) return set;
  return raw_call(SYS_getppid) == parent ? 0 : -ESRCH;
}

// ---- the child, before it execs ----

/// Moves all of them to numbers that nobody wants, and from there to the wanted ones, so that none overwrites another.
TROUPE_BORROWS bool place_descriptors(const KeeperPlan* plan) noexcept {
  KeeperRecord* record = &plan->memory->record;
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    DescriptorPlacement* placement = plan->placements + i;
    const long parked = raw_call(SYS_fcntl, placement->ours, F_DUPFD_CLOEXEC, plan->first_parking_number);
    if (parked < 0) return note_failure(record, KeeperStep::descriptors, parked, placement->ours), false;
    placement->parked = static_cast<int>(parked);
  }
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    const DescriptorPlacement* placement = plan->placements + i;
    const long placed = raw_call(SYS_dup3, placement->parked, placement->in_child, 0);
    if (placed < 0) return note_failure(record, KeeperStep::descriptors, placed, placement->ours), false;
  }
  return true;
}

TROUPE_BORROWS int become_executable(void* argument) noexcept {
  const KeeperPlan* plan = static_cast<const KeeperPlan*>(argument);
  KeeperRecord* record = &plan->memory->record;
  const std::uint64_t no_signals = 0;
  if (const long answer = hear_of_death(plan->keeper, SIGKILL); answer < 0) {
    note_failure(record, KeeperStep::death_signal, answer);
  } else if (const long closed = raw_call(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC); closed < 0) {
    note_failure(record, KeeperStep::close_others, closed);
  } else if (place_descriptors(plan)) {
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, raw(&no_signals), 0, kSignalSetBytes);
    note_failure(record, KeeperStep::exec,
                 raw_call(SYS_execve, raw(plan->executable), raw(plan->arguments), raw(plan->environment)));
  }
  raw_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

// ---- the keeper ----

/// No handler of the app may run in keeper or child, and an ignored SIGCHLD would lose the child's end.
TROUPE_BORROWS void reset_signal_actions() noexcept {
  constexpr int kSignals = 64;
  struct KernelAction {
    std::uintptr_t handler, flags, restorer;
    std::uint64_t mask;
  } by_default;
  by_default.handler = by_default.flags = by_default.restorer = 0;
  by_default.mask = 0;
  for (int signal = 1; signal <= kSignals; ++signal)
    raw_call(SYS_rt_sigaction, signal, raw(&by_default), 0, kSignalSetBytes);
}

/// The id of a child that has ended, 0 when none has, or a negative errno (-ECHILD when there are no children).
TROUPE_BORROWS long ended_child(siginfo_t* info, int options) noexcept {
  info->si_pid = 0;
  const long answer = raw_call(SYS_waitid, P_ALL, 0, raw(info), WEXITED | WNOHANG | __WALL | options);
  return answer < 0 ? answer : info->si_pid;
}

/// Tells the app, with a plain store of one word: no library function for atomics may run here.
TROUPE_BORROWS void publish_end(KeeperRecord* record, const siginfo_t* info) noexcept {
  const auto code = static_cast<std::uint32_t>(info->si_status) & KeeperRecord::kCodeMask;
  const std::uint32_t how = info->si_code == CLD_EXITED ? 0 : KeeperRecord::kSignalled;
  *reinterpret_cast<volatile std::uint32_t*>(&record->end) = KeeperRecord::kEnded | how | code;
  raw_call(SYS_futex, raw(&record->end), FUTEX_WAKE, INT_MAX);
}

/// Returns when the child has ended, and kills its process group then. Reaps orphans that end before.
TROUPE_BORROWS void keep_until_end(KeeperRecord* record, pid_t child) noexcept {
  const std::uint64_t awaited = bit_of(SIGCHLD) | bit_of(kAppDied);
  siginfo_t info;
  for (;;) {
    if (raw_call(SYS_rt_sigtimedwait, raw(&awaited), 0, 0, kSignalSetBytes) == kAppDied)
      raw_call(SYS_kill, child, SIGKILL);  // not reaped, so the number is still the child's
    for (long pid = 0; (pid = ended_child(&info, WNOWAIT)) > 0;) {
      if (pid == child) {
        publish_end(record, &info);
        raw_call(SYS_kill, -child, SIGKILL);
        return;
      }
      raw_call(SYS_waitid, P_PID, pid, raw(&info), WEXITED | WNOHANG | __WALL);
    }
  }
}

/// Kills all our present children. The kernel gives none of their numbers to another process before we have reaped it.
/// False where it does not say who they are: then only the child's group has been killed.
TROUPE_BORROWS bool kill_children() noexcept {
  const long list = raw_call(SYS_openat, AT_FDCWD, raw("/proc/thread-self/children"), O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  char text[256];
  long pid = 0;
  for (long size = 0; (size = raw_call(SYS_read, list, raw(text), sizeof text)) > 0;) {
    for (long i = 0; i < size; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else {
        if (pid > 1) raw_call(SYS_kill, pid, SIGKILL);
        pid = 0;
      }
    }
  }
  raw_call(SYS_close, list);
  return true;
}

/// When they end, their children become ours, so this repeats until nobody is left.
TROUPE_BORROWS void end_stragglers() noexcept {
  timespec turn;
  turn.tv_sec = 0;
  siginfo_t info;
  for (long turns = 0;; ++turns) {
    turn.tv_nsec = turns < kStragglerPatienceMs ? 1'000'000 : 100'000'000;
    long pid = 0;
    while ((pid = ended_child(&info, 0)) > 0) {
    }
    if (pid < 0) return;
    if (!kill_children() && turns >= kStragglerPatienceMs) return;
    raw_call(SYS_nanosleep, raw(&turn), 0);
  }
}

TROUPE_BORROWS int keep(void* argument) noexcept {
  KeeperPlan* plan = static_cast<KeeperPlan*>(argument);
  KeeperRecord* record = &plan->memory->record;
  const std::uint64_t one = 1;
  reset_signal_actions();
  raw_call(SYS_prctl, PR_SET_NAME, raw(plan->name));
  raw_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  plan->keeper = static_cast<pid_t>(raw_call(SYS_getpid));
  if (const long answer = hear_of_death(plan->app, kAppDied); answer < 0) {
    note_failure(record, KeeperStep::keep, answer);
  } else {
    // CLONE_VFORK: returns when the child has exec'ed, or has failed and noted why.
    const long pid = start_process(become_executable, plan->memory->child_stack,
                                   CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, plan, &record->pidfd);
    record->pid = static_cast<pid_t>(pid);
    if (pid < 0) note_failure(record, KeeperStep::clone, pid);
  }
  const pid_t child = record->pid;
  raw_call(SYS_write, plan->started, raw(&one), sizeof one);  // the plan may be gone from here on
  raw_call(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE);
  if (child > 0) {
    keep_until_end(record, child);
    end_stragglers();
  }
  raw_call(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace

int start_keeper(KeeperPlan& plan, int& pidfd) noexcept {
  // The exit signal is 0: no SIGCHLD, and only a wait with __WALL sees it.
  const long answer =
      start_process(keep, plan.memory->keeper_stack, CLONE_VM | CLONE_FILES | CLONE_PIDFD, &plan, &pidfd);
  return answer < 0 ? static_cast<int>(-answer) : 0;
}

Result<void> hear_of_end_of(pid_t parent) {
  if (hear_of_death(parent, kAppDied) == 0) return {};
  return fail(ErrorKind::stopped, "the keeper's parent has ended");
}

void keep_until_the_end(KeeperRecord& record, pid_t child) noexcept {
  reset_signal_actions();
  // The child may have ended already, and the reset has thrown away the signal that said so.
  raw_call(SYS_kill, raw_call(SYS_getpid), SIGCHLD);
  raw_call(SYS_prctl, PR_SET_NAME, raw(kForkedKeeperName));
  raw_call(SYS_close_range, 0, ~0U, 0);
  keep_until_end(&record, child);
  end_stragglers();
  raw_call(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace troupe::inline v0::wire
