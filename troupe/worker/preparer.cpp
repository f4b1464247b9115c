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
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Result<void> Preparer::add(std::span<const std::byte> op) {
  op::AnyOp decoded;
  TROUPE_TRY(decoded.decode(op));
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(decoded));
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { work(); });
    pthread_setname_np(thread_.native_handle(), "troupe-prepare");
  }
  changed_.notify_one();
  return {};
}

void Preparer::work() noexcept {
  in_new_thread_();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const op::AnyOp op = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    run_(op);
    lock.lock();
  }
}

}  // namespace troupe::worker
