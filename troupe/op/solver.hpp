// Dense solvers as data: factorizations, linear systems, least squares, singular values and eigenvalues.
// Everything is a batch: matrices have rank 3, [batch, rows, columns], vectors rank 2, and a single one is a batch of
// one; any strides. Nothing is computed in place, so every op can be run again. Each writes its verdict, one word for
// each matrix: 0 when all went well, else where it did not. What went well is finite.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kSolverFamily{6};

/// Verdicts that are no position in a matrix.
inline constexpr std::int32_t kNotFinite = -1;       // there is a NaN or an infinity in it
inline constexpr std::int32_t kNotPivots = -2;       // the pivots are not those of a factorization
inline constexpr std::int32_t kRankDeficient = -3;   // its columns, or rows, depend on each other
inline constexpr std::int32_t kNoConvergence = -4;   // what came out is not a number
inline constexpr std::int32_t kSidesNotFinite = -5;  // there is a NaN or an infinity in its right-hand sides
inline constexpr std::int32_t kOverflow = -6;        // of finite numbers came some that are not

/// What is known of the matrix of a linear system.
enum class MatrixKind : std::uint8_t { general, positive, kLast = positive };
enum class SvdAlgorithm : std::uint8_t { bidiagonal, jacobi, kLast = jacobi };
/// Singular or eigen-: the values alone, or the vectors, too.
enum class Spectrum : std::uint8_t { values, vectors, kLast = vectors };

/// Roughly the multiplications for a batch of matrices; 0 for what is none.
std::uint64_t cubic_work(const View& matrices) noexcept;

/// a x = b, by LU, or by Cholesky for a Hermitian positive definite a, of which the lower triangle is read.
struct Solve {
  static constexpr Kind kKind = kind(kSolverFamily, 0);
  static constexpr std::string_view kName = "solver.solve";
  MatrixKind matrix_kind = MatrixKind::general;
  View a;  // [batch, n, n]
  View b;  // [batch, n, right-hand sides]
  View x;  // as b
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("matrix_kind", self.matrix_kind);
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.writes("x", self.x);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Solve&, const Solve&) = default;
};

struct Inverse {
  static constexpr Kind kKind = kind(kSolverFamily, 1);
  static constexpr std::string_view kName = "solver.inverse";
  View a;
  View out;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.writes("out", self.out);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Inverse&, const Inverse&) = default;
};

/// A number for each matrix; that of a singular one is 0.
struct Determinant {
  static constexpr Kind kKind = kind(kSolverFamily, 2);
  static constexpr std::string_view kName = "solver.determinant";
  View a;
  View out;  // [batch]
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.writes("out", self.out);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Determinant&, const Determinant&) = default;
};

/// p a = l u: l below the diagonal, on which it is 1, u on and above it; a need not be square. Row i was exchanged with
/// row pivots[i], for i from 0 upwards.
struct Lu {
  static constexpr Kind kKind = kind(kSolverFamily, 3);
  static constexpr std::string_view kName = "solver.lu";
  View a;
  View lu;
  View pivots;  // [batch, the lesser of rows and columns], i32
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.writes("lu", self.lu);
    v.writes("pivots", self.pivots);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Lu&, const Lu&) = default;
};

struct LuSolve {
  static constexpr Kind kKind = kind(kSolverFamily, 4);
  static constexpr std::string_view kName = "solver.lu_solve";
  View lu;
  View pivots;
  View b;
  View x;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("lu", self.lu);
    v.reads("pivots", self.pivots);
    v.reads("b", self.b);
    v.writes("x", self.x);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const LuSolve&, const LuSolve&) = default;
};

/// a = l l^H, with zeros above the diagonal of l; the lower triangle of a is read.
struct Cholesky {
  static constexpr Kind kKind = kind(kSolverFamily, 5);
  static constexpr std::string_view kName = "solver.cholesky";
  View a;
  View l;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.writes("l", self.l);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Cholesky&, const Cholesky&) = default;
};

struct CholeskySolve {
  static constexpr Kind kKind = kind(kSolverFamily, 6);
  static constexpr std::string_view kName = "solver.cholesky_solve";
  View l;
  View b;
  View x;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("l", self.l);
    v.reads("b", self.b);
    v.writes("x", self.x);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const CholeskySolve&, const CholeskySolve&) = default;
};

/// a = q r. With k the lesser extent of a [m, n]: q [m, k] and r [k, n], or q [m, m] and r [m, n].
struct Qr {
  static constexpr Kind kKind = kind(kSolverFamily, 7);
  static constexpr std::string_view kName = "solver.qr";
  View a;
  View q;
  View r;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.writes("q", self.q);
    v.writes("r", self.r);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Qr&, const Qr&) = default;
};

/// The x for which |a x - b| is least, or of all those with a x = b the smallest, by QR.
struct LeastSquares {
  static constexpr Kind kKind = kind(kSolverFamily, 8);
  static constexpr std::string_view kName = "solver.least_squares";
  View a;  // [batch, m, n]
  View b;  // [batch, m, right-hand sides]
  View x;  // [batch, n, right-hand sides]
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.writes("x", self.x);
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const LeastSquares&, const LeastSquares&) = default;
};

/// a = u s vt, s falling. With k the lesser extent of a [m, n]: u [m, k] and vt [k, n], or u [m, m] and vt [n, n].
struct Svd {
  static constexpr Kind kKind = kind(kSolverFamily, 9);
  static constexpr std::string_view kName = "solver.svd";
  SvdAlgorithm algorithm = SvdAlgorithm::bidiagonal;
  Spectrum spectrum = Spectrum::vectors;
  View a;
  View s;   // [batch, k], real
  View u;   // this one and the next
  View vt;  // for the vectors only
  View verdict;
  bool wants_vectors() const noexcept { return spectrum == Spectrum::vectors; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("algorithm", self.algorithm);
    v.field("spectrum", self.spectrum);
    v.reads("a", self.a);
    v.writes("s", self.s);
    if (self.wants_vectors()) {  // known by now to the decoder, too
      v.writes("u", self.u);
      v.writes("vt", self.vt);
    }
    v.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Svd&, const Svd&) = default;
};

/// a v = v w for a Hermitian a, or a v = b v w with a positive definite b, w rising, the vectors in the columns of v.
/// The lower triangles are read.
struct Eigh {
  static constexpr Kind kKind = kind(kSolverFamily, 10);
  static constexpr std::string_view kName = "solver.eigh";
  bool is_generalized = false;
  Spectrum spectrum = Spectrum::vectors;
  View a;
  View b;  // for a generalized problem only
  View w;  // [batch, n], real
  View v;  // for the vectors only
  View verdict;
  bool wants_vectors() const noexcept { return spectrum == Spectrum::vectors; }
  template <class Self, class V>
  static void describe(Self& self, V& visitor) {
    visitor.field("is_generalized", self.is_generalized);
    visitor.field("spectrum", self.spectrum);
    visitor.reads("a", self.a);
    if (self.is_generalized) visitor.reads("b", self.b);
    visitor.writes("w", self.w);
    if (self.wants_vectors()) visitor.writes("v", self.v);
    visitor.writes("verdict", self.verdict);
  }
  std::uint64_t work() const noexcept { return cubic_work(a); }
  friend bool operator==(const Eigh&, const Eigh&) = default;
};

using SolverOps =
    OpList<Solve, Inverse, Determinant, Lu, LuSolve, Cholesky, CholeskySolve, Qr, LeastSquares, Svd, Eigh>;

Result<void> check(const Solve& op);
Result<void> check(const Inverse& op);
Result<void> check(const Determinant& op);
Result<void> check(const Lu& op);
Result<void> check(const LuSolve& op);
Result<void> check(const Cholesky& op);
Result<void> check(const CholeskySolve& op);
Result<void> check(const Qr& op);
Result<void> check(const LeastSquares& op);
Result<void> check(const Svd& op);
Result<void> check(const Eigh& op);

}  // namespace troupe::inline v0::op
