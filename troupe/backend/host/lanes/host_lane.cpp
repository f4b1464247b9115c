#include "troupe/backend/host/lanes/host_lane.hpp"

#include <pthread.h>

#include <string>

namespace troupe::host {

HostLane::HostLane(std::uint32_t number, const wire::Timeline& timeline, Progress& progress, const Hooks& hooks)
    : number_(number), timeline_(timeline), progress_(progress), hooks_(hooks) {}

HostLane::~HostLane() {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  parker_.unpark();
  thread_.join();
}

void HostLane::push(const backend::Work& work, op::AnyOp op) {
  if (!queue_) queue_ = std::make_unique<std::array<Queued, kQueueLimit>>();
  const std::uint64_t position = pushed_.load(std::memory_order_relaxed);
  progress_.wait_until([&] { return position - taken_.load(std::memory_order_seq_cst) < kQueueLimit; });
  Queued& queued = (*queue_)[position % kQueueLimit];
  queued.work = work;
  queued.op = std::move(op);
  pushed_.store(position + 1, std::memory_order_release);
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), ("lane-" + std::to_string(number_)).c_str());
  }
  parker_.unpark();
}

void HostLane::run() noexcept {
  hooks_.in_new_thread();
  const auto has_work = [&] {
    return pushed_.load(std::memory_order_acquire) != taken_.load(std::memory_order_relaxed);
  };
  for (;;) {
    if (!has_work() && !spin_until(has_work)) {
      if (stopping_.load(std::memory_order_acquire)) return;
      parker_.park();
      continue;
    }
    const std::uint64_t position = taken_.load(std::memory_order_relaxed);
    Queued& queued = (*queue_)[position % kQueueLimit];
    const backend::Work& work = queued.work;
    if (!hooks_.ready(work)) progress_.wait_until([&] { return hooks_.ready(work); });
    hooks_.execute(work, queued.op);
    queued.op = {};
    taken_.store(position + 1, std::memory_order_seq_cst);
    progress_.made();
  }
}

}  // namespace troupe::host
