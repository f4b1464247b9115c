// Linear algebra as data. Views carry their strides, so a transposed matrix is a view like any other: it needs no flag,
// and no op has to say how its operands lie in memory.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

/// y += alpha x, element by element: the same shape and type, any strides; x and y do not overlap.
struct Axpy {
  static constexpr Kind kKind = kind(Family::blas, 0);
  static constexpr std::string_view kName = "blas.axpy";
  Scalar alpha;
  View x;
  View y;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field(self.alpha);
    v.reads(self.x);
    v.updates(self.y);
  }
  friend bool operator==(const Axpy&, const Axpy&) = default;
};

/// c = alpha a b + beta c, for matrices of one type, any strides; c overlaps neither. With a beta of zero, c is written
/// only: what was in it, NaN too, does not matter.
struct Gemm {
  static constexpr Kind kKind = kind(Family::blas, 1);
  static constexpr std::string_view kName = "blas.gemm";
  Scalar alpha;
  Scalar beta;
  View a;
  View b;
  View c;

  bool reads_c() const noexcept { return beta.as<std::complex<double>>() != 0.0; }
  /// Multiplications, for the guess at how long it takes.
  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field(self.alpha);
    v.field(self.beta);
    v.reads(self.a);
    v.reads(self.b);
    if (self.reads_c())  // known by now to the decoder, too
      v.updates(self.c);
    else
      v.writes(self.c);
  }
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

using BlasOps = OpList<Axpy, Gemm>;

inline std::uint64_t Gemm::work() const noexcept {
  if (a.shape.rank() != 2 || c.shape.rank() != 2) return 0;
  // All of one type: of mixed signs, clang calls a function that only its own runtime library has.
  std::uint64_t work = 0;
  const bool is_huge = __builtin_mul_overflow(std::uint64_t(c.shape[0]), std::uint64_t(c.shape[1]), &work) ||
                       __builtin_mul_overflow(work, std::uint64_t(a.shape[1]), &work);
  return is_huge ? ~std::uint64_t{0} : work;
}

}  // namespace troupe::op
