// Load on a pool and what is measured under it. Sides give the ways to send; when something is sent, how it is counted
// and from when a latency counts is the same for all of them, and stands here.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "bench/actors/finish.hpp"
#include "bench/actors/programs.hpp"

namespace troupe::bench::actors {

/// Computes for about so long, if nobody takes the core away. How much that is was measured when first called.
void work_us(int us);

/// The value below which `part` of the samples lie. Needs at least one.
double quantile(std::vector<double> samples, double part);
/// An empty list whose memory has been touched: a sample that is added costs no page fault.
std::vector<double> room_for(int samples);
Figures quantiles(const std::vector<double>& samples, std::initializer_list<double> parts);

/// Messages of work: what was sent and what was handled. Any thread.
struct WorkDone {
  std::atomic<std::int64_t> sent = 0;
  std::atomic<std::int64_t> handled = 0;
  /// Set: handlers renew their message no more.
  std::atomic<bool> ending = false;

  /// Waits until everything sent was handled; then throws unless nothing came twice.
  void settle();
};

/// Sends one message of work to the load actor of this number.
using SendWork = std::function<void(int actor)>;
/// Asks an actor that has nothing else to do, and waits for the answer.
using AskOnce = std::function<void()>;

/// While it lives, a thread sends work at random moments, the same for each side, so much that half of the pool's
/// threads are busy: by the clock, whatever became of what was sent before.
class HalfLoad {
 public:
  HalfLoad(int threads, WorkDone& done, SendWork send);

 private:
  std::jthread thread_;
};

/// Microseconds of each ask, one after another with a pause between them, `count` of them or as many as end within
/// `kLoadTrial`.
std::vector<double> ask_one_by_one_us(int count, std::chrono::milliseconds pause, const AskOnce& ask);

/// Microseconds of `count` asks that are due every `kAskPeriod`. One that cannot begin when it is due because the one
/// before has not ended counts from when it was due: nothing is left out because the system was slow. A system that is
/// far behind is not waited for: what was due and has not begun `kLoadTrial` after the last was due counts until then.
std::vector<double> ask_when_due_us(int count, const AskOnce& ask);

/// Calls `go` every `kAskPeriod`, `count` times, whatever became of what it began.
void go_when_due(int count, const std::function<void()>& go);

/// So many bursts of `kBurst` blocking handlers, each sent by `send(actor, finish)`: how long one takes from the first
/// send to the end of the last handler, and to the beginning of the last; median and worst, in milliseconds. `began` is
/// where the handlers note when they begin.
Figures bursts(int count, const std::vector<Clock::time_point>& began,
               const std::function<void(int actor, Finish& finish)>& send);

}  // namespace troupe::bench::actors
