// What the machine alone takes for an ask under load: a thread asks another one, and both sleep on semaphores. Nothing
// is queued and nothing is scheduled but by the kernel; the load is the same work on plain threads.
#include <semaphore>
#include <thread>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/programs.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors {
namespace {

/// A thread that answers. One asks at a time.
class Answering {
 public:
  ~Answering() {
    thread_.request_stop();
    asked_.release();
  }

  void ask() {
    asked_.release();
    answered_.acquire();
  }

 private:
  std::binary_semaphore asked_{0};
  std::binary_semaphore answered_{0};
  std::jthread thread_{[this](const std::stop_token& token) {
    for (;;) {
      asked_.acquire();
      if (token.stop_requested()) return;
      answered_.release();
    }
  }};
};

/// Threads that each take a message of work when there is one.
class Working {
 public:
  Working(int threads, WorkDone& done) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([&](const std::stop_token& token) {
        for (;;) {
          due_.acquire();
          if (token.stop_requested()) return;
          work_us(kHalfLoadWorkUs);
          done.handled.fetch_add(1);
        }
      });
  }
  ~Working() {
    for (std::jthread& thread : threads_) thread.request_stop();
    due_.release(static_cast<std::ptrdiff_t>(threads_.size()));
  }

  void send() { due_.release(); }

 private:
  std::counting_semaphore<> due_{0};
  std::vector<std::jthread> threads_;
};

Figures ask_at_half_load(const Setting& setting) {
  WorkDone done;
  Answering answering;
  Working working(setting.threads, done);
  std::vector<double> samples;
  {
    const HalfLoad load(setting.threads, done, [&](int) { working.send(); });
    samples = ask_when_due_us(setting.count, [&] { answering.ask(); });
  }
  done.settle();
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures ask_when_saturated(const Setting& setting) {
  std::vector<std::jthread> busy;
  for (int i = 0; i < setting.threads; ++i)
    busy.emplace_back([](const std::stop_token& token) {
      while (!token.stop_requested()) work_us(kSaturatingWorkUs);
    });
  Answering answering;
  return quantiles(ask_one_by_one_us(setting.count, kAskPause, [&] { answering.ask(); }), {0.5, 0.99});
}

}  // namespace

Programs bare_programs() {
  return {.version = "plain threads",
          .ask_into_saturated = ask_when_saturated,
          .ask_from_thread_at_half_load = ask_at_half_load};
}

}  // namespace troupe::bench::actors
