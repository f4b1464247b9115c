// What iterative solvers are told and what they give: `gpu.sparse().cg(a, b, x)` and its neighbours in sparse.hpp.
//
//   const Solved end = CO_TRY(co_await gpu.sparse().cg(a, b, x, {.tolerance = 1e-10}));
//   if (!end.converged()) log(name(end.stopped));   // max_rounds, breakdown, not_positive_definite, ...
//
// The device does many rounds in one op and stops by itself. What goes from op to op lies in arrays of which each op
// reads one version and writes the next, so a worker that dies in the middle costs its rounds and nothing else.
#pragma once

#include <complex>
#include <coroutine>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <utility>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {
class Iteration;
}

/// Stands for the inverse of a matrix: `sparse().jacobi(a)`, `ilu0(a)` or `ic0(a)` makes one, and it can be used for
/// every system of that matrix, also when the values of the matrix have changed a little since. A handle, cheap to
/// copy.
class Preconditioner {
 public:
  /// None: a handle without anything behind it.
  Preconditioner() = default;
  explicit operator bool() const noexcept { return kind_ != Preconditioning::none; }
  /// What it is made of.
  Preconditioning kind() const noexcept { return kind_; }
  /// The inverse diagonal, or an element of the factors for each element of the matrix.
  const AnyArray& numbers() const noexcept { return numbers_; }

 private:
  friend class Sparse;
  friend class detail::Iteration;
  Preconditioning kind_ = Preconditioning::none;
  AnyArray numbers_;
  AnyArray indices_;  // those of the matrix that it was made of: no other matrix has this block
};

/// What `cg` and `bicgstab` can be told.
struct SolveOptions {
  double tolerance = 1e-8;           // the norm of b - A x ...
  bool relative = true;              // ... divided by that of b, or as it is
  std::int64_t max_rounds = 10'000;  // 1 to 100,000,000
  std::int64_t rounds_per_op = 64;   // 1 to 4096: how often a stop is noticed, and what a crash can cost
  bool starts_at_x = false;          // x has a first guess; otherwise it begins with zeros, and x is only written
};
/// What `gmres` can be told.
struct GmresOptions {
  double tolerance = 1e-8;           // as in `SolveOptions`
  bool relative = true;              // as in `SolveOptions`
  std::int64_t max_rounds = 10'000;  // 1 to 100,000,000
  std::int64_t restart = 32;         // 1 to 256: vectors of the basis, and rounds of an op
  bool starts_at_x = false;          // as in `SolveOptions`
};
/// What `power` can be told.
struct PowerOptions {
  double tolerance = 1e-8;           // the norm of A x - value x, for an x of norm 1 ...
  bool relative = true;              // ... divided by the absolute value, or as it is
  std::int64_t max_rounds = 10'000;  // 1 to 100,000,000
  std::int64_t rounds_per_op = 64;   // 1 to 4096
  bool starts_at_x = false;          // x has a vector to begin with; otherwise one at random, the same each time
};
/// What `lanczos` can be told.
struct LanczosOptions {
  double tolerance = 1e-8;           // the norm of A v - value v of each vector ...
  bool relative = true;              // ... divided by the largest eigenvalue found, or as it is
  Extreme which = Extreme::largest;  // or the smallest, with their signs
  std::int64_t max_rounds = 300;     // a round builds the whole basis up
  std::int64_t basis = 0;            // vectors, at most 256; 0: twice as many as are wanted, and 20 at least
};
static_assert(std::is_trivially_destructible_v<SolveOptions> && std::is_trivially_destructible_v<GmresOptions> &&
                  std::is_trivially_destructible_v<PowerOptions> && std::is_trivially_destructible_v<LanczosOptions>,
              "safe inside a co_await with g++ 12");

/// How an iteration ended. One that did not converge is not an error: x has what it had reached by then.
struct Solved {
  Stopped stopped = Stopped::max_rounds;  // why
  std::int64_t rounds = 0;                // how many it took
  double residual = 0;                    // after the last one
  std::vector<double> history;  // the residual after each round; of cg, bicgstab and gmres the first one before

  /// Whether the residual, computed anew at the end, is within the tolerance.
  bool converged() const noexcept { return stopped == Stopped::converged; }
};
/// What `power` gives.
struct FoundEigenvalue : Solved {
  std::complex<double> value;  // that of largest absolute value; real for real matrices
};
/// What `lanczos` gives.
struct FoundEigenvalues : Solved {
  std::vector<double> values;  // the most extreme one first
};

namespace detail {

/// What ends an iteration from outside.
struct IterationLimits {
  std::optional<Duration> deadline;
  std::stop_token stop;
  std::source_location where;
};

/// Does what `System::run` does with a task of the device's system.
template <class R>
Result<R> run_iteration(const Device& device, Task<Result<R>> task);

}  // namespace detail

/// An iteration on its way to its end: await it, or call `get`. Nothing is submitted before. It takes one op after
/// another, each when the one before has ended.
template <class R>
class [[nodiscard("an iteration begins when it is awaited, or by get()")]] IterativeCall {
 public:
  using troupe_awaitable = void;
  using Start = Task<Result<R>> (*)(std::shared_ptr<detail::Iteration>, detail::IterationLimits);  // its method

  IterativeCall(Device device, std::shared_ptr<detail::Iteration> iteration, Start run) noexcept
      : device_(std::move(device)), iteration_(std::move(iteration)), run_(run) {}

  /// All of it must end within `limit` after it has begun: else `deadline_exceeded`, and x is as it was. An op that
  /// runs then is stopped together with its worker.
  IterativeCall&& deadline(Duration limit) && noexcept {
    limits_.deadline = limit;
    return std::move(*this);
  }
  /// Ends in `cancelled` when a stop is requested, and x is as it was. An op that runs then goes on to its end.
  IterativeCall&& cancel_on(std::stop_token token) && noexcept {
    limits_.stop = std::move(token);
    return std::move(*this);
  }

  /// Waits in this thread. Inside a handler it would hold up the dispatcher: there it ends in `invalid_argument`.
  [[nodiscard("it may have failed, and nothing else says so")]] Result<R> get(
      std::source_location where = std::source_location::current()) && {
    limits_.where = where;
    return detail::run_iteration<R>(device_, start());
  }

  /// For `co_await`: where in the program it is awaited.
  void troupe_awaited_at(const std::source_location& where) noexcept { limits_.where = where; }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiter) {
    task_.emplace(start());
    awaiter_.emplace(std::move(*task_).operator co_await());
    return awaiter_->await_suspend(waiter);
  }
  [[nodiscard("it may have failed, and nothing else says so")]] Result<R> await_resume() {
    return awaiter_->await_resume();
  }

  /// As a task, for `when_all` and `when_any`.
  // NOLINTNEXTLINE(google-explicit-constructor): so that calls can be put into a vector of tasks
  operator Task<Result<R>>() && { return start(); }

 private:
  Task<Result<R>> start() { return run_(std::move(iteration_), std::move(limits_)); }

  Device device_;
  std::shared_ptr<detail::Iteration> iteration_;  // shared with the task that it becomes
  Start run_;
  detail::IterationLimits limits_;
  std::optional<Task<Result<R>>> task_;
  std::optional<typename Task<Result<R>>::Awaiter> awaiter_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
