// A child process that the rest of the app cannot notice: no SIGCHLD, and `waitpid(-1)` elsewhere never takes it away.
// Exec makes every process an ordinary child again, so between app and child stands a keeper: a process without
// memory or descriptors of its own (it borrows the app's) that never execs, waits for the child and leaves its end.
// Then it kills the processes that the child has left behind. When the app dies, whatever the reason, the kernel tells
// the keeper, which kills the child; when the keeper dies, the kernel kills the child.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0::wire {

struct ChildOptions {
  std::string executable;  // a path; PATH is not searched
  std::vector<std::string> arguments;
  /// {the number in the child, ours}. The child has these and no others, except 0, 1 and 2, which it shares with us
  /// where they are not listed.
  std::vector<std::pair<int, int>> descriptors;
  std::vector<std::string> environment;  // NAME=value, added to ours or in the place of ours
  bool inherits_environment = true;      // false: it has the variables above and no others
};

struct ChildEnd {
  bool signalled = false;
  int code = 0;  // the signal, or what the child exited with

  /// "was killed by signal 11 (SIGSEGV)", "exited with code 3".
  std::string to_string() const;
};

/// Move-only; the destructor kills and reaps, the child and what it left behind. One thread at a time, but not always
/// the same one.
class Child {
 public:
  /// Starts the child; when it returns, the executable runs. All signals have their default action there and none is
  /// blocked. `invalid_argument` when the executable is missing or none, or a descriptor is not open,
  /// `out_of_memory` at a limit of the process or the machine.
  ///
  /// The child is killed when the *thread* that called this ends: call it from one that lives as long as the child
  /// should.
  static Result<Child> spawn(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  int pid() const noexcept;
  /// Becomes readable when the child has ended, just when `try_reap` has its end.
  const Descriptor& pidfd() const noexcept;

  /// Sends the signal. Fine when the child has ended, and never hits another process with the same number.
  Result<void> kill(int signal = SIGKILL);

  /// How it ended, once it has; the same answer from then on. Nothing of the process runs any more; processes that it
  /// left behind are being killed.
  std::optional<ChildEnd> try_reap();
  /// The same; waits for the end, and for that of what it left behind: nothing of it is left then, not even a zombie.
  /// Only a straggler that hangs in the kernel is not waited for: it ends as soon as it returns from there.
  ChildEnd reap();

 private:
  class Life;
  explicit Child(std::unique_ptr<Life> life) noexcept;
  std::unique_ptr<Life> life_;
};

}  // namespace troupe::inline v0::wire
