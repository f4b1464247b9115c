// Two figures of one event, for the two sides of a row or for two rows: what makes one of them differ from one time to
// the next is in the other one, too.
#pragma once

#include <deque>
#include <functional>
#include <utility>

namespace troupe::bench {

/// Whoever asks first makes it happen, and the other gets the rest of it.
class Pair {
 public:
  struct Figures {
    double first;
    double second;
  };
  explicit Pair(std::function<Figures()> measure) : measure_(std::move(measure)) {}
  double first() { return take(first_); }
  double second() { return take(second_); }

 private:
  double take(std::deque<double>& figures) {
    if (figures.empty()) {
      const auto [first, second] = measure_();
      first_.push_back(first);
      second_.push_back(second);
    }
    const double oldest = figures.front();
    figures.pop_front();
    return oldest;
  }
  std::function<Figures()> measure_;
  std::deque<double> first_;
  std::deque<double> second_;
};

}  // namespace troupe::bench
