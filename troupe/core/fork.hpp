// A system that was made before a fork cannot be used in the child: its threads do not exist there, its locks may stay
// held for ever, and its workers belong to the parent. So its parts remember the process that made them. The check is
// one load of a word, which a handler of `pthread_atfork` changes in the child. A child made without such handlers
// (`_Fork`, a bare `clone`) is not noticed.
#pragma once

#include <atomic>
#include <cstdint>

#include "troupe/core/result.hpp"

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

/// The error for calls that are made in a fork.
Error fork_error();

/// Leaves an object of the parent as it is, because a fork cannot destroy it. The object stays reachable, so that it is
/// not reported as a leak.
void leave_in_fork(const void* object) noexcept;

}  // namespace troupe::inline v0::detail
