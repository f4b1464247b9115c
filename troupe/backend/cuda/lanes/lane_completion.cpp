#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/lanes/lane_completion.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::cuda {
namespace {

class WrittenByGpu final : public LaneCompletion {
 public:
  explicit WrittenByGpu(const Parts& parts) : parts_(parts) {}
  Result<void> raise_to(std::uint64_t word) override {
    return TROUPE_CUDA(parts_.context.driver(), cuStreamWriteValue64, parts_.stream, parts_.timeline_on_gpu, word,
                       CU_STREAM_WRITE_VALUE_DEFAULT);
  }

 private:
  const Parts parts_;
};

class CalledByDriver final : public LaneCompletion {
 public:
  explicit CalledByDriver(const Parts& parts) : parts_(parts) {}
  Result<void> raise_to(std::uint64_t word) override {
    auto call = std::make_unique<Call>(Call{this, word});
    TROUPE_TRY(TROUPE_CUDA(parts_.context.driver(), cuLaunchHostFunc, parts_.stream, &called, call.get()));
    call.release();  // the driver has it: it comes back in the call, or is lost with this process
    return {};
  }

 private:
  struct Call {
    CalledByDriver* lane;
    std::uint64_t word;
  };
  static void called(void* data) {
    const std::unique_ptr<Call> call(static_cast<Call*>(data));
    call->lane->parts_.timeline.put(call->word);
    call->lane->parts_.bell.ring();
  }
  const Parts parts_;
};

/// Events that were recorded and have not completed, with what they stand for, oldest first. Used again and again.
class Events {
 public:
  struct Recorded {
    CUevent event = nullptr;
    std::uint64_t word = 0;
  };
  Events(const CudaContext& context, unsigned flags) noexcept : context_(context), flags_(flags) {}
  ~Events() {
    for (const CUevent event : free_) (void)TROUPE_CUDA(context_.driver(), cuEventDestroy, event);
    for (const Recorded& recorded : recorded_) (void)TROUPE_CUDA(context_.driver(), cuEventDestroy, recorded.event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// From one thread. Not under the lock: the driver may make it wait, for those who need the lock.
  Result<void> record(CUstream stream, std::uint64_t word) {
    CUevent event = take_free();
    if (!event) TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuEventCreate, &event, flags_ | CU_EVENT_DISABLE_TIMING));
    const Result<void> recorded = TROUPE_CUDA(context_.driver(), cuEventRecord, event, stream);
    const std::lock_guard lock(mutex_);
    if (recorded)
      recorded_.push_back({event, word});
    else
      free_.push_back(event);
    added_.notify_one();
    return recorded;
  }
  std::optional<Recorded> oldest() {
    const std::lock_guard lock(mutex_);
    if (recorded_.empty()) return std::nullopt;
    return recorded_.front();
  }
  /// Waits for one; none when `stop` was called.
  std::optional<Recorded> wait_for_oldest() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [&] { return stopped_ || !recorded_.empty(); });
    if (stopped_) return std::nullopt;
    return recorded_.front();
  }
  void completed_oldest() {
    const std::lock_guard lock(mutex_);
    free_.push_back(recorded_.front().event);
    recorded_.pop_front();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    added_.notify_all();
  }

 private:
  CUevent take_free() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    const CUevent event = free_.back();
    free_.pop_back();
    return event;
  }

  const CudaContext& context_;
  const unsigned flags_;
  std::mutex mutex_;
  std::condition_variable added_;
  bool stopped_ = false;
  std::deque<Recorded> recorded_;
  std::vector<CUevent> free_;
};

class PolledEvents final : public LaneCompletion {
 public:
  explicit PolledEvents(const Parts& parts) : parts_(parts), events_(parts.context, CU_EVENT_DEFAULT) {}
  Result<void> raise_to(std::uint64_t word) override { return events_.record(parts_.stream, word); }
  bool lags() const noexcept override { return true; }
  Result<void> poll() override {
    while (const std::optional<Events::Recorded> oldest = events_.oldest()) {
      const CUresult answer = parts_.context.driver().table().cuEventQuery(oldest->event);
      if (answer == CUDA_ERROR_NOT_READY) break;
      TROUPE_TRY(checked(answer, "cuEventQuery"));
      parts_.timeline.put(oldest->word);
      events_.completed_oldest();
    }
    return {};
  }

 private:
  const Parts parts_;
  Events events_;
};

class BlockingEvents final : public LaneCompletion {
 public:
  explicit BlockingEvents(const Parts& parts)
      : parts_(parts), events_(parts.context, CU_EVENT_BLOCKING_SYNC), waiter_([this] { wait(); }) {}
  ~BlockingEvents() override {
    events_.stop();
    waiter_.join();
  }
  Result<void> raise_to(std::uint64_t word) override { return events_.record(parts_.stream, word); }
  bool lags() const noexcept override { return true; }

 private:
  void wait() {
    pthread_setname_np(pthread_self(), "troupe-wait");
    Result<void> well = parts_.context.make_current();
    while (well) {
      const std::optional<Events::Recorded> oldest = events_.wait_for_oldest();
      if (!oldest) return;
      well = TROUPE_CUDA(parts_.context.driver(), cuEventSynchronize, oldest->event);
      if (!well) break;
      parts_.timeline.put(oldest->word);
      events_.completed_oldest();
      parts_.bell.ring();
    }
    parts_.poisoned(well.error());
  }
  const Parts parts_;
  Events events_;
  std::thread waiter_;
};

}  // namespace

std::unique_ptr<LaneCompletion> LaneCompletion::make(CompletionPolicy completion, const Parts& parts) {
  switch (completion) {
    case CompletionPolicy::polled: return std::make_unique<PolledEvents>(parts);
    case CompletionPolicy::host_fn: return std::make_unique<CalledByDriver>(parts);
    case CompletionPolicy::blocking: return std::make_unique<BlockingEvents>(parts);
    case CompletionPolicy::timeline: break;
  }
  return std::make_unique<WrittenByGpu>(parts);
}

}  // namespace troupe::cuda

#endif
