// Iterations from the app's side: arrays for the state in two versions, and one op after another until the report of
// one says that it is the last.
#include "troupe/library/sparse/iterative.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/scope/scope.hpp"
#include "troupe/library/sparse/sparse.hpp"
#include "troupe/library/sparse/sparse_verdict.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::inline v0 {
namespace detail {

/// Everything that an iteration was given, until it ends.
class Iteration {
 public:
  Iteration(std::string_view call, Device device, SparseMatrix matrix, AnyArray b, AnyArray x, Preconditioner by)
      : call_(call),
        device_(std::move(device)),
        matrix_(std::move(matrix)),
        b_(std::move(b)),
        x_(std::move(x)),
        preconditioner_(std::move(by)) {}

  double tolerance = 0;
  bool relative = true;
  bool starts_at_x = false;
  std::int64_t max_rounds = 0;
  std::int64_t rounds_per_op = 0;
  std::string_view rounds_name = "rounds_per_op";
  std::int64_t wanted = 0;
  std::int64_t basis = 0;
  Extreme which = Extreme::largest;

  template <op::Method kMethod, class R>
  static Task<Result<R>> run(std::shared_ptr<Iteration> self, IterationLimits limits);
  static Task<Result<FoundEigenvalues>> run_lanczos(std::shared_ptr<Iteration> self, IterationLimits limits);

 private:
  /// The arrays that go from op to op: an op reads those of one number and writes those of the other.
  struct Carried {
    std::array<AnyArray, 2> state;
    std::array<HostArray<double>, 2> report;
    AnyArray scratch;
    std::size_t next = 0;
  };

  Result<void> check_numbers() const;
  Result<void> check_vectors(bool has_b) const;
  Result<void> check_lanczos();
  Result<Carried> allocate(std::int64_t state_vectors, std::int64_t scratch_vectors, std::int64_t words) const;
  template <class Op>
  Op op_of(const Carried& carried, bool is_first) const;
  template <class Op>
  Call<void> call_of(const Carried& carried, const Op& op) const;
  Result<void> take(Solved& end, std::span<const double> report) const;
  Result<Call<void>> copy_out(const Carried& carried, std::int64_t vectors) const;

  std::string_view call_;
  Device device_;
  SparseMatrix matrix_;
  AnyArray b_;
  AnyArray x_;
  Preconditioner preconditioner_;
};

namespace {

Result<void> check_between(std::string_view call, std::string_view what, std::int64_t number, std::int64_t least,
                           std::int64_t most) {
  if (number >= least && number <= most) return {};
  return op::refuse(call, std::string(what) + " is " + std::to_string(number) + "; it must be " +
                              std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Result<void> Iteration::check_numbers() const {
  if (!matrix_) return op::refuse(call_, "the matrix is an empty handle: default-constructed or moved from");
  TROUPE_TRY(op::check_iterative(call_, matrix_.view(), tolerance));
  TROUPE_TRY(check_between(call_, "max_rounds", max_rounds, 1, op::kMaxRounds));
  return {};
}

Result<void> Iteration::check_vectors(bool has_b) const {
  TROUPE_TRY(check_between(call_, rounds_name, rounds_per_op, 1,
                           rounds_name == "restart" ? op::kMaxBasis : op::kMaxRoundsPerOp));
  TROUPE_TRY(DeviceParts::check(device_, call_, "x", x_));
  TROUPE_TRY(op::check_iterative_vector(call_, matrix_.view(), "x", x_.view()));
  TROUPE_TRY(op::check_apart(call_, {"x", x_.view()}, {"the values of the matrix", matrix_.values().view()}));
  if (!has_b) return {};
  TROUPE_TRY(DeviceParts::check(device_, call_, "b", b_));
  TROUPE_TRY(op::check_iterative_vector(call_, matrix_.view(), "b", b_.view()));
  TROUPE_TRY(op::check_apart(call_, {"x", x_.view()}, {"b", b_.view()}));
  if (!preconditioner_) return {};
  if (preconditioner_.indices_.block() != matrix_.indices_.block())
    return op::refuse(call_,
                      "the preconditioner was made of another matrix; make one of this matrix: its values may "
                      "change, its structure may not");
  return {};
}

Result<void> Iteration::check_lanczos() {
  const std::int64_t n = matrix_.rows();
  if (n < 1) return op::refuse(call_, "the matrix is 0 x 0; it must have a row");
  if (basis == 0) basis = std::max<std::int64_t>(2 * std::clamp<std::int64_t>(wanted, 0, op::kMaxBasis) + 1, 20);
  const bool is_given = basis > op::kMaxBasis || basis < 0;
  TROUPE_TRY(check_between(call_, "the number of eigenvalues", wanted, 1, std::min(n, op::kMaxBasis - 1)));
  if (is_given && basis != 2 * wanted + 1) TROUPE_TRY(check_between(call_, "basis", basis, 1, op::kMaxBasis));
  basis = std::min({basis, n, op::kMaxBasis});
  if (basis != n && basis <= wanted)
    return op::refuse(call_, "basis is " + std::to_string(basis) + " for " + std::to_string(wanted) +
                                 " eigenvalues; it must be larger");
  if (!x_) return {};
  TROUPE_TRY(DeviceParts::check(device_, call_, "vectors", x_));
  TROUPE_TRY(op::check_type(call_, {"vectors", x_.view()}, matrix_.dtype()));
  TROUPE_TRY(op::check_shape(call_, {"vectors", x_.view()}, {wanted, n}));
  return op::check_apart(call_, {"vectors", x_.view()}, {"the values of the matrix", matrix_.values().view()});
}

Result<Iteration::Carried> Iteration::allocate(std::int64_t state_vectors, std::int64_t scratch_vectors,
                                               std::int64_t words) const {
  Carried made;
  for (std::size_t i = 0; i < 2; ++i) {
    made.state[i] = AnyArray(matrix_.dtype());
    TROUPE_TRY(DeviceParts::allocate(device_, made.state[i], {state_vectors, matrix_.rows()}));
    made.report[i] = TROUPE_TRY(device_.host_array<double>({words}));
  }
  made.scratch = AnyArray(matrix_.dtype());
  TROUPE_TRY(DeviceParts::allocate(device_, made.scratch, {scratch_vectors, matrix_.rows()}));
  return made;
}

template <class Op>
Op Iteration::op_of(const Carried& carried, bool is_first) const {
  Op op;
  op.tolerance = tolerance;
  op.relative = relative;
  op.is_first = is_first;
  op.starts_at = is_first && starts_at_x;
  op.matrix = matrix_.view();
  const std::size_t next = carried.next, last = 1 - next;
  if (op.starts_at) op.state = x_.view();
  if (!is_first) {
    op.state = carried.state[last].view();
    op.report = carried.report[last].view();
  }
  op.next_state = carried.state[next].view();
  op.next_report = carried.report[next].view();
  op.scratch = carried.scratch.view();
  if constexpr (requires { op.b; }) {
    op.preconditioning = preconditioner_.kind();
    if (preconditioner_) op.preconditioner = preconditioner_.numbers_.view();
    if (b_) op.b = b_.view();
  }
  return op;
}

/// The arrays stand in the order in which the op describes its views.
template <class Op>
Call<void> Iteration::call_of(const Carried& carried, const Op& op) const {
  std::array<const AnyArray*, 10> arrays{&matrix_.offsets_, &matrix_.indices_, &matrix_.values_};
  std::size_t count = 3;
  const auto add = [&](const AnyArray& array) { arrays[count++] = &array; };
  const std::size_t next = carried.next, last = 1 - next;
  if (b_) {
    if (preconditioner_) add(preconditioner_.numbers_);
    add(b_);
  }
  if (op.starts_at) add(x_);
  if (!op.is_first) {
    add(carried.state[last]);
    add(carried.report[last]);
  }
  add(carried.state[next]);
  add(carried.report[next]);
  add(carried.scratch);
  return make_call(device_, op, std::span<const AnyArray* const>(arrays.data(), count));
}

/// What the worker says is a claim: numbers that cannot be are an error, and never an index. An op that neither stops
/// nor does a round would be followed by another for ever.
Result<void> Iteration::take(Solved& end, std::span<const double> report) const {
  const double stopped = report[op::kReportStopped], rounds = report[op::kReportRounds];
  const double done = rounds - static_cast<double>(end.rounds);
  if (!(stopped >= 0 && stopped <= 1.0 + static_cast<double>(Stopped::kLast)) || stopped != std::floor(stopped) ||
      !(done >= (stopped == 0 ? 1 : 0) && done <= static_cast<double>(report.size() - op::kReportWords)) ||
      done != std::floor(done))
    return fail(ErrorKind::internal, std::string(call_) + ": the report of the op makes no sense");
  end.residual = report[op::kReportResidual];
  const auto first = report.begin() + op::kReportWords;
  end.history.insert(end.history.end(), first, first + static_cast<std::ptrdiff_t>(done));
  end.rounds += static_cast<std::int64_t>(done);
  end.stopped = stopped == 0 ? Stopped::max_rounds : static_cast<Stopped>(static_cast<int>(stopped) - 1);
  return {};
}

/// The first vectors of the state, into x.
Result<Call<void>> Iteration::copy_out(const Carried& carried, std::int64_t vectors) const {
  const AnyArray rows = TROUPE_TRY(carried.state[carried.next].slice(0, 0, vectors));
  return device_.copy(TROUPE_TRY(rows.reshape(x_.shape())), x_);
}

template <op::Method kMethod, class R>
Task<Result<R>> Iteration::run(std::shared_ptr<Iteration> self, IterationLimits limits) {
  const Iteration& it = *self;
  constexpr bool kSolves = op::SparseIterate<kMethod>::kSolves;
  CO_TRY(it.check_numbers());
  CO_TRY(it.check_vectors(kSolves));
  const std::int64_t room = std::min(it.rounds_per_op, it.max_rounds);
  Carried carried =
      CO_TRY(it.allocate(op::state_vectors(kMethod), op::scratch_vectors(kMethod, room), op::kReportWords + room));
  Scope on(it.device_, ScopeOptions{.deadline = limits.deadline, .stop = limits.stop}, limits.where);
  R end;
  for (bool is_first = true;; is_first = false) {
    auto op = it.op_of<op::SparseIterate<kMethod>>(carried, is_first);
    op.rounds = std::min(room, it.max_rounds - end.rounds);
    Call<void> call = it.call_of(carried, op);
    ScopedCall<void> scoped = on.give(std::move(call));
    CO_TRY(co_await std::move(scoped));
    const std::span<const double> report = carried.report[carried.next].span();
    if (is_first && kSolves) end.history.push_back(report[op::kReportFirst]);
    CO_TRY(it.take(end, report));
    if constexpr (!kSolves) end.value = {report[op::kReportValue], report[op::kReportValueImaginary]};
    if (report[op::kReportStopped] != 0 || end.rounds >= it.max_rounds) break;
    carried.next = 1 - carried.next;
  }
  ScopedCall<void> copied = on.give(CO_TRY(it.copy_out(carried, 1)));
  CO_TRY(co_await std::move(copied));
  co_return end;
}

Task<Result<FoundEigenvalues>> Iteration::run_lanczos(std::shared_ptr<Iteration> self, IterationLimits limits) {
  Iteration& it = *self;
  CO_TRY(it.check_numbers());
  CO_TRY(it.check_lanczos());
  Carried carried = CO_TRY(
      it.allocate(op::kept_vectors(it.wanted, it.basis) + 1, it.basis + 2, op::lanczos_words(it.wanted, it.basis)));
  Scope on(it.device_, ScopeOptions{.deadline = limits.deadline, .stop = limits.stop}, limits.where);
  FoundEigenvalues end;
  for (bool is_first = true;; is_first = false) {
    auto op = it.op_of<op::SparseLanczos>(carried, is_first);
    op.which = it.which;
    op.wanted = it.wanted;
    op.basis = it.basis;
    Call<void> call = it.call_of(carried, op);
    ScopedCall<void> scoped = on.give(std::move(call));
    CO_TRY(co_await std::move(scoped));
    const std::span<const double> report = carried.report[carried.next].span();
    const std::size_t before = end.history.size();
    CO_TRY(it.take(end, report));
    end.history.resize(before);
    end.history.push_back(end.residual);
    end.values.assign(report.begin() + op::kReportWords, report.begin() + op::kReportWords + it.wanted);
    if (report[op::kReportStopped] != 0 || end.rounds >= it.max_rounds) break;
    carried.next = 1 - carried.next;
  }
  if (it.x_) {
    ScopedCall<void> copied = on.give(CO_TRY(it.copy_out(carried, it.wanted)));
    CO_TRY(co_await std::move(copied));
  }
  co_return end;
}

template <class R>
Result<R> run_iteration(const Device& device, Task<Result<R>> task) {
  return run_in(DeviceParts::state(device)->system(), std::move(task));
}
template Result<Solved> run_iteration(const Device&, Task<Result<Solved>>);
template Result<FoundEigenvalue> run_iteration(const Device&, Task<Result<FoundEigenvalue>>);
template Result<FoundEigenvalues> run_iteration(const Device&, Task<Result<FoundEigenvalues>>);

}  // namespace detail

namespace {

template <class Options>
std::shared_ptr<detail::Iteration> make_iteration(std::string_view call, const Device& device,
                                                  const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                                                  const Options& options, const Preconditioner& by = {}) {
  auto made = std::make_shared<detail::Iteration>(call, device, matrix, b, x, by);  // shared with the task to be
  made->tolerance = options.tolerance;
  made->relative = options.relative;
  made->max_rounds = options.max_rounds;
  if constexpr (requires { options.starts_at_x; }) made->starts_at_x = options.starts_at_x;
  if constexpr (requires { options.rounds_per_op; }) made->rounds_per_op = options.rounds_per_op;
  if constexpr (requires { options.restart; }) {
    made->rounds_per_op = options.restart;
    made->rounds_name = "restart";
  }
  if constexpr (requires { options.basis; }) {
    made->basis = options.basis;
    made->which = options.which;
  }
  return made;
}

}  // namespace

IterativeCall<Solved> Sparse::cg(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x, SolveOptions options,
                                 const Preconditioner& preconditioner) const {
  return {device_, make_iteration("cg", device_, matrix, b, x, options, preconditioner),
          &detail::Iteration::run<op::Method::cg, Solved>};
}
IterativeCall<Solved> Sparse::bicgstab(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                                       SolveOptions options, const Preconditioner& preconditioner) const {
  return {device_, make_iteration("bicgstab", device_, matrix, b, x, options, preconditioner),
          &detail::Iteration::run<op::Method::bicgstab, Solved>};
}
IterativeCall<Solved> Sparse::gmres(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                                    GmresOptions options, const Preconditioner& preconditioner) const {
  return {device_, make_iteration("gmres", device_, matrix, b, x, options, preconditioner),
          &detail::Iteration::run<op::Method::gmres, Solved>};
}
IterativeCall<FoundEigenvalue> Sparse::power(const SparseMatrix& matrix, const AnyArray& x,
                                             PowerOptions options) const {
  return {device_, make_iteration("power", device_, matrix, {}, x, options),
          &detail::Iteration::run<op::Method::power, FoundEigenvalue>};
}
IterativeCall<FoundEigenvalues> Sparse::lanczos(const SparseMatrix& matrix, std::int64_t count,
                                                LanczosOptions options) const {
  auto made = make_iteration("lanczos", device_, matrix, {}, {}, options);
  made->wanted = count;
  return {device_, std::move(made), &detail::Iteration::run_lanczos};
}
IterativeCall<FoundEigenvalues> Sparse::lanczos(const SparseMatrix& matrix, const AnyArray& vectors,
                                                LanczosOptions options) const {
  auto made = make_iteration("lanczos", device_, matrix, {}, vectors, options);
  made->wanted = vectors.rank() > 0 ? vectors.shape()[0] : 0;
  return {device_, std::move(made), &detail::Iteration::run_lanczos};
}

template <Preconditioning kKind>
Call<Preconditioner> Sparse::precondition(const SparseMatrix& matrix) const {
  using Op = op::SparsePrecondition<kKind>;
  if (!matrix)
    return op::refuse(Op::kName.substr(Op::kName.find('.') + 1),
                      "the matrix is an empty handle: default-constructed or moved from");
  Preconditioner made;
  made.kind_ = kKind;
  made.indices_ = matrix.indices_;
  made.numbers_ = AnyArray(matrix.dtype());
  const Shape shape{kKind == Preconditioning::jacobi ? matrix.rows() : matrix.nonzeros()};
  if (Result<void> room = DeviceParts::allocate(device_, made.numbers_, shape); !room) return fail(room.error());
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({op::kSparseVerdictWords});
  if (!verdict) return fail(verdict.error());
  const Op op{.matrix = matrix.view(), .out = made.numbers_.view(), .verdict = verdict->view()};
  const AnyArray* const arrays[] = {&matrix.offsets_, &matrix.indices_, &matrix.values_, &made.numbers_, &*verdict};
  return make_judged_call<Preconditioner>(device_, made, op, arrays, *verdict, judge_sparse);
}

Call<Preconditioner> Sparse::jacobi(const SparseMatrix& matrix) const {
  return precondition<Preconditioning::jacobi>(matrix);
}
Call<Preconditioner> Sparse::ilu0(const SparseMatrix& matrix) const {
  return precondition<Preconditioning::ilu0>(matrix);
}
Call<Preconditioner> Sparse::ic0(const SparseMatrix& matrix) const {
  return precondition<Preconditioning::ic0>(matrix);
}

}  // namespace troupe::inline v0
