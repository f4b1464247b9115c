#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/actors/ours.hpp"
#include "bench/actors/sizes.hpp"
#include "bench/heap.hpp"

namespace troupe::bench::actors::ours {
namespace {

struct Go {};

/// Does one thing and is gone.
class Leaf {
 public:
  Leaf(Context<Leaf> self, Finish* finish) : self_(self), finish_(finish) {}
  void on(Go) {
    finish_->arrive();
    self_.stop();
  }

 private:
  Context<Leaf> self_;
  Finish* finish_;
};

/// Says that it has started, and sits idle.
class Idle {
 public:
  explicit Idle(Finish* finish) { finish->arrive(); }
  void on(Go) {}
};

std::vector<Ref<Idle>> spawn_idle(System& system, int count, Finish& finish) {
  std::vector<Ref<Idle>> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(value(system.spawn<Idle>({}, &finish)));
  return all;
}

/// Watches all, stops all, and waits for the news of each.
class Watcher {
 public:
  Watcher(Context<Watcher> self, const std::vector<Ref<Idle>>* all, Finish* finish, Count* count, double* watch_ns)
      : self_(self), all_(all), finish_(finish), count_(count), watch_ns_(watch_ns) {}
  void on(Go) {
    const Clock::time_point begin = Clock::now();
    for (const Ref<Idle>& one : *all_) self_.watch(one);
    *watch_ns_ = ns_between(begin, Clock::now());
    for (const Ref<Idle>& one : *all_) one.stop();
  }
  void on(const Terminated&) {
    if (++count_->came == static_cast<std::int64_t>(all_->size())) finish_->arrive();
  }

 private:
  Context<Watcher> self_;
  const std::vector<Ref<Idle>>* all_;
  Finish* finish_;
  Count* count_;
  double* watch_ns_;
};

/// Fails at every so many-th ask.
class Fragile {
 public:
  struct Get {
    using Reply = int;
  };
  int on(Get) {
    if (++count_ == kStormAsksPerInstance) throw std::runtime_error("the storm");
    return count_;
  }

 private:
  int count_ = 0;
};

struct Storm {
  int left = 0;
  std::int64_t answered = 0;
  std::int64_t failed = 0;
  std::int64_t lost = 0;
};

class StormAsker {
 public:
  StormAsker(Ref<Fragile> to, Storm* storm, Finish* finish) : to_(std::move(to)), storm_(storm), finish_(finish) {}
  Task<Result<void>> on(Go) {
    std::vector<Task<Result<void>>> all;
    for (int i = 0; i < kStormAsksUnderWay; ++i) all.push_back(ask_on());
    (void)co_await when_all(std::move(all));
    finish_->arrive();
    co_return Result<void>();
  }

 private:
  Task<Result<void>> ask_on() {
    while (storm_->left > 0) {
      --storm_->left;
      const Result<int> answer = co_await to_.ask<Fragile::Get>();
      if (answer)
        ++storm_->answered;
      else if (answer.error().message().find("the storm") != std::string_view::npos)
        ++storm_->failed;
      else
        ++storm_->lost;
    }
    co_return Result<void>();
  }
  Ref<Fragile> to_;
  Storm* storm_;
  Finish* finish_;
};

}  // namespace

Figures fork_join_creation(const Setting& setting) {
  Finish finish(setting.count);
  double ns = 0;
  {
    System system = make_system(setting.threads);
    ns = ns_each(finish, setting.count, [&] {
      for (int i = 0; i < setting.count; ++i) must(value(system.spawn<Leaf>({}, &finish)).tell<Go>());
    });
  }
  finish.check();
  return {ns};
}

Figures idle_spawn(const Setting& setting) {
  Finish finish(setting.count);
  std::vector<Ref<Idle>> all;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    ns = ns_each(finish, setting.count, [&] { all = spawn_idle(system, setting.count, finish); });
  }
  finish.check();
  return {ns};
}

Figures idle_bytes(const Setting& setting) {
  Finish finish(setting.count);
  System system = make_system(setting.threads);
  const HeapMeter heap;
  const std::vector<Ref<Idle>> all = spawn_idle(system, setting.count, finish);
  finish.wait();
  return {(heap.grown_bytes() - static_cast<double>(all.capacity() * sizeof all[0])) / setting.count};
}

Figures watch(const Setting& setting) {
  Finish started(setting.count);
  Finish finish(1);
  Count count;
  std::vector<Ref<Idle>> all;
  double watch_ns = 0;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    all = spawn_idle(system, setting.count, started);
    started.wait();
    const auto watcher = value(system.spawn<Watcher>({}, &all, &finish, &count, &watch_ns));
    ns = ns_each(finish, setting.count, [&] { must(watcher.tell<Go>()); });
  }
  check_count("notices", setting.count, count.came);
  return {watch_ns / setting.count, ns};
}

Figures restart_storm(const Setting& setting) {
  Finish finish(1);
  Storm storm{.left = setting.count};
  double ns = 0;
  {
    System system = make_system(setting.threads);
    const auto fragile = value(system.spawn<Fragile>({.supervision = {.max_restarts = setting.count}}));
    const auto asker = value(system.spawn<StormAsker>({}, fragile, &storm, &finish));
    ns = ns_each(finish, setting.count, [&] { must(asker.tell<Go>()); });
  }
  check_count("ends of asks", setting.count, storm.answered + storm.failed + storm.lost);
  return {ns, static_cast<double>(storm.lost)};
}

}  // namespace troupe::bench::actors::ours
