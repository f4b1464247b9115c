// A process that makes workers by forking itself. It has done what each of them would begin with, such as the imports
// of a Python interpreter, so that a new one is there in a fraction of the time. Between it and each worker stands a
// keeper, as between the app and a child that is spawned (keeper.hpp): a worker ends with its keeper, the keepers with
// the zygote, and the zygote with the app.
//
// A fork has no threads but one, so a zygote must have none besides, and must not have touched an accelerator. It looks
// at itself, and says when it cannot be one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/wire/child.hpp"
#include "troupe/wire/descriptor.hpp"
#include "troupe/wire/socket.hpp"

namespace troupe::inline v0::wire {

/// Among a worker's arguments it says that its executable can be a zygote, too: it is one when `--fork SOCKET LEVEL
/// BACKEND` stands in the place of a worker's last arguments, with the level of the sandbox that it enters first.
inline constexpr std::string_view kCanFork = "--can-fork";
inline constexpr std::string_view kForkArgument = "--fork";

/// How long the app waits for a fork: it takes a few milliseconds for each gigabyte that the zygote has.
inline constexpr Duration kForkPatience = std::chrono::seconds(2);

/// The app's end. One thread at a time.
class Zygote {
 public:
  enum class State : std::uint8_t { beginning, ready, refused };

  /// Starts it. `options` has its arguments but for the last ones, and descriptors but for the socket. Fails, and dies
  /// with the calling thread, as `Child::spawn` says.
  static Result<Zygote> start(ChildOptions options, std::string_view level, std::string_view backend);

  int pid() const noexcept { return child_.pid(); }
  /// Readable when `look` has news.
  int descriptor() const noexcept { return socket_.descriptor(); }
  /// What it has said so far. Does not wait. `stopped` when it has ended.
  Result<State> look();
  /// Why it has refused.
  const std::string& why() const noexcept { return why_; }

  /// A worker, with {the number in the worker, ours} besides what the zygote has. Waits until it is there. An error
  /// when the zygote does not make it; then this one is of no use any more.
  Result<Child> fork(const std::vector<std::pair<int, int>>& descriptors);

 private:
  Zygote(Child child, Socket socket) noexcept : child_(std::move(child)), socket_(std::move(socket)) {}

  Child child_;
  Socket socket_;
  State state_ = State::beginning;
  std::string why_;
};

/// What `Zygote::fork` does, by the socket to a zygote.
Result<Child> order_fork(Socket& zygote, const std::vector<std::pair<int, int>>& descriptors);

// ---- the zygote's end: it forks, is the keeper in the fork, forks again, and is the worker there ----

/// What the app wants of a fork.
struct ForkOrder {
  Descriptor record;                                    // where the keeper says how the worker has ended
  std::vector<std::pair<int, Descriptor>> descriptors;  // by their numbers in the worker
};

/// Tells the app that forks can be ordered; or, with a reason, that they cannot.
Result<void> say_ready(Socket& app, std::string_view why_not = {});
/// Waits for the next order; `stopped` when the app has hung up.
Result<ForkOrder> receive_order(Socket& app);

/// In the keeper, before it forks. `zygote` is its parent.
Result<void> begin_to_keep(pid_t zygote);
/// In the keeper: tells the app, and keeps the worker until its end.
[[noreturn]] void keep_fork(Socket app, ForkOrder order, pid_t worker);
/// In the worker: from now on it ends with its keeper, and has the descriptors of the order in their places.
Result<void> begin_fork(Socket app, ForkOrder order, pid_t keeper);

}  // namespace troupe::inline v0::wire
