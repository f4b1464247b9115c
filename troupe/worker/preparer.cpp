#include "troupe/worker/preparer.hpp"

#include <pthread.h>

#include <utility>

namespace troupe::worker {

Preparer::Preparer(std::function<void(const op::AnyOp&)> run, std::function<void()> in_new_thread)
    : run_(std::move(run)), in_new_thread_(std::move(in_new_thread)) {}

Preparer::~Preparer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

Result<void> Preparer::add(std::span<const std::byte> op) {
  op::AnyOp decoded;
  TROUPE_TRY(decoded.decode(op));
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(decoded));
  if (std::exchange(is_at_work_, true)) return {};
  // The thread before has nothing left to do; what libraries do at its end may take a while, and nobody here waits.
  thread_ = std::thread([this, before = std::move(thread_)]() mutable {
    if (before.joinable()) before.join();
    work();
  });
  pthread_setname_np(thread_.native_handle(), "troupe-prepare");
  return {};
}

void Preparer::work() noexcept {
  in_new_thread_();
  for (;;) {
    op::AnyOp op;
    {
      const std::lock_guard lock(mutex_);
      is_at_work_ = !stopping_ && !waiting_.empty();
      if (!is_at_work_) return;
      op = std::move(waiting_.front());
      waiting_.pop_front();
    }
    run_(op);
  }
}

}  // namespace troupe::worker
