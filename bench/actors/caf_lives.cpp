#include "bench/actors/caf.hpp"

#if TROUPE_HAS_CAF

#include <exception>
#include <stdexcept>

#include "bench/actors/sizes.hpp"
#include "bench/heap.hpp"

namespace troupe::bench::actors::with_caf {
namespace {

class Leaf : public caf::event_based_actor {
 public:
  Leaf(caf::actor_config& config, Finish* finish) : caf::event_based_actor(config), finish_(finish) {}
  caf::behavior make_behavior() override {
    return {[this](Go) {
      finish_->arrive();
      quit();
    }};
  }

 private:
  Finish* finish_;
};

class Idle : public caf::event_based_actor {
 public:
  Idle(caf::actor_config& config, Finish* finish) : caf::event_based_actor(config), finish_(finish) {}
  caf::behavior make_behavior() override {
    finish_->arrive();
    return {[](Go) {}};
  }

 private:
  Finish* finish_;
};

std::vector<caf::actor> spawn_idle(System& system, int count, Finish& finish) {
  std::vector<caf::actor> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(system.itself().spawn<Idle>(&finish));
  return all;
}

class Watcher : public caf::event_based_actor {
 public:
  Watcher(caf::actor_config& config, const std::vector<caf::actor>* all, Finish* finish, Count* count, double* watch_ns)
      : caf::event_based_actor(config), all_(all), finish_(finish), count_(count), watch_ns_(watch_ns) {}
  caf::behavior make_behavior() override {
    set_down_handler([this](caf::down_msg&) {
      if (++count_->came == static_cast<std::int64_t>(all_->size())) finish_->arrive();
    });
    return {[this](Go) {
      const Clock::time_point begin = Clock::now();
      for (const caf::actor& one : *all_) monitor(one);
      *watch_ns_ = ns_between(begin, Clock::now());
      for (const caf::actor& one : *all_) send_exit(one, caf::exit_reason::user_shutdown);
    }};
  }

 private:
  const std::vector<caf::actor>* all_;
  Finish* finish_;
  Count* count_;
  double* watch_ns_;
};

/// Fails without the line on standard error that CAF prints unless told otherwise.
class Fragile : public caf::event_based_actor {
 public:
  explicit Fragile(caf::actor_config& config) : caf::event_based_actor(config) {}
  caf::behavior make_behavior() override {
    set_exception_handler([](std::exception_ptr&) { return caf::error(caf::exit_reason::unhandled_exception); });
    return {[this](Get) {
      if (++count_ == kStormAsksPerInstance) throw std::runtime_error("the storm");
      return count_;
    }};
  }

 private:
  int count_ = 0;
};

struct Storm {
  int left = 0;
  std::int64_t answered = 0;
  std::int64_t errors = 0;
  std::int64_t crashes = 0;
};

/// CAF has no restart: an actor that has failed is gone, and what it had not answered with it. The asker watches it and
/// makes a new one.
class StormAsker : public caf::event_based_actor {
 public:
  StormAsker(caf::actor_config& config, Storm* storm, Finish* finish)
      : caf::event_based_actor(config), storm_(storm), finish_(finish) {}
  caf::behavior make_behavior() override {
    set_down_handler([this](caf::down_msg& down) {
      if (down.source != caf::actor_cast<caf::actor_addr>(to_)) return;
      ++storm_->crashes;
      make_new();
      for (; waiting_ > 0; --waiting_) ask();
    });
    make_new();
    return {[this](Go) {
      under_way_ = kStormAsksUnderWay;
      for (int i = 0; i < kStormAsksUnderWay; ++i) ask();
    }};
  }
  void on_exit() override { to_ = nullptr; }

 private:
  void make_new() {
    to_ = spawn<Fragile>();
    monitor(to_);
  }
  void ask() {
    if (storm_->left == 0) {
      if (--under_way_ == 0) finish_->arrive();
      return;
    }
    --storm_->left;
    request(to_, caf::infinite, Get::value)
        .then(
            [this](int) {
              ++storm_->answered;
              ask();
            },
            [this, asked = to_](const caf::error&) {
              ++storm_->errors;
              if (asked == to_)
                ++waiting_;  // for the new one
              else
                ask();
            });
  }
  Storm* storm_;
  Finish* finish_;
  caf::actor to_;
  int under_way_ = 0;
  int waiting_ = 0;
};

}  // namespace

Figures fork_join_creation(const Setting& setting) {
  Finish finish(setting.count);
  double ns = 0;
  {
    System system(setting.threads);
    ns = ns_each(finish, setting.count, [&] {
      for (int i = 0; i < setting.count; ++i) caf::anon_send(system.itself().spawn<Leaf>(&finish), Go::value);
    });
  }
  finish.check();
  return {ns};
}

Figures idle_spawn(const Setting& setting) {
  Finish finish(setting.count);
  double ns = 0;
  {
    System system(setting.threads);
    std::vector<caf::actor> all;
    ns = ns_each(finish, setting.count, [&] { all = spawn_idle(system, setting.count, finish); });
  }
  finish.check();
  return {ns};
}

Figures idle_bytes(const Setting& setting) {
  Finish finish(setting.count);
  System system(setting.threads);
  const HeapMeter heap;
  const std::vector<caf::actor> all = spawn_idle(system, setting.count, finish);
  finish.wait();
  return {(heap.grown_bytes() - static_cast<double>(all.capacity() * sizeof all[0])) / setting.count};
}

Figures watch(const Setting& setting) {
  Finish started(setting.count);
  Finish finish(1);
  Count count;
  double watch_ns = 0;
  double ns = 0;
  {
    System system(setting.threads);
    const std::vector<caf::actor> all = spawn_idle(system, setting.count, started);
    started.wait();
    const caf::actor watcher = system.spawn<Watcher>(&all, &finish, &count, &watch_ns);
    ns = ns_each(finish, setting.count, [&] { caf::anon_send(watcher, Go::value); });
  }
  check_count("notices", setting.count, count.came);
  return {watch_ns / setting.count, ns};
}

Figures restart_storm(const Setting& setting) {
  Finish finish(1);
  Storm storm{.left = setting.count};
  double ns = 0;
  {
    System system(setting.threads);
    const caf::actor asker = system.spawn<StormAsker>(&storm, &finish);
    ns = ns_each(finish, setting.count, [&] { caf::anon_send(asker, Go::value); });
  }
  check_count("ends of asks", setting.count, storm.answered + storm.errors);
  // Each crash has one ask that is to blame; the others that failed are lost.
  return {ns, static_cast<double>(storm.errors - storm.crashes)};
}

}  // namespace troupe::bench::actors::with_caf

#endif  // TROUPE_HAS_CAF
