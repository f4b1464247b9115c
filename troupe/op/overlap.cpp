#include "troupe/op/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace troupe::inline v0::op {
namespace {

std::int64_t round_up(std::int64_t number, std::int64_t divisor) noexcept {
  return (number + divisor - 1) / divisor * divisor;
}

/// Sums of steps, each taken from 0 to `most` times. An element of `a` lies some steps above the first byte of a's
/// range. An element of `b` lies some steps below the last element in b's range. So they share a byte when the sum of
/// all these steps is about the distance between the two places.
class Steps {
 public:
  /// Needs a view that has a range and elements: then no number here comes near 63 bits.
  void add(const View& view) noexcept {
    for (int i = 0; i < view.shape.rank(); ++i)
      if (view.shape[i] > 1 && view.strides[i] != 0)
        add({std::abs(view.strides[i]) * size_bytes(view.dtype), view.shape[i] - 1});
  }

  /// Whether a sum is from `low` to `high`.
  Overlap reach(std::int64_t low, std::int64_t high) noexcept {
    prepare();
    return search(0, low, high);
  }

 private:
  struct Step {
    std::int64_t bytes = 0;
    std::int64_t most = 0;
    // Of this step and all shorter ones:
    std::int64_t reach = 0;    // the largest sum
    std::int64_t divisor = 0;  // of all sums
    bool has_no_gaps = true;   // every multiple of the divisor up to `reach` is a sum
  };

  /// The longest first; two of one length are one.
  void add(const Step& step) noexcept {
    std::size_t place = 0;
    while (place < count_ && steps_[place].bytes > step.bytes) ++place;
    if (place < count_ && steps_[place].bytes == step.bytes) {
      steps_[place].most += step.most;
      return;
    }
    std::move_backward(&steps_[place], &steps_[count_], &steps_[count_ + 1]);
    steps_[place] = step;
    ++count_;
  }

  void prepare() noexcept {
    steps_[count_] = Step{};  // no step: the only sum is 0
    for (std::size_t i = count_; i-- > 0;) {
      Step& step = steps_[i];
      const Step& shorter = steps_[i + 1];
      step.reach = shorter.reach + step.bytes * step.most;
      step.divisor = std::gcd(step.bytes, shorter.divisor);
      step.has_no_gaps = i + 1 == count_ || (shorter.has_no_gaps && step.divisor == shorter.divisor &&
                                             step.bytes <= shorter.reach + shorter.divisor);
    }
  }

  /// The same of the steps from `i` on.
  Overlap search(std::size_t i, std::int64_t low, std::int64_t high) noexcept {
    const Step& step = steps_[i];
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, step.reach);
    if (low > high) return Overlap::none;
    if (i == count_) return Overlap::some;
    if (round_up(low, step.divisor) > high) return Overlap::none;
    if (step.has_no_gaps) return Overlap::some;
    const std::int64_t left = std::max<std::int64_t>(low - steps_[i + 1].reach, 0);
    const std::int64_t most = std::min(step.most, high / step.bytes);
    for (std::int64_t times = round_up(left, step.bytes) / step.bytes; times <= most; ++times) {
      if (tries_left_-- <= 0) return Overlap::unsure;
      const std::int64_t gone = times * step.bytes;
      if (const Overlap found = search(i + 1, low - gone, high - gone); found != Overlap::none) return found;
    }
    return Overlap::none;
  }

  std::array<Step, 2 * std::size_t{kMaxRank} + 1> steps_;
  std::size_t count_ = 0;
  int tries_left_ = kMaxOverlapTries;
};

}  // namespace

Overlap overlap_of(const View& a, const View& b) noexcept {
  const Result<Range> range_a = range_of(a);
  const Result<Range> range_b = range_of(b);
  if (!range_a || !range_b) return Overlap::unsure;
  if (range_a->empty() || range_b->empty() || !range_a->overlaps(*range_b)) return Overlap::none;
  Steps steps;
  steps.add(a);
  steps.add(b);
  const std::int64_t size_a = size_bytes(a.dtype);
  const std::int64_t size_b = size_bytes(b.dtype);
  const std::int64_t distance = static_cast<std::int64_t>(range_b->end - range_a->begin) - size_b;
  return steps.reach(distance - (size_a - 1), distance + (size_b - 1));
}

}  // namespace troupe::inline v0::op
