// A child process that the rest of the app does not notice: it raises no SIGCHLD, and a `waitpid(-1)` elsewhere never
// reaps it. Exec makes every process an ordinary child again, so a keeper stands between app and child: a process that
// never execs and borrows the app's memory. It waits for the child, tells the app how the child ended, and kills the
// processes that the child has left behind. When the app dies, whatever the reason, the kernel tells the keeper, which
// kills the child; when the keeper dies, the kernel kills the child.
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
  /// {the number in the child, ours}. The child has these and no others, except 0, 1 and 2: where those are not listed,
  /// it shares ours.
  std::vector<std::pair<int, int>> descriptors;
  std::vector<std::string> environment;       // NAME=value, added to ours; replaces ours of the same name
  bool inherits_environment = true;           // false: it has only the variables above
  std::string keeper_name = "troupe-keeper";  // in `ps -e` and `top`; its first 15 characters
};

struct ChildEnd {
  bool signalled = false;
  int code = 0;  // the signal, or what the child exited with

  /// "was killed by signal 11 (SIGSEGV)", "exited with code 3".
  std::string to_string() const;
};

/// A running child. Move-only; the destructor kills and reaps the child and the processes that it left behind. Any
/// thread may use it, one at a time.
class Child {
 public:
  /// Starts the child; when this returns, the executable runs. In the child all signals have their default action and
  /// none is blocked. `invalid_argument` when the executable is missing or cannot be run, or a descriptor is not open;
  /// `out_of_memory` at a limit of the process or the machine.
  ///
  /// The child is killed when the *thread* that called this ends: call it from one that lives as long as the child
  /// should.
  static Result<Child> spawn(const ChildOptions& options);

  /// A child that a zygote has forked, with its keeper (zygote.hpp). `record` is the memory in which that keeper says
  /// how the child has ended, of `sizeof(KeeperMemory)`.
  static Result<Child> adopt(const Descriptor& record, int pid, Descriptor keeper, Descriptor child);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  int pid() const noexcept;
  /// Becomes readable when the child has ended and `try_reap` has its end.
  const Descriptor& pidfd() const noexcept;

  /// Sends the signal. Does nothing when the child has ended, and never hits another process with the same number.
  Result<void> kill(int signal = SIGKILL);

  /// How the child ended, once it has; the same answer from then on. Nothing of it runs any more; processes that it
  /// left behind are being killed.
  std::optional<ChildEnd> try_reap();
  /// The same, but waits for the end of the child and of the processes that it left behind; then not even a zombie is
  /// left. It does not wait for a process that hangs in the kernel; that one ends as soon as it returns from there.
  ChildEnd reap();

 private:
  class Life;
  explicit Child(std::unique_ptr<Life> life) noexcept;
  std::unique_ptr<Life> life_;
};

}  // namespace troupe::inline v0::wire
