// Iterations on a CSR matrix as data: an op does up to `rounds` of them on the device, and says in its report whether
// it has come to an end. It reads the state that the op before it left and writes the next one whole, so it can be run
// again at any time: a step is whole or did not happen.
//
// Part of the sparse family: op/sparse.hpp has the matrix and the list of all its ops, and includes this.
#pragma once

#include "troupe/core/kinds.hpp"
#include "troupe/op/count_at_most.hpp"
#include "troupe/op/sparse_matrix.hpp"

namespace troupe::inline v0::op {

/// The methods whose ops have the same fields.
enum class Method : std::uint8_t { cg, bicgstab, gmres, power };
constexpr std::string_view name(Method method) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"cg", "bicgstab", "gmres", "power"};
  return kNames[static_cast<std::size_t>(method)];
}

/// Rounds of one op, of a restart of GMRES, and vectors of a basis of Lanczos, at most.
inline constexpr std::int64_t kMaxRoundsPerOp = 4096;
inline constexpr std::int64_t kMaxBasis = 256;
/// Of a solve, so that its history can be kept.
inline constexpr std::int64_t kMaxRounds = 100'000'000;

/// A report is f64: these words first, and then the residual after each round of the op.
enum ReportWord : std::uint8_t {
  kReportStopped,   // 0 while it goes on, else 1 + `Stopped`
  kReportRounds,    // of all ops
  kReportResidual,  // after the last round
  kReportFirst,     // before the first round
  kReportLimit,     // a residual of this or less has converged
  kReportRestart,   // the residual when it was last computed anew; 0 before
  kReportValue,     // an eigenvalue: real and imaginary part
  kReportValueImaginary,
  kReportScalars,  // what the method itself takes along
  kReportWords = 16,
};

/// For as many products with the matrix, with the vectors around them.
inline std::uint64_t iterative_work(const SparseView& matrix, std::int64_t products) noexcept {
  return static_cast<std::uint64_t>(products) *
         (count_at_most(matrix.values, std::uint64_t{1} << 50) + 8 * static_cast<std::uint64_t>(matrix.rows));
}

/// Vectors that a method keeps from op to op, and those that it needs meanwhile.
constexpr std::int64_t state_vectors(Method method) noexcept {
  constexpr std::array<std::int64_t, 4> kCounts{3, 5, 1, 1};
  return kCounts[static_cast<std::size_t>(method)];
}
constexpr std::int64_t scratch_vectors(Method method, std::int64_t rounds) noexcept {
  constexpr std::array<std::int64_t, 4> kCounts{2, 3, 3, 1};
  return kCounts[static_cast<std::size_t>(method)] + (method == Method::gmres ? rounds : 0);
}

/// Up to `rounds` rounds of one method. Reports have room for them; GMRES does one restart, of as many.
template <Method kMethod>
struct SparseIterate {
  static constexpr Kind kKind = kind(kSparseFamily, 12 + static_cast<std::uint8_t>(kMethod));
  static constexpr std::array<std::string_view, 4> kNames{"sparse.cg", "sparse.bicgstab", "sparse.gmres",
                                                          "sparse.power"};
  static constexpr std::string_view kName = kNames[static_cast<std::size_t>(kMethod)];
  static constexpr bool kSolves = kMethod != Method::power;

  double tolerance = 0;
  bool relative = true;    // to the norm of b; of `power` to the eigenvalue
  bool is_first = true;    // there is no state yet
  bool starts_at = false;  // the first op: `state` is a vector to begin with
  std::int64_t rounds = 1;
  Preconditioning preconditioning = Preconditioning::none;
  SparseView matrix;
  View preconditioner;  // [rows] of jacobi, else an element for each of the matrix
  View b;
  View state;
  View report;
  View next_state;
  View next_report;
  View scratch;

  bool reads_state() const noexcept { return !is_first || starts_at; }
  std::uint64_t work() const noexcept { return iterative_work(matrix, rounds); }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("tolerance", self.tolerance);
    v.field("relative", self.relative);
    v.field("is_first", self.is_first);
    v.field("starts_at", self.starts_at);
    v.field("rounds", self.rounds);
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    if constexpr (kSolves) {
      v.field("preconditioning", self.preconditioning);
      if (self.preconditioning != Preconditioning::none) v.reads("preconditioner", self.preconditioner);
      v.reads("b", self.b);
    }
    if (self.reads_state()) v.reads("state", self.state);
    if (!self.is_first) v.reads("report", self.report);
    v.writes("next_state", self.next_state);
    v.writes("next_report", self.next_report);
    v.writes("scratch", self.scratch);
  }
  friend bool operator==(const SparseIterate&, const SparseIterate&) = default;
};
using SparseCg = SparseIterate<Method::cg>;
using SparseBicgstab = SparseIterate<Method::bicgstab>;
using SparseGmres = SparseIterate<Method::gmres>;
using SparsePower = SparseIterate<Method::power>;

/// Ritz vectors that a cycle of Lanczos hands to the next one; one more vector goes with them.
constexpr std::int64_t kept_vectors(std::int64_t wanted, std::int64_t basis) noexcept {
  return wanted + (basis - wanted) / 2;
}
/// Words of its report: for each of those, its eigenvalue and what couples it to the vector behind them.
constexpr std::int64_t lanczos_words(std::int64_t wanted, std::int64_t basis) noexcept {
  return kReportWords + 2 * kept_vectors(wanted, basis);
}

/// One cycle of Lanczos with a thick restart, for a symmetric or Hermitian matrix: the basis grows to `basis` vectors,
/// each orthogonal to all others, and the best Ritz vectors begin the next one. They are in the state, best first.
struct SparseLanczos {
  static constexpr Kind kKind = kind(kSparseFamily, 16);
  static constexpr std::string_view kName = "sparse.lanczos";
  double tolerance = 0;
  bool relative = true;  // to the largest Ritz value
  bool is_first = true;
  bool starts_at = false;
  Extreme which = Extreme::largest;
  std::int64_t wanted = 1;
  std::int64_t basis = 1;
  SparseView matrix;
  View state;
  View report;
  View next_state;
  View next_report;
  View scratch;  // [basis + 2, rows]

  bool reads_state() const noexcept { return !is_first || starts_at; }
  std::uint64_t work() const noexcept { return 8 * iterative_work(matrix, basis); }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("tolerance", self.tolerance);
    v.field("relative", self.relative);
    v.field("is_first", self.is_first);
    v.field("starts_at", self.starts_at);
    v.field("which", self.which);
    v.field("wanted", self.wanted);
    v.field("basis", self.basis);
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    if (self.reads_state()) v.reads("state", self.state);
    if (!self.is_first) v.reads("report", self.report);
    v.writes("next_state", self.next_state);
    v.writes("next_report", self.next_report);
    v.writes("scratch", self.scratch);
  }
  friend bool operator==(const SparseLanczos&, const SparseLanczos&) = default;
};

/// What a preconditioner is made of: the inverse diagonal, or factors that stand where the matrix has elements. The
/// verdict names the row whose pivot will not do.
template <Preconditioning kPreconditioning>
struct SparsePrecondition {
  static constexpr Kind kKind = kind(kSparseFamily, 16 + static_cast<std::uint8_t>(kPreconditioning));
  static constexpr std::array<std::string_view, 4> kNames{"", "sparse.jacobi", "sparse.ilu0", "sparse.ic0"};
  static constexpr std::string_view kName = kNames[static_cast<std::size_t>(kPreconditioning)];

  SparseView matrix;
  View out;
  View verdict;

  std::uint64_t work() const noexcept { return iterative_work(matrix, 4); }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    v.writes("out", self.out);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const SparsePrecondition&, const SparsePrecondition&) = default;
};
using SparseJacobi = SparsePrecondition<Preconditioning::jacobi>;
using SparseIlu0 = SparsePrecondition<Preconditioning::ilu0>;
using SparseIc0 = SparsePrecondition<Preconditioning::ic0>;

// What users and workers are told is the same: the library asks these two before it makes arrays for an op.

/// A square CSR matrix, a tolerance above 0.
Result<void> check_iterative(std::string_view call, const SparseView& matrix, double tolerance);
/// A vector of the matrix's type, with an element for each row; any stride.
Result<void> check_iterative_vector(std::string_view call, const SparseView& matrix, std::string_view what,
                                    const View& view);

Result<void> check(const SparseCg& op);
Result<void> check(const SparseBicgstab& op);
Result<void> check(const SparseGmres& op);
Result<void> check(const SparsePower& op);
Result<void> check(const SparseLanczos& op);
Result<void> check(const SparseJacobi& op);
Result<void> check(const SparseIlu0& op);
Result<void> check(const SparseIc0& op);

}  // namespace troupe::inline v0::op
