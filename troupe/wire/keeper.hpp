// The process between the app and a child: see child.hpp. It borrows the app's memory and never allocates; it waits for
// the child, leaves its end in the record, and then ends whatever processes the child has left behind. It is their
// parent by then: the kernel hands it every descendant of the child that has lost its own parent, also those that began
// a session of their own.
//
// Not for users of child processes: they have `Child`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe::inline v0::wire {

/// How long a keeper waits for the end of what it has killed. What has not ended by then hangs in the kernel; it ends
/// as soon as it returns from there, and nobody waits for it.
inline constexpr int kStragglerPatienceMs = 2000;

enum class KeeperStep : int { none, keep, clone, death_signal, close_others, descriptors, exec };

/// What keeper and child leave for the app: in memory that they share even where they do not share everything.
struct KeeperRecord {
  KeeperStep failed_at;
  int errno_value;
  int failed_number;  // the descriptor, when one was to blame
  pid_t pid;
  int pidfd;
  std::atomic<std::uint32_t> end;  // 0 while the child lives; one word, so that it is complete when it is seen

  static constexpr std::uint32_t kEnded = 1U << 31, kSignalled = 1U << 30, kCodeMask = 0xFFFF;
};

/// Of which keeper and child use a few hundred bytes, and the loader a few thousand when it binds a function.
inline constexpr std::size_t kKeeperStackBytes = 64 * 1024;

struct KeeperMemory {
  alignas(16) std::byte keeper_stack[kKeeperStackBytes];
  alignas(16) std::byte child_stack[kKeeperStackBytes];
  KeeperRecord record;
};

struct DescriptorPlacement {
  int in_child;
  int ours;
  int parked;  // where the child holds it while it moves the others
};

/// All that keeper and child need, made ready before they exist: there they may not allocate.
struct KeeperPlan {
  KeeperMemory* memory;  // until the keeper has ended
  const char* executable;
  char** arguments;
  char** environment;
  DescriptorPlacement* placements;
  std::size_t placement_count;
  int first_parking_number;
  pid_t app;
  pid_t keeper;
  int started;  // an eventfd: the keeper's word that the record is complete and the plan may go
};

/// Starts a keeper, which starts the child. The calling thread has blocked all signals, and waits until `started` is
/// readable or the keeper has ended. Gives 0 or an errno, and the keeper's pidfd.
int start_keeper(KeeperPlan& plan, int& pidfd) noexcept;

}  // namespace troupe::inline v0::wire
