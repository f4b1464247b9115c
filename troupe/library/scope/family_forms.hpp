// The functions of a scope that make the results of the families: a product with an epilogue, einsum, solvers, sparse
// matrices; and views, copies and casts of arrays. Each infers the shape of what it makes (inferred.hpp) and submits
// one op. `Scope` derives from this; users include troupe/library/scope/scope.hpp.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "troupe/library/blas/blas.hpp"
#include "troupe/library/matmul/matmul.hpp"
#include "troupe/library/primitives/primitives.hpp"
#include "troupe/library/scope/inferred.hpp"
#include "troupe/library/solver/solver.hpp"
#include "troupe/library/sparse/sparse.hpp"
#include "troupe/library/tensor/tensor.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// Says what to do about an expression that a scope cannot store by itself.
template <class X>
consteval bool is_of_known_type() {
  static_assert(
      Element<TypeOf<X>>,
      "this does not say of which type its elements are (arrays of several types, fractions of whole numbers, "
      "an AnyArray): eval<T>(expression) says it");
  return true;
}
/// An array of the device, or an expression whose type is known.
template <class X>
concept TypedTerm = ArrayOperand<X> && is_of_known_type<X>() &&
                    (std::derived_from<X, Array<TypeOf<X>>> || std::derived_from<X, ExpressionOf<TypeOf<X>>>);

/// `Self` is the scope.
template <class Self>
class FamilyForms {
 public:
  /// The line that calls, for errors.
  using Where = std::source_location;

  // ---- views, copies, casts ----

  /// `x.slice(...)`, a view; one that cannot be fails the scope.
  template <Element T>
  Array<T> slice(const Array<T>& x, int dimension, std::int64_t begin, std::int64_t end, std::int64_t step = 1,
                 Where where = Where::current()) {
    return view(x.slice(dimension, begin, end, step), where);
  }
  /// `x.select(...)`, a view.
  template <Element T>
  Array<T> select(const Array<T>& x, int dimension, std::int64_t index, Where where = Where::current()) {
    return view(x.select(dimension, index), where);
  }
  /// `x.reshape(...)`, a view.
  template <Element T>
  Array<T> reshape(const Array<T>& x, const Shape& shape, Where where = Where::current()) {
    return view(x.reshape(shape), where);
  }
  /// `x.permute(...)`, a view: `copy` makes an array of it.
  template <Element T>
  Array<T> permute(const Array<T>& x, std::initializer_list<int> order, Where where = Where::current()) {
    return view(x.permute(order), where);
  }
  /// `x.broadcast(...)`, a view that can be read.
  template <Element T>
  Array<T> broadcast(const Array<T>& x, const Shape& shape, Where where = Where::current()) {
    return view(x.broadcast(shape), where);
  }
  /// The same elements in an array of their own, side by side: of a view, such as `copy(x.transpose())`, also.
  template <Element T>
  Array<T> copy(const Array<T>& x, Where where = Where::current()) {
    return made<T>(x.shape(), where, [&](const AnyArray& out) { return gpu().copy(x, out); });
  }
  /// The same converted to another type: `cast<double>(x)`.
  template <Element T>
  Array<T> cast(const AnyArray& x, Where where = Where::current()) {
    return made<T>(x.shape(), where, [&](const AnyArray& out) { return gpu().cast(x, out); });
  }

  // ---- products ----

  /// The product of matrices, or of batches of them, with an epilogue, as one op:
  /// `matmul(x, w, {.activation = Activation::relu, .bias = &b})`. The result has the operands' type.
  template <TypedTerm A, TypedTerm B>
  auto matmul(const A& a, const B& b, MatmulOptions options, Where where = Where::current()) {
    using T = TypeOf<A>;
    static_assert(std::same_as<T, TypeOf<B>>,
                  "matmul takes two operands of one type: eval<T>(...) converts the other one");
    const auto& left = term(a, where);
    const auto& right = term(b, where);
    return made<T>(shape_of_product(left.shape(), right.shape()), where,
                   [&](const AnyArray& out) { return gpu().matmul().multiply(left, right, out, options); });
  }
  /// alpha a b, or alpha b a with `Side::right`, for a symmetric or Hermitian a, of which one half is read.
  template <TypedTerm A, TypedTerm B>
  auto symm(const A& a, const B& b, SymmOptions options = {}, Where where = Where::current()) {
    return multiplied(a, b, where, [&](const auto& left, const auto& right, const AnyArray& out) {
      return gpu().blas().symm(left, right, out, options);
    });
  }
  /// alpha a b, or alpha b a with `Side::right`, for a triangular a.
  template <TypedTerm A, TypedTerm B>
  auto trmm(const A& a, const B& b, TriangularOptions options = {}, Where where = Where::current()) {
    return multiplied(a, b, where, [&](const auto& left, const auto& right, const AnyArray& out) {
      return gpu().blas().trmm(left, right, out, options);
    });
  }
  /// The sum over all letters that are not in the output: `einsum("ij->ji", a)`, `einsum("ik,kj->ij", a, b)`.
  template <TypedTerm A>
  auto einsum(std::string_view text, const A& a, EinsumOptions options = {}, Where where = Where::current()) {
    const auto& one = term(a, where);
    return made<TypeOf<A>>(shape_of_einsum(gpu(), text, std::array<const AnyArray*, 1>{&one}), where,
                           [&](const AnyArray& out) { return gpu().tensor().einsum(text, one, out, options); });
  }
  template <TypedTerm A, TypedTerm B>
  auto einsum(std::string_view text, const A& a, const B& b, EinsumOptions options = {},
              Where where = Where::current()) {
    static_assert(std::same_as<TypeOf<A>, TypeOf<B>>,
                  "einsum takes operands of one type: eval<T>(...) converts the other one");
    const auto& one = term(a, where);
    const auto& two = term(b, where);
    return made<TypeOf<A>>(shape_of_einsum(gpu(), text, std::array<const AnyArray*, 2>{&one, &two}), where,
                           [&](const AnyArray& out) { return gpu().tensor().einsum(text, one, two, out, options); });
  }
  /// The same of a list of arrays: `einsum("ij,jk,kl->il", {a, b, d})`.
  template <Element T>
  Array<T> einsum(std::string_view text, std::span<const Array<T>> operands, EinsumOptions options = {},
                  Where where = Where::current()) {
    return made<T>(shape_of_einsum(gpu(), text, Operands(operands).all()), where,
                   [&](const AnyArray& out) { return gpu().tensor().einsum(text, Operands(operands), out, options); });
  }
  template <Element T>
  Array<T> einsum(std::string_view text, std::initializer_list<Array<T>> operands, EinsumOptions options = {},
                  Where where = Where::current()) {
    return einsum(text, std::span<const Array<T>>(operands.begin(), operands.size()), options, where);
  }

  // ---- linear systems: matrices [n, n], right-hand sides [n] or [n, k], and batches of them ----

  /// The x with a x = b.
  template <TypedTerm A, TypedTerm B>
  auto solve(const A& a, const B& b, Where where = Where::current()) {
    return solved(a, b, where, [&](const auto& left, const auto& right, const AnyArray& x) {
      return gpu().solver().solve(left, right, x);
    });
  }
  /// The same for a Hermitian positive definite a, of which the lower triangle is read.
  template <TypedTerm A, TypedTerm B>
  auto solve_positive(const A& a, const B& b, Where where = Where::current()) {
    return solved(a, b, where, [&](const auto& left, const auto& right, const AnyArray& x) {
      return gpu().solver().solve_positive(left, right, x);
    });
  }
  /// The x for which |a x - b| is least, or the smallest one with a x = b.
  template <TypedTerm A, TypedTerm B>
  auto least_squares(const A& a, const B& b, Where where = Where::current()) {
    return solved(a, b, where, [&](const auto& left, const auto& right, const AnyArray& x) {
      return gpu().solver().least_squares(left, right, x);
    });
  }
  /// The x with a x = alpha b for a triangular a; x a = alpha b with `Side::right`.
  template <TypedTerm A, TypedTerm B>
  auto solve_triangular(const A& a, const B& b, TriangularOptions options = {}, Where where = Where::current()) {
    static_assert(std::same_as<TypeOf<A>, TypeOf<B>>,
                  "a matrix and its right-hand sides have one type: eval<T>(...) converts the other one");
    const auto& left = term(a, where);
    const auto& right = term(b, where);
    return made<TypeOf<A>>(right.shape(), where, [&](const AnyArray& x) {
      return right.rank() == 1 ? gpu().blas().trsv(left, right, x, options)
                               : gpu().blas().trsm(left, right, x, options);
    });
  }
  /// The inverse.
  template <TypedTerm A>
  auto inverse(const A& a, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    return made<TypeOf<A>>(matrix.shape(), where,
                           [&](const AnyArray& out) { return gpu().solver().inverse(matrix, out); });
  }
  /// The determinant, [1]; of a batch [batch, n, n] those of its matrices, [batch].
  template <TypedTerm A>
  auto determinant(const A& a, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    const Array<TypeOf<A>> batch = matrix.rank() == 2 ? broadcast(matrix, with_batch(matrix.shape()), where) : matrix;
    return made<TypeOf<A>>(Shape{batch.rank() > 0 ? batch.shape()[0] : 0}, where,
                           [&](const AnyArray& out) { return gpu().solver().determinants(batch, out); });
  }
  /// The factors of p a = l u in one array, and the pivots, for `lu_solve`: `const auto [lu, pivots] = on.lu(a);`
  template <TypedTerm A>
  auto lu(const A& a, Where where = Where::current()) {
    using T = TypeOf<A>;
    const auto& matrix = term(a, where);
    const MatrixShapes shapes(matrix.shape());
    std::pair<Array<T>, Array<std::int32_t>> out;
    run_into(
        where, [&] { return gpu().solver().lu(matrix, out.first, out.second); }, Made{out.first, matrix.shape()},
        Made{out.second, shapes.vector(shapes.lesser())});
    return out;
  }
  /// The x with a x = b, with what `lu` gave for a.
  template <Element T, TypedTerm B>
  auto lu_solve(const std::pair<Array<T>, Array<std::int32_t>>& factors, const B& b, Where where = Where::current()) {
    return solved(factors.first, b, where, [&](const auto& left, const auto& right, const AnyArray& x) {
      return gpu().solver().lu_solve(left, factors.second, right, x);
    });
  }
  /// The l with a = l l^H for a Hermitian positive definite a, of which the lower triangle is read.
  template <TypedTerm A>
  auto cholesky(const A& a, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    return made<TypeOf<A>>(matrix.shape(), where,
                           [&](const AnyArray& l) { return gpu().solver().cholesky(matrix, l); });
  }
  /// The x with a x = b, with the l that `cholesky` gave for a.
  template <TypedTerm L, TypedTerm B>
  auto cholesky_solve(const L& l, const B& b, Where where = Where::current()) {
    return solved(l, b, where, [&](const auto& left, const auto& right, const AnyArray& x) {
      return gpu().solver().cholesky_solve(left, right, x);
    });
  }
  /// a = q r, thin: `const auto [q, r] = on.qr(a);`
  template <TypedTerm A>
  auto qr(const A& a, Where where = Where::current()) {
    using T = TypeOf<A>;
    const auto& matrix = term(a, where);
    const MatrixShapes shapes(matrix.shape());
    std::pair<Array<T>, Array<T>> out;
    run_into(
        where, [&] { return gpu().solver().qr(matrix, out.first, out.second); },
        Made{out.first, shapes.matrix(shapes.rows, shapes.lesser())},
        Made{out.second, shapes.matrix(shapes.lesser(), shapes.columns)});
    return out;
  }

  // ---- singular values and eigenvalues ----

  /// a = u diag(s) vt, thin: `const auto [u, s, vt] = on.svd(a);`
  template <TypedTerm A>
  auto svd(const A& a, SvdOptions options = {}, Where where = Where::current()) {
    using T = TypeOf<A>;
    const auto& matrix = term(a, where);
    const MatrixShapes shapes(matrix.shape());
    std::tuple<Array<T>, Array<RealType<T>>, Array<T>> out;
    auto& [u, s, vt] = out;
    run_into(
        where,
        [&] { return gpu().solver().svd(matrix, std::get<0>(out), std::get<1>(out), std::get<2>(out), options); },
        Made{u, shapes.matrix(shapes.rows, shapes.lesser())}, Made{s, shapes.vector(shapes.lesser())},
        Made{vt, shapes.matrix(shapes.lesser(), shapes.columns)});
    return out;
  }
  /// The singular values alone, descending.
  template <TypedTerm A>
  auto singular_values(const A& a, SvdOptions options = {}, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    const MatrixShapes shapes(matrix.shape());
    return made<RealType<TypeOf<A>>>(shapes.vector(shapes.lesser()), where, [&](const AnyArray& s) {
      return gpu().solver().singular_values(matrix, s, options);
    });
  }
  /// The eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian a: `const auto [w, v] = on.eigh(a);`
  template <TypedTerm A>
  auto eigh(const A& a, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    return eigenpairs<TypeOf<A>>(
        matrix.shape(), where, [&](const AnyArray& w, const AnyArray& v) { return gpu().solver().eigh(matrix, w, v); });
  }
  /// The same of a v = w b v for a positive definite b.
  template <TypedTerm A, TypedTerm B>
  auto eigh(const A& a, const B& b, Where where = Where::current()) {
    static_assert(std::same_as<TypeOf<A>, TypeOf<B>>, "eigh takes two matrices of one type");
    const auto& left = term(a, where);
    const auto& right = term(b, where);
    return eigenpairs<TypeOf<A>>(left.shape(), where, [&](const AnyArray& w, const AnyArray& v) {
      return gpu().solver().eigh(left, right, w, v);
    });
  }
  /// The eigenvalues alone.
  template <TypedTerm A>
  auto eigenvalues(const A& a, Where where = Where::current()) {
    const auto& matrix = term(a, where);
    const MatrixShapes shapes(matrix.shape());
    return made<RealType<TypeOf<A>>>(shapes.vector(shapes.rows), where,
                                     [&](const AnyArray& w) { return gpu().solver().eigenvalues(matrix, w); });
  }

  // ---- sparse matrices ----

  /// alpha times the product of a sparse matrix and a vector or a dense matrix of its type.
  template <TypedTerm X>
  auto multiply(const SparseMatrix& matrix, const X& x, SparseMultiplyOptions options = {},
                Where where = Where::current()) {
    const auto& right = term(x, where);
    const std::int64_t rows = options.transpose ? matrix.columns() : matrix.rows();
    return made<TypeOf<X>>(with_rows(right.shape(), rows), where,
                           [&](const AnyArray& y) { return gpu().sparse().multiply(matrix, right, y, options); });
  }
  /// The x with triangle x = alpha b, for a triangle of a sparse matrix.
  template <TypedTerm B>
  auto solve(const SparseMatrix& matrix, const B& b, SparseSolveOptions options = {}, Where where = Where::current()) {
    const auto& right = term(b, where);
    return made<TypeOf<B>>(right.shape(), where,
                           [&](const AnyArray& x) { return gpu().sparse().solve(matrix, right, x, options); });
  }
  /// A sparse matrix as a dense array; `T` is its type.
  template <Element T>
  Array<T> to_dense(const SparseMatrix& matrix, Where where = Where::current()) {
    return made<T>(Shape{matrix.rows(), matrix.columns()}, where,
                   [&](const AnyArray& out) { return gpu().sparse().to_dense(matrix, out); });
  }

  // ---- primitives ----

  /// What is put together along an axis: `scan(Combine::sum, x)` is NumPy's cumsum.
  template <TypedTerm X>
  auto scan(Combine function, const X& x, ScanOptions options = {}, Where where = Where::current()) {
    const auto& in = term(x, where);
    return made<TypeOf<X>>(in.shape(), where,
                           [&](const AnyArray& y) { return gpu().primitives().scan(function, in, y, options); });
  }
  /// Each row in order.
  template <TypedTerm X>
  auto sort(const X& x, SortOptions options = {}, Where where = Where::current()) {
    const auto& keys = term(x, where);
    return made<TypeOf<X>>(keys.shape(), where,
                           [&](const AnyArray& sorted) { return gpu().primitives().sort(keys, sorted, options); });
  }
  /// The same with values: `const auto [sorted, moved] = on.sort_pairs(keys, values);`
  template <TypedTerm K, TypedTerm V>
  auto sort_pairs(const K& x, const V& y, SortOptions options = {}, Where where = Where::current()) {
    const auto& keys = term(x, where);
    const auto& values = term(y, where);
    std::pair<Array<TypeOf<K>>, Array<TypeOf<V>>> out;
    run_into(
        where, [&] { return gpu().primitives().sort(keys, values, out.first, out.second, options); },
        Made{out.first, keys.shape()}, Made{out.second, values.shape()});
    return out;
  }
  /// Where in its row the key is that comes to place i.
  template <TypedTerm X>
  Array<std::int64_t> argsort(const X& x, SortOptions options = {}, Where where = Where::current()) {
    const auto& keys = term(x, where);
    return made<std::int64_t>(keys.shape(), where, [&](const AnyArray& indices) {
      return gpu().primitives().argsort(keys, indices, options);
    });
  }
  /// The k greatest of each row, and where they are: `const auto [best, places] = on.top_k(x, 5);`
  template <TypedTerm X>
  auto top_k(const X& x, std::int64_t k, TopKOptions options = {}, Where where = Where::current()) {
    const auto& keys = term(x, where);
    const Shape shape = with_extent(keys.shape(), options.axis, k);
    std::pair<Array<TypeOf<X>>, Array<std::int64_t>> out;
    run_into(
        where, [&] { return gpu().primitives().top_k(keys, out.first, out.second, options); }, Made{out.first, shape},
        Made{out.second, shape});
    return out;
  }
  /// Where in its row the greatest element is.
  template <TypedTerm X>
  Array<std::int64_t> argmax(const X& x, RowOptions options = {}, Where where = Where::current()) {
    const auto& in = term(x, where);
    return made<std::int64_t>(without_axis(in.shape(), options.axis), where,
                              [&](const AnyArray& indices) { return gpu().primitives().argmax(in, indices, options); });
  }
  /// Where the least one is.
  template <TypedTerm X>
  Array<std::int64_t> argmin(const X& x, RowOptions options = {}, Where where = Where::current()) {
    const auto& in = term(x, where);
    return made<std::int64_t>(without_axis(in.shape(), options.axis), where,
                              [&](const AnyArray& indices) { return gpu().primitives().argmin(in, indices, options); });
  }
  /// How many elements of an ascending vector are less than each key.
  template <TypedTerm S, TypedTerm K>
  Array<std::int64_t> lower_bound(const S& in, const K& of, Where where = Where::current()) {
    const auto& sorted = term(in, where);
    const auto& keys = term(of, where);
    return made<std::int64_t>(keys.shape(), where, [&](const AnyArray& places) {
      return gpu().primitives().lower_bound(sorted, keys, places);
    });
  }
  /// How many are less or equal.
  template <TypedTerm S, TypedTerm K>
  Array<std::int64_t> upper_bound(const S& in, const K& of, Where where = Where::current()) {
    const auto& sorted = term(in, where);
    const auto& keys = term(of, where);
    return made<std::int64_t>(keys.shape(), where, [&](const AnyArray& places) {
      return gpu().primitives().upper_bound(sorted, keys, places);
    });
  }
  /// How many elements are in each of so many equal bins.
  template <TypedTerm X>
  Array<std::int64_t> histogram(const X& x, double low, double high, std::int64_t bins,
                                Where where = Where::current()) {
    const auto& in = term(x, where);
    return made<std::int64_t>(Shape{bins}, where, [&](const AnyArray& counts) {
      return gpu().primitives().histogram(in, low, high, counts);
    });
  }
  /// x at these indices along an axis: rows of x unless told.
  template <TypedTerm X, TypedTerm I>
  auto gather(const X& x, const I& at, RowOptions options = {0}, Where where = Where::current()) {
    const auto& from = term(x, where);
    const auto& indices = term(at, where);
    return made<TypeOf<X>>(shape_of_gathered(from.shape(), indices.shape(), options.axis), where,
                           [&](const AnyArray& y) { return gpu().primitives().gather(from, indices, y, options); });
  }

 private:
  /// An array that is made, and its shape.
  struct Made {
    AnyArray& array;
    Shape shape;
  };

  FamilyForms() = default;
  friend Self;
  Self& self() noexcept { return static_cast<Self&>(*this); }
  const Device& gpu() noexcept { return self().device(); }
  template <class X>
  decltype(auto) term(const X& x, const Where& where) {
    return self().term(x, where);
  }

  /// Allocates what an op makes, and submits it, unless a shape or the memory is not there.
  template <class MakeCall, class... M>
  void run_into(const Where& where, const MakeCall& make_call, M... made) {
    if ((self().allocate(made.array, made.shape, where) && ...)) self().run(make_call(), where);
  }
  template <Element Out, class MakeCall>
  Array<Out> made(const Result<Shape>& shape, const Where& where, const MakeCall& make_call) {
    Array<Out> out;
    if (shape)
      run_into(where, [&] { return make_call(out); }, Made{out, *shape});
    else
      self().fail_with(shape.error().at(where));
    return out;
  }
  template <Element T>
  Array<T> view(Result<Array<T>> made, const Where& where) {
    if (made) return *std::move(made);
    self().fail_with(made.error().at(where));
    return {};
  }
  /// The product of a square matrix and b, on either side, is as large as b.
  template <class A, class B, class MakeCall>
  auto multiplied(const A& a, const B& b, const Where& where, const MakeCall& make_call) {
    static_assert(std::same_as<TypeOf<A>, TypeOf<B>>,
                  "a product takes two matrices of one type: eval<T>(...) converts the other one");
    const auto& left = term(a, where);
    const auto& right = term(b, where);
    return made<TypeOf<A>>(right.shape(), where, [&](const AnyArray& out) { return make_call(left, right, out); });
  }
  template <class A, class B, class MakeCall>
  auto solved(const A& a, const B& b, const Where& where, const MakeCall& make_call) {
    static_assert(std::same_as<TypeOf<A>, TypeOf<B>>,
                  "a matrix and its right-hand sides have one type: eval<T>(...) converts the other one");
    const auto& left = term(a, where);
    const auto& right = term(b, where);
    return made<TypeOf<A>>(shape_of_solution(left.shape(), right.shape()), where,
                           [&](const AnyArray& x) { return make_call(left, right, x); });
  }
  template <Element T, class MakeCall>
  auto eigenpairs(const Shape& shape, const Where& where, const MakeCall& make_call) {
    const MatrixShapes shapes(shape);
    std::pair<Array<RealType<T>>, Array<T>> out;
    run_into(
        where, [&] { return make_call(out.first, out.second); }, Made{out.first, shapes.vector(shapes.rows)},
        Made{out.second, shape});
    return out;
  }
};

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
