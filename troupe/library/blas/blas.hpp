// Linear algebra on a device: `gpu.blas()`. Matrices are two-dimensional arrays with any strides, so a transposed
// matrix is `a.transpose()`: a view, without a copy and without a flag. Row-major and column-major differ in their
// strides only. An output must not overlap an input.
//
//   CO_TRY(co_await gpu.blas().gemm(a, b.transpose(), c, {.alpha = 2.0f}));
//   const float product = CO_TRY(co_await gpu.blas().dot(x, y));
//
// A factor of 0 multiplies like any other: 0 times NaN is NaN. Only the old content of an output with a beta of 0 is
// not read.
//
// Types are f32, f64, c64 and c128, unless an op says more. Bad input is refused with `invalid_argument`, and a type
// that an op does not take with `unsupported`, before anything is submitted.
#pragma once

#include <ranges>
#include <span>
#include <vector>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What `gemm`, `gemm_group` and `gemv` can be told.
struct GemmOptions {
  detail::Factor alpha = 1.0;           // multiplies the product
  detail::Factor beta = 0.0;            // multiplies the old content of the output; with 0 that is not read
  bool conjugate_a = false;             // the elements of a are conjugated
  bool conjugate_b = false;             // those of b
  Compute compute = Compute::standard;  // tf32: f32 only, where the GPU has it; elsewhere it is f32
};
/// What `dot` can be told.
struct DotOptions {
  bool conjugate = false;  // the first vector
};
/// What `ger` can be told.
struct GerOptions {
  detail::Factor alpha = 1.0;  // multiplies the product
  bool conjugate = false;      // the second vector
};
/// What `symm` and `symv` can be told.
struct SymmOptions {
  detail::Factor alpha = 1.0;           // multiplies the product
  detail::Factor beta = 0.0;            // multiplies the old content of the output
  Triangle triangle = Triangle::lower;  // the half of the matrix that is read
  bool hermitian = false;               // instead of symmetric
  Side side = Side::left;               // where the symmetric matrix stands in the product
};
/// What `syrk`, `herk`, `syr2k` and `her2k` can be told.
struct SyrkOptions {
  detail::Factor alpha = 1.0;           // multiplies the product
  detail::Factor beta = 0.0;            // multiplies the old content of the output
  Triangle triangle = Triangle::lower;  // the half of the result that is written
};
/// What `trmv`, `trsv`, `trmm` and `trsm` can be told.
struct TriangularOptions {
  detail::Factor alpha = 1.0;           // multiplies the product
  Triangle triangle = Triangle::lower;  // the half of the matrix that is read
  bool unit_diagonal = false;           // the diagonal is not read; it counts as ones
  bool conjugate = false;               // the triangular matrix
  Side side = Side::left;               // where the triangular matrix stands in the product
};
/// What `geam` can be told.
struct GeamOptions {
  detail::Factor alpha = 1.0;  // multiplies a
  detail::Factor beta = 1.0;   // multiplies b
  bool conjugate_a = false;    // the elements of a are conjugated
  bool conjugate_b = false;    // those of b
};
static_assert(std::is_trivially_destructible_v<GemmOptions> && std::is_trivially_destructible_v<SymmOptions> &&
                  std::is_trivially_destructible_v<TriangularOptions>,
              "safe inside a co_await with g++ 12");

namespace detail {

/// A list of arrays, of whatever type.
template <class R>
concept ArrayList = std::ranges::forward_range<const R> && std::derived_from<std::ranges::range_value_t<R>, AnyArray>;

template <ArrayList R>
std::vector<AnyArray> listed(const R& arrays) {
  return {std::ranges::begin(arrays), std::ranges::end(arrays)};
}

}  // namespace detail

/// Vectors and matrices on a device: `gpu.blas()`.
class Blas {
 public:
  explicit Blas(Device device) noexcept : device_(std::move(device)) {}

  // ---- vectors: arrays of any one shape, any strides ----

  /// y += alpha x. Any type but bool.
  Call<void> axpy(detail::Factor alpha, const AnyArray& x, const AnyArray& y) const;
  /// x = alpha x.
  Call<void> scal(detail::Factor alpha, const AnyArray& x) const;
  /// y = x. Any type.
  Call<void> copy(const AnyArray& x, const AnyArray& y) const { return device_.copy(x, y); }
  /// Exchanges the elements of x and y.
  Call<void> swap(const AnyArray& x, const AnyArray& y) const;
  /// x' = cosine x + sine y, y' = cosine y - conj(sine) x.
  Call<void> rot(const AnyArray& x, const AnyArray& y, double cosine, detail::Factor sine) const;
  /// The sum of x y, element by element; 0 when there are no elements.
  template <Element T>
  Call<T> dot(const Array<T>& x, const Array<T>& y, DotOptions options = {}) const {
    return giving<T>([&](const AnyArray& out) { return dot_into(x, y, out, options); });
  }
  /// The square root of the sum of the squares of the absolute values.
  template <Element T>
  Call<detail::RealType<T>> nrm2(const Array<T>& x) const {
    return measure<detail::RealType<T>>(Measured::nrm2, x);
  }
  /// The sum of the absolute values. A complex number counts with the absolute values of both its parts.
  template <Element T>
  Call<detail::RealType<T>> asum(const Array<T>& x) const {
    return measure<detail::RealType<T>>(Measured::asum, x);
  }
  /// The index, from 0 and in row-major order, of the first element with the largest (or smallest) absolute value, as
  /// `asum` takes it. `invalid_argument` when there are no elements.
  Call<std::int64_t> iamax(const AnyArray& x) const { return measure<std::int64_t>(Measured::iamax, x); }
  /// The same with the smallest absolute value.
  Call<std::int64_t> iamin(const AnyArray& x) const { return measure<std::int64_t>(Measured::iamin, x); }

  // ---- a matrix and vectors ----

  /// y = alpha a x + beta y.
  Call<void> gemv(const AnyArray& a, const AnyArray& x, const AnyArray& y, GemmOptions options = {}) const;
  /// a += alpha x y^T.
  Call<void> ger(const AnyArray& x, const AnyArray& y, const AnyArray& a, GerOptions options = {}) const;
  /// y = alpha a x + beta y for a symmetric or Hermitian a.
  Call<void> symv(const AnyArray& a, const AnyArray& x, const AnyArray& y, SymmOptions options = {}) const;
  /// y = alpha a x for a triangular a.
  Call<void> trmv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options = {}) const;
  /// The y with a y = alpha x for a triangular a; `numerical_error` when a has a zero on its diagonal.
  Call<void> trsv(const AnyArray& a, const AnyArray& x, const AnyArray& y, TriangularOptions options = {}) const;

  // ---- matrices ----

  /// c = alpha a b + beta c: matrices of one floating-point or complex type, or i8 into i32. With a beta of 0 the old
  /// content of c is not read. Small floats are summed in f32. Arrays of rank 3 are batches, with one product for each.
  Call<void> gemm(const AnyArray& a, const AnyArray& b, const AnyArray& c, GemmOptions options = {}) const;
  /// Up to 64 such products in one op: c[i] = alpha a[i] b[i] + beta c[i]. The matrices may be anywhere, and each
  /// product may have its own shape; all must have one type.
  Call<void> gemm_group(std::span<const AnyArray> a, std::span<const AnyArray> b, std::span<const AnyArray> c,
                        GemmOptions options = {}) const;
  /// The same with lists of typed arrays, such as vectors of `Array<float>`.
  template <detail::ArrayList A, detail::ArrayList B, detail::ArrayList C>
    requires(!(detail::ContiguousOf<A, AnyArray> && detail::ContiguousOf<B, AnyArray> &&
               detail::ContiguousOf<C, AnyArray>))
  Call<void> gemm_group(const A& a, const B& b, const C& c, GemmOptions options = {}) const {
    return gemm_group(detail::listed(a), detail::listed(b), detail::listed(c), options);
  }
  /// c = alpha a b + beta c, or alpha b a + beta c, for a symmetric or Hermitian a.
  Call<void> symm(const AnyArray& a, const AnyArray& b, const AnyArray& c, SymmOptions options = {}) const;
  /// One half of c = alpha a a^T + beta c; the other half stays as it is.
  Call<void> syrk(const AnyArray& a, const AnyArray& c, SyrkOptions options = {}) const;
  /// One half of c = alpha a a^H + beta c, with real factors.
  Call<void> herk(const AnyArray& a, const AnyArray& c, SyrkOptions options = {}) const;
  /// One half of c = alpha a b^T + alpha b a^T + beta c.
  Call<void> syr2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options = {}) const;
  /// One half of c = alpha a b^H + conj(alpha) b a^H + beta c, with a real beta.
  Call<void> her2k(const AnyArray& a, const AnyArray& b, const AnyArray& c, SyrkOptions options = {}) const;
  /// c = alpha a b, or alpha b a, for a triangular a.
  Call<void> trmm(const AnyArray& a, const AnyArray& b, const AnyArray& c, TriangularOptions options = {}) const;
  /// The x with a x = alpha b, or x a = alpha b, for a triangular a; `numerical_error` when a has a zero on its
  /// diagonal.
  Call<void> trsm(const AnyArray& a, const AnyArray& b, const AnyArray& x, TriangularOptions options = {}) const;
  /// c = alpha a + beta b, element by element; with `a.transpose()` it transposes.
  Call<void> geam(const AnyArray& a, const AnyArray& b, const AnyArray& c, GeamOptions options = {}) const;

 private:
  enum class Measured : std::uint8_t { nrm2, asum, iamax, iamin };  // as in the op

  /// A call that gives the number which `make(out)` writes.
  template <Element R, class Make>
  Call<R> giving(const Make& make) const {
    Result<HostArray<R>> out = device_.host_array<R>({1});
    if (!out) return fail(std::move(out).error());
    return {make(*out), std::move(*out)};
  }
  template <Element R>
  Call<R> measure(Measured what, const AnyArray& x) const {
    return giving<R>([&](const AnyArray& out) { return measure_into(what, x, out); });
  }
  Call<void> dot_into(const AnyArray& x, const AnyArray& y, const AnyArray& out, const DotOptions& options) const;
  Call<void> measure_into(Measured what, const AnyArray& x, const AnyArray& out) const;
  Call<void> triangular(bool solves, const AnyArray& a, const AnyArray& b, const AnyArray& out,
                        const TriangularOptions& options) const;
  Call<void> rank_k(const AnyArray& a, const AnyArray* b, const AnyArray& c, bool hermitian,
                    const SyrkOptions& options) const;

  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
