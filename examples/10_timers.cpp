// Timers: an actor sends itself messages later, once or periodically. Timers end with their actor. A periodic timer
// does not pile up: while one of its messages waits, further beats are left out.
#include <cstdio>
#include <future>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Beat {};
struct Late {};

struct Report {
  int beats = 0;
  bool late = false;
  Duration took{0};
};

class Metronome {
 public:
  Metronome(Context<Metronome> self, std::promise<Report>* report) : self_(self), report_(report) {}

  void started() {
    began_ = self_.now();
    beat_ = value(self_.every(2ms, Beat{}));
    value(self_.after(5ms, Late{}));
    const TimerId never = value(self_.after(1h, Late{}));
    self_.cancel(never);
  }
  void on(Beat) {
    if (++seen_.beats < 5) return;
    self_.cancel(beat_);  // no beat is handled after this
    seen_.took = self_.now() - began_;
    report_->set_value(seen_);
  }
  void on(Late) { seen_.late = true; }

 private:
  Context<Metronome> self_;
  std::promise<Report>* report_;
  TimePoint began_;
  TimerId beat_{};
  Report seen_;
};

int main() {
  std::promise<Report> promise;
  System system;
  value(system.spawn<Metronome>({.name = "metronome"}, &promise));
  const Report report = promise.get_future().get();
  std::printf("5 beats of 2 ms took at least 10 ms: %s\n", report.took >= 10ms ? "yes" : "no");
  std::printf("the message for after 5 ms came meanwhile: %s\n", report.late ? "yes" : "no");
  return report.beats == 5 && report.late && report.took >= 10ms ? 0 : 1;
}
