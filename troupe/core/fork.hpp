// What was made before a fork cannot be used in the child: its threads do not exist there, its locks may be held by
// them for ever, and its workers belong to the parent. So the parts of a system remember the process they were made in.
// It costs a look at one word, which a handler of `pthread_atfork` changes in the child. A child made without such
// handlers (`_Fork`, a bare `clone`) is not noticed.
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/error.hpp"

namespace troupe::inline v0::detail {

/// How many forks lie between the first process and this one.
extern constinit std::atomic<std::uint32_t> forks_so_far;

/// Remembers the process it was made in.
class ForkMark {
 public:
  ForkMark() noexcept;
  /// True in a fork of that process. Any thread.
  bool is_forked() const noexcept { return forks_so_far.load(std::memory_order_relaxed) != at_birth_; }

 private:
  std::uint32_t at_birth_;
};

/// What a fork is told.
Error fork_error();

/// Leaves an object of the parent's as it is: in a fork it cannot be taken apart. It stays reachable, so nobody takes
/// it for a leak.
void leave_in_fork(const void* object) noexcept;

}  // namespace troupe::inline v0::detail
