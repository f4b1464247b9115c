// Linear algebra as data. Views carry their strides, so a transposed matrix is a view like any other: it needs no flag,
// and no op has to say how its operands lie in memory. A vector is a matrix of one column where an op takes matrices:
// so gemv, ger, symv, trsv and trmv are gemm, symm, trsm and trmm, and a backend calls what is best for the shape.
#pragma once

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kBlasFamily{2};

inline bool is_zero(const Scalar& scalar) noexcept { return scalar.as<std::complex<double>>() == 0.0; }

/// y += alpha x, element by element: the same shape and type, any strides; x and y do not overlap.
struct Axpy {
  static constexpr Kind kKind = kind(kBlasFamily, 0);
  static constexpr std::string_view kName = "blas.axpy";
  Scalar alpha;
  View x;
  View y;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.reads("x", self.x);
    v.updates("y", self.y);
  }
  friend bool operator==(const Axpy&, const Axpy&) = default;
};

/// c = alpha a b + beta c, for matrices of one type, or i8 into i32, any strides; c overlaps neither. Of rank 3 they
/// are batches of matrices, one product each. With a beta of zero, c is written only: what was in it, NaN too, does not
/// matter.
struct Gemm {
  static constexpr Kind kKind = kind(kBlasFamily, 1);
  static constexpr std::string_view kName = "blas.gemm";
  Scalar alpha;
  Scalar beta;
  Compute compute = Compute::standard;
  bool conjugates_a = false;
  bool conjugates_b = false;
  View a;
  View b;
  View c;

  bool reads_c() const noexcept { return !is_zero(beta); }
  /// Multiplications, for the guess at how long it takes.
  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("compute", self.compute);
    v.field("conjugates_a", self.conjugates_a);
    v.field("conjugates_b", self.conjugates_b);
    v.reads("a", self.a);
    v.reads("b", self.b);
    if (self.reads_c())  // known by now to the decoder, too
      v.updates("c", self.c);
    else
      v.writes("c", self.c);
  }
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// x = alpha x.
struct Scal {
  static constexpr Kind kKind = kind(kBlasFamily, 2);
  static constexpr std::string_view kName = "blas.scal";
  Scalar alpha;
  View x;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.updates("x", self.x);
  }
  friend bool operator==(const Scal&, const Scal&) = default;
};

/// x and y change places, or are rotated: x' = c x + s y, y' = c y - conj(s) x.
struct Rot {
  static constexpr Kind kKind = kind(kBlasFamily, 3);
  static constexpr std::string_view kName = "blas.rot";
  bool swaps = false;
  Scalar cosine;  // real
  Scalar sine;
  View x;
  View y;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("swaps", self.swaps);
    v.field("cosine", self.cosine);
    v.field("sine", self.sine);
    v.updates("x", self.x);
    v.updates("y", self.y);
  }
  friend bool operator==(const Rot&, const Rot&) = default;
};

/// out = the sum of x y, element by element; of conj(x) y if it conjugates.
struct Dot {
  static constexpr Kind kKind = kind(kBlasFamily, 4);
  static constexpr std::string_view kName = "blas.dot";
  bool conjugates = false;
  View x;
  View y;
  View out;  // one element
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("conjugates", self.conjugates);
    v.reads("x", self.x);
    v.reads("y", self.y);
    v.writes("out", self.out);
  }
  friend bool operator==(const Dot&, const Dot&) = default;
};

/// One number that says something of x.
struct Measure {
  static constexpr Kind kKind = kind(kBlasFamily, 5);
  static constexpr std::string_view kName = "blas.measure";
  enum class What : std::uint8_t {
    nrm2,   // the square root of the sum of squares
    asum,   // the sum of absolute values; of complex numbers, of both their parts
    iamax,  // where, in row-major order, the largest is, by absolute value as asum takes it; the first of several
    iamin,
    kLast = iamin,
  };
  What what = What::nrm2;
  View x;
  View out;  // one element: of x's type without its imaginary part, or an i64
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("what", self.what);
    v.reads("x", self.x);
    v.writes("out", self.out);
  }
  friend bool operator==(const Measure&, const Measure&) = default;
};

/// c = alpha a b + beta c, where a is symmetric or Hermitian and only one half of it is read.
struct Symm {
  static constexpr Kind kKind = kind(kBlasFamily, 6);
  static constexpr std::string_view kName = "blas.symm";
  Scalar alpha;
  Scalar beta;
  Triangle triangle = Triangle::lower;
  bool hermitian = false;
  View a;
  View b;
  View c;
  bool reads_c() const noexcept { return !is_zero(beta); }
  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("triangle", self.triangle);
    v.field("hermitian", self.hermitian);
    v.reads("a", self.a);
    v.reads("b", self.b);
    if (self.reads_c())
      v.updates("c", self.c);
    else
      v.writes("c", self.c);
  }
  friend bool operator==(const Symm&, const Symm&) = default;
};

/// One half of c = alpha a a' + beta c, or of alpha a b' + alpha' b a' + beta c when there is a b, where ' is the
/// transpose, or, if it is Hermitian, the conjugate transpose. The other half of c stays as it is.
struct Syrk {
  static constexpr Kind kKind = kind(kBlasFamily, 7);
  static constexpr std::string_view kName = "blas.syrk";
  Scalar alpha;
  Scalar beta;
  Triangle triangle = Triangle::lower;
  bool hermitian = false;
  bool has_b = false;
  View a;
  View b;
  View c;
  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("triangle", self.triangle);
    v.field("hermitian", self.hermitian);
    v.field("has_b", self.has_b);
    v.reads("a", self.a);
    if (self.has_b) v.reads("b", self.b);
    if (is_zero(self.beta))
      v.writes_part("c", self.c);  // a triangle
    else
      v.updates("c", self.c);
  }
  friend bool operator==(const Syrk&, const Syrk&) = default;
};

/// out = alpha a b, or the solution of a out = alpha b, where a is triangular.
struct Triangular {
  static constexpr Kind kKind = kind(kBlasFamily, 8);
  static constexpr std::string_view kName = "blas.triangular";
  Scalar alpha;
  Triangle triangle = Triangle::lower;
  bool solves = false;
  bool unit_diagonal = false;  // the diagonal is not read, and taken for ones
  bool conjugates_a = false;
  View a;
  View b;
  View out;
  View verdict;  // of one that solves: 0, or the first row with a zero on the diagonal, counted from 1
  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("triangle", self.triangle);
    v.field("solves", self.solves);
    v.field("unit_diagonal", self.unit_diagonal);
    v.field("conjugates_a", self.conjugates_a);
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.writes("out", self.out);
    if (self.solves) v.writes("verdict", self.verdict);
  }
  friend bool operator==(const Triangular&, const Triangular&) = default;
};

/// c = alpha a + beta b, element by element, each conjugated or not.
struct Geam {
  static constexpr Kind kKind = kind(kBlasFamily, 9);
  static constexpr std::string_view kName = "blas.geam";
  Scalar alpha;
  Scalar beta;
  bool conjugates_a = false;
  bool conjugates_b = false;
  View a;
  View b;
  View c;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("conjugates_a", self.conjugates_a);
    v.field("conjugates_b", self.conjugates_b);
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.writes("c", self.c);
  }
  friend bool operator==(const Geam&, const Geam&) = default;
};

/// Several products at once, each of matrices of its own: a, b and c of the first, of the second, and so on.
struct GemmGroup {
  static constexpr Kind kKind = kind(kBlasFamily, 10);
  static constexpr std::string_view kName = "blas.gemm_group";
  static constexpr std::size_t kMaxProducts = kMaxViews / 3;
  Scalar alpha;
  Scalar beta;
  Compute compute = Compute::standard;
  std::vector<Argument> matrices;
  std::uint64_t work() const noexcept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("compute", self.compute);
    v.arguments("matrices", self.matrices);
  }
  friend bool operator==(const GemmGroup&, const GemmGroup&) = default;
};

using BlasOps = OpList<Axpy, Gemm, Scal, Rot, Dot, Measure, Symm, Syrk, Triangular, Geam, GemmGroup>;

Result<void> check(const Axpy& op);
Result<void> check(const Gemm& op);
Result<void> check(const Scal& op);
Result<void> check(const Rot& op);
Result<void> check(const Dot& op);
Result<void> check(const Measure& op);
Result<void> check(const Symm& op);
Result<void> check(const Syrk& op);
Result<void> check(const Triangular& op);
Result<void> check(const Geam& op);
Result<void> check(const GemmGroup& op);

/// Multiplications in a product of these two matrices, or batches of them; the largest number when there are more.
std::uint64_t multiplications(const View& a, const View& c) noexcept;

inline std::uint64_t Gemm::work() const noexcept { return multiplications(a, c); }
inline std::uint64_t Symm::work() const noexcept { return multiplications(a, c); }
inline std::uint64_t Syrk::work() const noexcept { return multiplications(a, c); }
inline std::uint64_t Triangular::work() const noexcept { return multiplications(a, out); }

}  // namespace troupe::inline v0::op
