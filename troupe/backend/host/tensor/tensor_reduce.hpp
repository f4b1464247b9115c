// Reductions on the CPU, of one array or of the products of two: the latter is a contraction by loops. What is kept and
// what is reduced are two nests of loops, of any depth; elements go through blocks of f64, so every type is one code.
// A team shares the work in a way that depends on the shapes alone, so every team gives the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::host {

/// Axes that are walked together in so many views, steps in bytes. The last view is the output.
template <std::size_t n>
class NestOf {
 public:
  static constexpr std::size_t kViews = n;
  static constexpr std::size_t kMaxAxes = std::size_t{3} * kMaxRank;
  using Steps = host::Steps<n>;
  using Pointers = host::Pointers<n>;
  struct Axis {
    std::int64_t extent = 1;
    Steps steps{};
  };

  /// Axes of extent 1 are left out.
  void add(std::int64_t extent, const Steps& steps) noexcept;
  /// Puts the axis that is densest in the first input innermost, and merges axes that lie side by side.
  void arrange() noexcept;
  /// The same by all views together.
  void arrange_by_all() noexcept;
  /// Makes the longest axis the innermost.
  void put_longest_innermost() noexcept;
  /// Takes the innermost axis out; one of extent 1 when there is none.
  Axis take_innermost() noexcept;
  const Axis* innermost() const noexcept { return count_ > 0 ? &axes_[0] : nullptr; }
  double elements() const noexcept;
  bool is_empty() const noexcept { return is_empty_; }
  /// Walks over the output only, for inputs that have no memory.
  void stay_in_inputs() noexcept;

  /// How many places there are.
  std::int64_t places() const noexcept {
    std::int64_t places = is_empty_ ? 0 : 1;
    for (std::size_t i = 0; i < count_; ++i) places *= axes_[i].extent;
    return places;
  }
  /// Calls `f` with the pointers of the places from `begin` to `end`, in order.
  template <class F>
  void run(Pointers at, std::int64_t begin, std::int64_t end, F&& f) const {
    std::array<std::int64_t, kMaxAxes> index{};
    std::int64_t rest = begin;
    for (std::size_t i = 0; i < count_; rest /= axes_[i++].extent) {
      index[i] = rest % axes_[i].extent;
      for (std::size_t v = 0; v < at.size(); ++v) at[v] += axes_[i].steps[v] * index[i];
    }
    for (; begin < end; ++begin) {
      f(std::as_const(at));
      for (std::size_t i = 0; i < count_; ++i) {
        const Axis& axis = axes_[i];
        const bool goes_on = ++index[i] < axis.extent;
        for (std::size_t v = 0; v < at.size(); ++v) at[v] += axis.steps[v] * (goes_on ? 1 : 1 - axis.extent);
        if (goes_on) break;
        index[i] = 0;
      }
    }
  }

 private:
  template <class IsDenser>
  void arrange_by(const IsDenser& is_denser) noexcept;

  std::array<Axis, kMaxAxes> axes_;  // the innermost first
  std::size_t count_ = 0;
  bool is_empty_ = false;
};

template <std::size_t n>
void NestOf<n>::add(std::int64_t extent, const Steps& steps) noexcept {
  if (extent == 0) is_empty_ = true;
  if (extent > 1) axes_[count_++] = {extent, steps};
}

template <std::size_t n>
void NestOf<n>::arrange() noexcept {
  arrange_by([](const Axis& x, const Axis& y) {
    for (std::size_t v = 0; v < x.steps.size(); ++v)
      if (x.steps[v] != y.steps[v]) return std::abs(x.steps[v]) < std::abs(y.steps[v]);
    return false;
  });
}

template <std::size_t n>
void NestOf<n>::arrange_by_all() noexcept {
  arrange_by([](const Axis& x, const Axis& y) {
    std::int64_t sum_x = 0, sum_y = 0;
    for (std::size_t v = 0; v < n; ++v) {
      sum_x += std::abs(x.steps[v]);
      sum_y += std::abs(y.steps[v]);
    }
    return sum_x < sum_y;
  });
}

template <std::size_t n>
template <class IsDenser>
void NestOf<n>::arrange_by(const IsDenser& is_denser) noexcept {
  for (std::size_t i = 1; i < count_; ++i)
    for (std::size_t j = i; j > 0 && is_denser(axes_[j], axes_[j - 1]); --j) std::swap(axes_[j], axes_[j - 1]);
  std::size_t last = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    Axis& inner = axes_[last];
    bool side_by_side = true;
    for (std::size_t v = 0; v < inner.steps.size(); ++v)
      side_by_side &= axes_[i].steps[v] == inner.steps[v] * inner.extent;
    if (side_by_side)
      inner.extent *= axes_[i].extent;
    else
      axes_[++last] = axes_[i];
  }
  count_ = std::min(count_, last + 1);
}

template <std::size_t n>
void NestOf<n>::put_longest_innermost() noexcept {
  std::size_t longest = 0;
  for (std::size_t i = 1; i < count_; ++i)
    if (axes_[i].extent > axes_[longest].extent) longest = i;
  std::swap(axes_[0], axes_[longest]);
}

template <std::size_t n>
typename NestOf<n>::Axis NestOf<n>::take_innermost() noexcept {
  if (count_ == 0) return {};
  const Axis taken = axes_[0];
  std::copy(axes_.begin() + 1, axes_.begin() + static_cast<std::ptrdiff_t>(count_), axes_.begin());
  --count_;
  return taken;
}

template <std::size_t n>
double NestOf<n>::elements() const noexcept {
  double count = is_empty_ ? 0 : 1;
  for (std::size_t i = 0; i < count_; ++i) count *= static_cast<double>(axes_[i].extent);
  return count;
}

template <std::size_t n>
void NestOf<n>::stay_in_inputs() noexcept {
  for (Axis& axis : axes_) std::fill(axis.steps.begin(), axis.steps.end() - 1, 0);
}

/// Up to two inputs, and the output.
using Nest = NestOf<3>;

/// out = alpha f + beta out.
struct Reducing {
  Reduction function{};
  DType in{};
  DType out{};
  bool multiplies = false;  // the elements of two inputs, in the types of `in`
  op::Scalar alpha;
  op::Scalar beta;
};
/// `at` and the steps are of the first input, the second (where there is one) and the output. Needs types that go
/// together.
void reduce_nests(const Reducing& what, const Nest::Pointers& at, Nest kept, Nest reduced, Team& team);

}  // namespace troupe::host
