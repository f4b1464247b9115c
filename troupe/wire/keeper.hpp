// The process between the app and a child: see child.hpp. It borrows the app's memory and never allocates. It waits for
// the child, writes into the record how the child ended, and then ends the processes that the child has left behind. By
// then it is their parent: the kernel gives it every descendant of the child whose own parent is gone, even one that
// began a session of its own.
//
// Only `Child` uses it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

/// How long a keeper looks every millisecond for the processes that it has killed. Those that have not ended by then
/// hang in the kernel, or get no core. It goes on looking now and then, because they may have children of their own,
/// which are the keeper's only then; but nobody waits for that.
inline constexpr int kStragglerPatienceMs = 2000;

enum class KeeperStep : int { none, keep, clone, death_signal, close_others, descriptors, exec };

/// What keeper and child tell the app. It is in shared memory, because with a sanitizer they have a copy of the rest.
struct KeeperRecord {
  KeeperStep failed_at;
  int errno_value;
  int failed_number;  // the descriptor, when one was to blame
  pid_t pid;
  int pidfd;
  std::atomic<std::uint32_t> end;  // 0 while the child lives; one word, so that nobody sees half of it

  static constexpr std::uint32_t kEnded = 1U << 31, kSignalled = 1U << 30, kCodeMask = 0xFFFF;
};

/// Keeper and child use a few hundred bytes of a stack, and the loader a few thousand when it binds a function.
inline constexpr std::size_t kKeeperStackBytes = 64 * 1024;

struct KeeperMemory {
  alignas(16) std::byte keeper_stack[kKeeperStackBytes];
  alignas(16) std::byte child_stack[kKeeperStackBytes];
  KeeperRecord record;
};

struct DescriptorPlacement {
  int in_child;
  int ours;
  int parked;  // where the child keeps it while it moves the others
};

/// All that keeper and child need. The app prepares it, because they may not allocate.
struct KeeperPlan {
  KeeperMemory* memory;  // must live until the keeper has ended
  const char* name;      // the keeper's, in `ps`
  const char* executable;
  char** arguments;
  char** environment;
  DescriptorPlacement* placements;
  std::size_t placement_count;
  int first_parking_number;
  pid_t app;
  pid_t keeper;
  int started;  // an eventfd: the keeper signals that the record is complete and the plan may go
};

/// Starts a keeper, which starts the child. The calling thread must have blocked all signals, and must then wait until
/// `started` is readable or the keeper has ended. Gives 0 or an errno, and the keeper's pidfd.
int start_keeper(KeeperPlan& plan, int& pidfd) noexcept;

// ---- for a keeper that a zygote has forked: it has memory of its own ----

/// From now on the kernel tells this process when that parent ends. `stopped` when it has ended.
Result<void> hear_of_end_of(pid_t parent);
/// Is the keeper of `child`, its own child, until that and all that it leaves behind have ended. All signals are
/// blocked.
[[noreturn]] void keep_until_the_end(KeeperRecord& record, pid_t child) noexcept;

}  // namespace troupe::inline v0::wire
