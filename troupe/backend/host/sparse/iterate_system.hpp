// What every iteration has: the matrix, the preconditioner and the right side in this process's memory, and the report
// in which it keeps account of itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "troupe/backend/host/sparse/iterate_vectors.hpp"
#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/op/sparse_iterative.hpp"

namespace troupe::host {

/// Of numbers whose squares have all digits. No norm tells much smaller ones from zeros.
inline constexpr double kLeastNorm = 1.5e-154;

/// A square CSR matrix that multiplies vectors without gaps.
template <class T, class I>
class Rows {
 public:
  Rows(const op::SparseView& matrix, const HostViews& here) noexcept
      : lines(lines_of<I>(matrix, here)),
        values(here.data<T>(matrix.values)),
        vectors(here.team(), matrix.rows),
        row_bytes_(static_cast<std::int64_t>(sizeof(I)) + 3 * Vectors<T>::kSize +
                   (matrix.rows == 0 ? 0 : lines.stored / matrix.rows) *
                       static_cast<std::int64_t>(sizeof(I) + sizeof(T))) {}

  T row_times(std::int64_t row, const T* x) const noexcept {
    T sum{};
    for (std::int64_t i = lines.offsets[row]; i < lines.offsets[row + 1]; ++i)
      sum = sparse::plus_product(sum, values[i], x[lines.indices[i]]);
    return sum;
  }
  /// y = A x.
  void multiply(const T* x, T* y) const noexcept {
    vectors.each(row_bytes_, [&](std::int64_t row) { y[row] = row_times(row, x); });
  }
  /// y = A x, and z y for a vector z.
  SumOf<T> multiply_and_dot(const T* x, T* y, const T* z) const noexcept {
    return vectors.template sum<SumOf<T>>(row_bytes_, [&](std::int64_t row) {
      y[row] = row_times(row, x);
      return inner(z[row], y[row]);
    });
  }
  /// r = b - A x, and its norm. `step` is that of b.
  double residual(const T* b, std::int64_t step, const T* x, T* r) const noexcept {
    return std::sqrt(vectors.template sum<double>(row_bytes_, [&](std::int64_t row) {
      r[row] = b[row * step] - row_times(row, x);
      return square(r[row]);
    }));
  }

  sparse::Lines<I> lines;
  const T* values;
  Vectors<T> vectors;

 private:
  std::int64_t row_bytes_;
};

/// What stands for the inverse of the matrix. Triangles are solved row after row, by one thread.
template <class T, class I>
class Preconditioner {
 public:
  Preconditioner(Preconditioning kind, const Rows<T, I>& rows, const T* numbers) noexcept
      : kind_(kind), rows_(rows), numbers_(numbers) {}

  bool is_none() const noexcept { return kind_ == Preconditioning::none; }

  /// z = M r; they are not the same vector.
  void apply(const T* r, T* z) const noexcept {
    switch (kind_) {
      case Preconditioning::none: rows_.vectors.copy(r, z); break;
      case Preconditioning::jacobi:
        rows_.vectors.each(3 * Vectors<T>::kSize, [&](std::int64_t i) { z[i] = times(numbers_[i], r[i]); });
        break;
      case Preconditioning::ilu0:
        solve_forwards(r, z, true);
        solve_upper(z);
        break;
      case Preconditioning::ic0:
        solve_forwards(r, z, false);
        solve_adjoint(z);
        break;
    }
  }
  /// The same, and r z.
  SumOf<T> apply_and_dot(const T* r, T* z) const noexcept {
    if (kind_ == Preconditioning::jacobi)
      return rows_.vectors.template sum<SumOf<T>>(3 * Vectors<T>::kSize, [&](std::int64_t i) {
        z[i] = times(numbers_[i], r[i]);
        return inner(r[i], z[i]);
      });
    apply(r, z);
    return rows_.vectors.dot(r, z);
  }

 private:
  /// L z = r.
  void solve_forwards(const T* r, T* z, bool is_unit) const noexcept {
    const sparse::Lines<I>& lines = rows_.lines;
    for (std::int64_t row = 0; row < lines.count; ++row) {
      const std::int64_t end = lines.offsets[row + 1];
      T sum = r[row];
      std::int64_t i = lines.offsets[row];
      for (; i < end && lines.indices[i] < row; ++i) sum = sparse::plus_product(sum, -numbers_[i], z[lines.indices[i]]);
      z[row] = is_unit ? sum : sum / diagonal(row, i);
    }
  }
  /// U z = z.
  void solve_upper(T* z) const noexcept {
    const sparse::Lines<I>& lines = rows_.lines;
    for (std::int64_t row = lines.count; row-- > 0;) {
      T sum = z[row];
      std::int64_t i = lines.offsets[row + 1] - 1;
      for (; i >= lines.offsets[row] && lines.indices[i] > row; --i)
        sum = sparse::plus_product(sum, -numbers_[i], z[lines.indices[i]]);
      z[row] = sum / diagonal(row, i);
    }
  }
  /// The adjoint of L, times z, is z.
  void solve_adjoint(T* z) const noexcept {
    const sparse::Lines<I>& lines = rows_.lines;
    for (std::int64_t row = lines.count; row-- > 0;) {
      std::int64_t i = sparse::first_not_below(lines.indices, lines.offsets[row], lines.offsets[row + 1], row);
      const T known = z[row] / diagonal(row, i);
      z[row] = known;
      while (--i >= lines.offsets[row]) {
        T& other = z[lines.indices[i]];
        other = sparse::plus_product(other, -sparse::conjugated(numbers_[i]), known);
      }
    }
  }
  /// NaN where the row has none at that place: factors were made of a matrix that has all of them.
  T diagonal(std::int64_t row, std::int64_t i) const noexcept {
    const sparse::Lines<I>& lines = rows_.lines;
    const bool is_there = i >= lines.offsets[row] && i < lines.offsets[row + 1] && lines.indices[i] == row;
    return is_there ? numbers_[i] : T(std::numeric_limits<RealOf<T>>::quiet_NaN());
  }

  Preconditioning kind_;
  const Rows<T, I>& rows_;
  const T* numbers_;
};

/// The next report, which begins as the last one. What the worker finds there is numbers, and nothing else: it bounds
/// nothing by them.
class Account {
 public:
  Account(double* report, const double* last, std::int64_t words, std::int64_t rounds) noexcept
      : report_(report), rounds_(rounds) {
    std::fill_n(report, words, 0.0);
    if (last != nullptr) std::copy_n(last, op::kReportWords, report);
  }
  double& operator[](std::int64_t word) const noexcept { return report_[word]; }

  bool goes_on() const noexcept { return report_[op::kReportStopped] == 0 && done_ < rounds_; }
  void stop(Stopped why) const noexcept { report_[op::kReportStopped] = 1.0 + static_cast<double>(why); }
  /// A round is done. Stops where its residual is no number.
  void note(double residual) noexcept {
    report_[op::kReportWords + done_++] = residual;
    report_[op::kReportRounds] += 1;
    report_[op::kReportResidual] = residual;
    if (!std::isfinite(residual)) stop(Stopped::not_finite);
  }
  /// The last residual is this one, after all.
  void correct(double residual) noexcept {
    if (done_ > 0) report_[op::kReportWords + done_ - 1] = residual;
    report_[op::kReportResidual] = residual;
  }
  void begin(double residual) const noexcept {
    report_[op::kReportFirst] = report_[op::kReportResidual] = residual;
    if (!std::isfinite(residual)) stop(Stopped::not_finite);
  }
  bool is_small(double residual) const noexcept { return residual <= report_[op::kReportLimit]; }

 private:
  double* report_;
  std::int64_t rounds_;
  std::int64_t done_ = 0;
};

/// A linear system on its way: x and r are the first two vectors of the state of those methods that keep r.
template <class T, class I>
struct System {
  template <class Op>
  System(const Op& op, const HostViews& here) noexcept
      : rows(op.matrix, here),
        vectors(rows.vectors),
        preconditioner(op.preconditioning, rows,
                       op.preconditioning == Preconditioning::none ? nullptr : here.data<T>(op.preconditioner)),
        b(here.data<T>(op.b)),
        b_step(op.b.strides[0]),
        n(op.matrix.rows),
        state(here.data<T>(op.next_state)),
        scratch(here.data<T>(op.scratch)),
        account(here.data<double>(op.next_report), op.is_first ? nullptr : here.data<double>(op.report),
                op.next_report.shape[0], op.rounds) {
    if (!op.is_first) vectors.times_as_long(op.next_state.shape[0]).copy(here.data<T>(op.state), state);
  }

  System(const System&) = delete;
  System& operator=(const System&) = delete;

  T* state_vector(std::int64_t i) const noexcept { return state + i * n; }
  T* scratch_vector(std::int64_t i) const noexcept { return scratch + i * n; }

  /// The first x, its residual into `r`, and the limit. A right side of zeros has a solution of zeros.
  template <class Op>
  void begin(const Op& op, const HostViews& here, T* r) noexcept {
    T* const x = state;
    const double size = std::sqrt(
        vectors.template sum<double>(Vectors<T>::kSize, [&](std::int64_t i) { return square(b[i * b_step]); }));
    const bool is_zero = size == 0 && has_only_zeros();
    account[op::kReportLimit] = op.relative ? op.tolerance * size : op.tolerance;
    if (op.starts_at && !is_zero)
      vectors.copy(here.data<T>(op.state), x, op.state.strides[0]);
    else
      vectors.fill(x, T{});
    account.begin(rows.residual(b, b_step, x, r));
    if (!account.goes_on()) return;
    if (!is_zero && size < kLeastNorm && account[op::kReportLimit] < kLeastNorm)
      account.stop(Stopped::breakdown);
    else if (account.is_small(account[op::kReportFirst]))
      account.stop(Stopped::converged);
  }
  bool has_only_zeros() const noexcept {
    return vectors.template sum<double>(Vectors<T>::kSize,
                                        [&](std::int64_t i) { return b[i * b_step] == T{} ? 0.0 : 1.0; }) == 0;
  }
  /// The residual seems small enough: computes it anew into `r`, and stops when that is so, or when it has not become
  /// half as large since the last time.
  void confirm(T* r) noexcept { settle(rows.residual(b, b_step, state, r)); }
  /// The same, of a residual that was computed anew.
  void settle(double now) noexcept {
    const double last = account[op::kReportRestart];
    account.correct(now);
    account[op::kReportRestart] = now;
    if (!std::isfinite(now))
      account.stop(Stopped::not_finite);
    else if (account.is_small(now))
      account.stop(Stopped::converged);
    else if (last > 0 && now > last / 2)
      account.stop(Stopped::stagnated);
  }

  Rows<T, I> rows;
  const Vectors<T>& vectors;
  Preconditioner<T, I> preconditioner;
  const T* b;
  std::int64_t b_step;
  std::int64_t n;
  T* state;
  T* scratch;
  Account account;
};

}  // namespace troupe::host
