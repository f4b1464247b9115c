#include "bench/handover_reference.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "bench/stopwatch.hpp"
#include "troupe/core/assert.hpp"

namespace troupe::bench {
namespace {

/// A running sum, kept by a thread of its own and asked by one other thread.
class SumServer {
 public:
  explicit SumServer(Notify notify) : notify_(notify), thread_([this] { serve(); }) {}
  ~SumServer() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    wake(lock, request_arrived_);
    lock.unlock();
    thread_.join();
  }
  SumServer(const SumServer&) = delete;
  SumServer& operator=(const SumServer&) = delete;

  int add(int amount) {
    std::unique_lock lock(mutex_);
    request_ = amount;
    wake(lock, request_arrived_);
    reply_arrived_.wait(lock, [this] { return reply_.has_value(); });
    return *std::exchange(reply_, std::nullopt);
  }

 private:
  void serve() {
    int sum = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      request_arrived_.wait(lock, [this] { return request_.has_value() || stopping_; });
      if (!request_) return;
      sum += *std::exchange(request_, std::nullopt);
      reply_ = sum;
      wake(lock, reply_arrived_);
    }
  }

  /// Needs the lock held, and leaves it held.
  void wake(std::unique_lock<std::mutex>& lock, std::condition_variable& waiter) {
    if (notify_ == Notify::holding_the_mutex) {
      waiter.notify_one();
      return;
    }
    lock.unlock();
    waiter.notify_one();
    lock.lock();
  }

  const Notify notify_;
  std::mutex mutex_;
  std::condition_variable request_arrived_;
  std::condition_variable reply_arrived_;
  std::optional<int> request_;
  std::optional<int> reply_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

double handover_ns(int count, Notify notify) {
  SumServer server(notify);
  int sum = server.add(0);  // the thread has started
  const Stopwatch stopwatch;
  for (int i = 0; i < count; ++i) sum = server.add(1);
  const double ns = stopwatch.ns_per(count);
  TROUPE_ASSERT(sum == count, "every request is served once");
  return ns;
}

}  // namespace troupe::bench
