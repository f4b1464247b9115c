// Reductions on the CPU, of one array or of the products of two: the latter is a contraction by loops. What is kept and
// what is reduced are two nests of loops, of any depth; elements go through blocks of f64, so every type is one code.
// A team shares the work in a way that depends on the shapes alone, so every team gives the same bits.
#pragma once

#include <array>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::host {

/// Axes that are walked together in up to two inputs and the output, steps in bytes.
class Nest {
 public:
  static constexpr std::size_t kMaxAxes = std::size_t{3} * kMaxRank;
  using Steps = host::Steps<3>;
  using Pointers = host::Pointers<3>;
  struct Axis {
    std::int64_t extent = 1;
    Steps steps{};
  };

  /// Axes of extent 1 are left out.
  void add(std::int64_t extent, const Steps& steps) noexcept;
  /// Puts the axis that is densest in the first input innermost, and merges axes that lie side by side.
  void arrange() noexcept;
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
  std::array<Axis, kMaxAxes> axes_;  // the innermost first
  std::size_t count_ = 0;
  bool is_empty_ = false;
};

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
