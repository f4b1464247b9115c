#include "tests/chaos/cast.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe::chaos {
namespace {

constexpr std::uint32_t kTrainers = 4;

}  // namespace

/// A culprit that is a plain thread: takes its faults from a queue.
class CulpritThread {
 public:
  explicit CulpritThread(Culprit& culprit)
      : culprit_(culprit), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void commit(const Fault& fault) {
    const std::lock_guard lock(mutex_);
    faults_.push_back(fault);
    changed_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !faults_.empty(); })) {
      const Fault fault = faults_.front();
      faults_.pop_front();
      lock.unlock();
      run_in_thread(culprit_, fault);
      lock.lock();
    }
  }

  Culprit& culprit_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Fault> faults_;
  std::jthread thread_;
};

Cast::Cast(System& system, Scene& scene) {
  for (std::uint32_t i = 0; i < kCulprits; ++i) {
    culprits_.push_back(std::make_unique<Culprit>(scene, i));
    if (i % 2 == 0)
      culprit_actors_.push_back(value(system.spawn<CulpritActor>({}, culprits_.back().get())));
    else
      culprit_threads_.push_back(std::make_unique<CulpritThread>(*culprits_.back()));
  }
  for (std::uint32_t i = 0; i < scene.plan.callers(); ++i) callers_.push_back(std::make_unique<Caller>(scene, i));
  for (std::uint32_t i = 0; i < kTrainers; ++i) trainers_.push_back(std::make_unique<Trainer>(scene, i));
  running_ = static_cast<int>(callers_.size() + trainers_.size());
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    Caller* caller = callers_[i].get();
    if (i % 2 == 0) {
      (void)value(system.spawn<CallerActor>({}, caller, &running_)).tell<CallerActor::Run>();
    } else {
      threads_.emplace_back([this, caller] {
        run_in_thread(*caller);
        --running_;
      });
    }
  }
  for (std::size_t i = 0; i < trainers_.size(); ++i) {
    Trainer* trainer = trainers_[i].get();
    if (i % 2 == 0) {
      (void)value(system.spawn<TrainerActor>({}, trainer, &running_)).tell<TrainerActor::Run>();
    } else {
      threads_.emplace_back([this, trainer] {
        run_in_thread(*trainer);
        --running_;
      });
    }
  }
}

Cast::~Cast() = default;

void Cast::commit(const Fault& fault) {
  culprits_[fault.culprit]->expect();
  if (fault.culprit % 2 == 0)
    (void)culprit_actors_[fault.culprit / 2].tell(fault);
  else
    culprit_threads_[fault.culprit / 2]->commit(fault);
}

int Cast::under_way() const noexcept {
  int sum = 0;
  for (const auto& culprit : culprits_) sum += culprit->under_way();
  return sum;
}

void Cast::check_all_kept() {
  for (const auto& culprit : culprits_) culprit->check_all_kept();
}

std::string Cast::where_everybody_is() const {
  std::string all;
  for (const auto& caller : callers_) all += "  " + caller->where() + "\n";
  for (const auto& trainer : trainers_) all += "  " + trainer->where() + "\n";
  return all + "  " + std::to_string(under_way()) + " bad ops are under way\n";
}

}  // namespace troupe::chaos
