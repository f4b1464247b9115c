// Runs the ops that the app wants prepared (wire::PrepareOp), one after another, on a thread of their own: what they
// make takes seconds, and neither the ring nor the app's messages wait for it. The thread ends when all are done,
// because libraries give what they keep for a thread (PyTorch its handles of cuBLAS) to the next thread only then.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>

#include "troupe/core/result.hpp"
#include "troupe/op/table.hpp"

namespace troupe::worker {

class Preparer {
 public:
  /// `run` runs one; `in_new_thread` is called first in the thread, which is made when there is something to run.
  Preparer(std::function<void(const op::AnyOp&)> run, std::function<void()> in_new_thread);
  /// Waits for the op at hand, and runs no other.
  ~Preparer();
  Preparer(const Preparer&) = delete;
  Preparer& operator=(const Preparer&) = delete;

  /// `invalid_argument` for bytes that are no op.
  Result<void> add(std::span<const std::byte> op);

 private:
  void work() noexcept;

  const std::function<void(const op::AnyOp&)> run_;
  const std::function<void()> in_new_thread_;
  std::mutex mutex_;
  std::deque<op::AnyOp> waiting_;
  bool is_at_work_ = false;  // the thread will look at `waiting_` again
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe::worker
