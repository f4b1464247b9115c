// How one process learns at once that another one has ended. A socket hangs up, and a parent can reap, only when the
// kernel has taken the process apart, which takes a tenth of a second where a GPU's memory is mapped. Before that, each
// thread that ends lets go of the robust futexes that it holds: a life line is one of these.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::inline v0::wire {

/// A word in shared memory. Whoever can write there can cut it, so it proves nothing: one that is cut is a reason to
/// look, and one that is not cut is no reason to wait.
class LifeLine {
 public:
  /// The worker: it is cut when the calling thread ends, in whatever way. A thread holds one in its life, and no robust
  /// mutex beside it.
  void hold() noexcept;

  /// The app: sleeps for as long as somebody holds it. Whether it was cut then.
  bool wait_until_cut() const noexcept;
  /// Nobody holds it any more, and nobody waits: for the next worker, or because nobody is interested.
  void let_go() noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};  // as the kernel wants it: the thread, and two bits
};

}  // namespace troupe::inline v0::wire
