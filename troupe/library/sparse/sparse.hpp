// Sparse matrices on a device: `gpu.sparse()`. A matrix is checked once, when it is made, and never again.
//
//   SparseMatrix a = CO_TRY(co_await gpu.sparse().csr(rows, columns, offsets, indices, values));
//   CO_TRY(co_await gpu.sparse().multiply(a, x, y, {.alpha = 2.0}));
//
// Values are f32, f64, c64 or c128; indices are i32 or i64. Every call can be awaited, or `get()` waits in a plain
// thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/device/device.hpp"
#include "troupe/library/sparse/iterative.hpp"

// The elements of sparse matrices in ordinary memory, and in Matrix Market files, the format in which collections of
// matrices are published. Coordinates of real, complex, integer and pattern matrices (whose elements are ones);
// general, symmetric, skew-symmetric and Hermitian.
//
//   %%MatrixMarket matrix coordinate real general
//   3 4 2
//   1 1  2.5
//   3 4 -1
//
// A file is read as the elements of the whole matrix, both halves of a symmetric one. A file that is wrong is
// `invalid_argument`, with the number of the line.

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// One element of a sparse matrix; indices count from 0.
template <class T>
struct Triplet {
  std::int64_t row = 0;
  std::int64_t column = 0;
  T value{};
  friend bool operator==(const Triplet&, const Triplet&) = default;
};

/// The elements of a sparse matrix in ordinary memory, and its extents.
template <class T>
struct Triplets {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Triplet<T>> elements;  // in any order
};

/// The limits of a Matrix Market file; one that exceeds them is refused before memory is taken.
struct MatrixMarketLimits {
  std::int64_t rows_or_columns = std::int64_t{1} << 31;  // the most of either
  std::int64_t elements = std::int64_t{1} << 28;         // in the file
  std::int64_t line_bytes = 1024;                        // the format itself has 1024
};

/// Reads a Matrix Market file. `T` is f32, f64, c64 or c128; a complex file needs a complex one. Elements come in the
/// order of the file.
template <class T>
Result<Triplets<T>> read_matrix_market(std::istream& in, const MatrixMarketLimits& limits = {});
template <class T>
Result<Triplets<T>> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits = {});

/// Writes a Matrix Market file: real or complex, general, with numbers that are read back exactly.
template <class T>
Result<void> write_matrix_market(std::ostream& out, const Triplets<T>& matrix);
template <class T>
Result<void> write_matrix_market(const std::string& path, const Triplets<T>& matrix);

namespace op {
struct SparseView;
}

/// A sparse matrix on a device. It is a handle: cheap to copy, and copies share their memory. The structure belongs to
/// the matrix alone and never changes: it was checked when the matrix was made, so no op has to check it again, and
/// none can reach outside its arrays. The values are an array like any other: you may read and write them.
class SparseMatrix {
 public:
  /// An empty handle: functions that need a matrix refuse it with `invalid_argument`.
  SparseMatrix() = default;
  explicit operator bool() const noexcept { return static_cast<bool>(indices_); }

  SparseFormat format() const noexcept { return format_; }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  /// The number of stored elements, zero or not; for BSR all elements of its blocks.
  std::int64_t nonzeros() const noexcept { return values_.element_count(); }
  /// How many rows and columns a block has: 1 for all formats but BSR.
  std::int64_t block_size() const noexcept { return block_; }
  DType dtype() const noexcept { return values_.dtype(); }
  /// i32 or i64.
  DType index_type() const noexcept { return indices_.dtype(); }

  /// The stored elements in the order of the structure: by rows, of CSC by columns; of BSR [blocks, size, size].
  const AnyArray& values() const noexcept { return values_; }
  /// The same as an array of `T`; `invalid_argument` when that is not their type.
  template <Element T>
  Result<Array<T>> values_as() const {
    return values_.as<T>();
  }

 private:
  friend class Sparse;
  friend class detail::Iteration;
  op::SparseView view() const;

  SparseFormat format_ = SparseFormat::csr;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t block_ = 1;
  AnyArray offsets_;
  AnyArray indices_;
  AnyArray values_;
};

/// What `multiply` of a sparse matrix can be told.
struct SparseMultiplyOptions {
  detail::Factor alpha = 1.0;  // multiplies the product
  detail::Factor beta = 0.0;   // multiplies the old content of the output; with 0 that is not read
  bool transpose = false;      // the sparse matrix is transposed
  bool conjugate = false;      // its elements are conjugated; together they make the adjoint
};
/// What `solve` with a sparse triangle can be told.
struct SparseSolveOptions {
  detail::Factor alpha = 1.0;  // multiplies b
  bool upper = false;          // which triangle is used; what is stored in the other one does not matter
  bool unit_diagonal = false;  // the diagonal counts as ones, whatever is stored there
  bool transpose = false;      // the triangle is taken first, and then transposed
  bool conjugate = false;      // the elements of the triangle are conjugated
};
/// What `sddmm` can be told.
struct SddmmOptions {
  detail::Factor alpha = 1.0;  // multiplies the product
  detail::Factor beta = 0.0;   // multiplies the old values
};
static_assert(std::is_trivially_destructible_v<SparseMultiplyOptions> &&
                  std::is_trivially_destructible_v<SparseSolveOptions> &&
                  std::is_trivially_destructible_v<SddmmOptions>,
              "safe inside a co_await with g++ 12");

namespace detail {

template <class T>
inline constexpr bool is_triplet = false;
template <class T>
inline constexpr bool is_triplet<Triplet<T>> = true;

/// Triplets of one type that lie side by side.
template <class R>
concept TripletRange = Contiguous<const R&> && is_triplet<std::ranges::range_value_t<const R&>>;

}  // namespace detail

/// Sparse matrices on a device: `gpu.sparse()`.
class Sparse {
 public:
  explicit Sparse(Device device) noexcept : device_(std::move(device)) {}

  // ---- making one ----
  //
  // The structure is copied, and the copy is checked on the device: offsets begin at 0, never fall and end at the
  // number of indices; indices are in range, and ascend in each line without duplicates. `invalid_argument` says what
  // is wrong and where: "row 3 has column 17; the matrix has 10 columns". `values` (contiguous) are shared and not
  // copied.

  /// Compressed rows: `offsets` has rows + 1 numbers, `indices` are columns.
  Call<SparseMatrix> csr(std::int64_t rows, std::int64_t columns, const AnyArray& offsets, const AnyArray& indices,
                         const AnyArray& values) const;
  /// Compressed columns: `offsets` has columns + 1 numbers, `indices` are rows.
  Call<SparseMatrix> csc(std::int64_t rows, std::int64_t columns, const AnyArray& offsets, const AnyArray& indices,
                         const AnyArray& values) const;
  /// Sorted by row, then by column.
  Call<SparseMatrix> coo(std::int64_t rows, std::int64_t columns, const AnyArray& row_indices,
                         const AnyArray& column_indices, const AnyArray& values) const;
  /// Offsets and indices count blocks; `values` is [blocks, block_size, block_size]; `block_size` divides both extents.
  Call<SparseMatrix> bsr(std::int64_t rows, std::int64_t columns, std::int64_t block_size, const AnyArray& offsets,
                         const AnyArray& indices, const AnyArray& values) const;

  /// CSR from elements in ordinary memory, in any order: a vector of `Triplet`s, a span, or any other range whose
  /// elements lie side by side. Elements with the same row and column are added. They are checked and copied before
  /// this returns, and then sent to the device. Any thread.
  template <class T>
  Result<SparseMatrix> from_triplets(std::int64_t rows, std::int64_t columns, std::span<const Triplet<T>> elements,
                                     DType index_type = DType::i32) const;
  /// The same from a vector, an array or any other range that lies side by side.
  template <class Elements>
  Result<SparseMatrix> from_triplets(std::int64_t rows, std::int64_t columns, const Elements& elements,
                                     DType index_type = DType::i32) const {
    static_assert(detail::TripletRange<Elements>,
                  "from_triplets takes Triplets that lie side by side in memory: a std::vector<Triplet<double>>, a "
                  "std::array, a std::span, or what read_matrix_market gives");
    if constexpr (detail::TripletRange<Elements>) {
      using T = decltype(std::ranges::range_value_t<const Elements&>::value);
      return from_triplets<T>(rows, columns, std::span<const Triplet<T>>(elements), index_type);
    } else {
      return fail(ErrorKind::invalid_argument);
    }
  }
  /// The same from what `read_matrix_market` gives.
  template <class T>
  Result<SparseMatrix> from_triplets(const Triplets<T>& triplets, DType index_type = DType::i32) const {
    return from_triplets<T>(triplets.rows, triplets.columns, std::span<const Triplet<T>>(triplets.elements),
                            index_type);
  }
  /// CSR from a Matrix Market file (see `read_matrix_market`). Reads it in this thread.
  template <class T>
  Result<SparseMatrix> load(const std::string& path, const MatrixMarketLimits& limits = {},
                            DType index_type = DType::i32) const {
    return from_triplets(TROUPE_TRY(read_matrix_market<T>(path, limits)), index_type);
  }

  // ---- from one form to another ----

  /// The matrix in another format, with values of its own; the same handle when it has that format already. To BSR with
  /// blocks of `block_size`, which must divide both extents. From BSR every element of every block is kept.
  detail::TaskCall<SparseMatrix> convert(const SparseMatrix& matrix, SparseFormat format,
                                         std::int64_t block_size = 1) const;
  /// Writes the matrix to `out`: dense, of the same type and extents, any strides.
  Call<void> to_dense(const SparseMatrix& matrix, const AnyArray& out) const;
  /// CSR with the nonzero elements of a dense matrix of any strides. `invalid_argument` when their number changes
  /// meanwhile.
  detail::TaskCall<SparseMatrix> from_dense(const AnyArray& dense, DType index_type = DType::i32) const;
  /// The elements in ordinary memory, sorted by row, then by column. `T` must be the type of the matrix.
  template <class T>
  detail::TaskCall<Triplets<T>> triplets(const SparseMatrix& matrix) const;
  /// Writes a Matrix Market file.
  detail::TaskCall<void> save(const SparseMatrix& matrix, const std::string& path) const;

  // ---- computing ----

  /// y = alpha matrix x + beta y: vectors, or dense matrices of any strides. With a beta of 0 the old content of y is
  /// not read.
  Call<void> multiply(const SparseMatrix& matrix, const AnyArray& x, const AnyArray& y,
                      SparseMultiplyOptions options = {}) const;
  /// Solves triangle x = alpha b for x: vectors, or dense matrices of any strides. `numerical_error` names the first
  /// row whose diagonal element is zero or not there.
  Call<void> solve(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                   SparseSolveOptions options = {}) const;
  /// The product of dense matrices at the places where the matrix has elements: its values become alpha (a b) + beta
  /// values.
  Call<void> sddmm(const AnyArray& a, const AnyArray& b, const SparseMatrix& matrix, SddmmOptions options = {}) const;
  /// The product of two sparse matrices of one type, as CSR. Elements that cancel out stay, as zeros. Both matrices may
  /// have any format; formats other than CSR are converted.
  detail::TaskCall<SparseMatrix> product(const SparseMatrix& a, const SparseMatrix& b) const;

  // ---- solving round by round ----
  //
  // The matrix is square and CSR. Vectors are [rows], of its type, any strides. b, the matrix and the preconditioner
  // must stay as they are until the end, and x is written at the end. Each gives how it ended: look at `converged()`.

  /// Solves A x = b by conjugate gradients, for a symmetric or Hermitian positive definite matrix, and such a
  /// preconditioner (jacobi, ic0). `Stopped::not_positive_definite` when it meets a direction that says otherwise.
  IterativeCall<Solved> cg(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x, SolveOptions options = {},
                           const Preconditioner& preconditioner = {}) const;
  /// The same by stabilized biconjugate gradients, for any square matrix; two products with the matrix in each round.
  IterativeCall<Solved> bicgstab(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                                 SolveOptions options = {}, const Preconditioner& preconditioner = {}) const;
  /// The same by generalized minimal residuals, for any square matrix. Needs memory for `restart` vectors.
  IterativeCall<Solved> gmres(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                              GmresOptions options = {}, const Preconditioner& preconditioner = {}) const;
  /// The eigenvalue of largest absolute value, by power iteration; its vector, of norm 1, into x.
  IterativeCall<FoundEigenvalue> power(const SparseMatrix& matrix, const AnyArray& x, PowerOptions options = {}) const;
  /// The `count` largest or smallest eigenvalues of a symmetric or Hermitian matrix.
  IterativeCall<FoundEigenvalues> lanczos(const SparseMatrix& matrix, std::int64_t count,
                                          LanczosOptions options = {}) const;
  /// The same with the eigenvectors, of norm 1, in the rows of `vectors`: [count, rows].
  IterativeCall<FoundEigenvalues> lanczos(const SparseMatrix& matrix, const AnyArray& vectors,
                                          LanczosOptions options = {}) const;

  /// A preconditioner of the inverse diagonal. `numerical_error` names the first row whose element is zero or missing.
  Call<Preconditioner> jacobi(const SparseMatrix& matrix) const;
  /// One of an incomplete LU, with elements where the matrix has them. `numerical_error` names the row whose pivot is
  /// zero, not finite or missing.
  Call<Preconditioner> ilu0(const SparseMatrix& matrix) const;
  /// One of an incomplete Cholesky factor of the lower triangle. `numerical_error` names the row whose pivot is not
  /// positive or missing.
  Call<Preconditioner> ic0(const SparseMatrix& matrix) const;

 private:
  friend class detail::Iteration;
  template <Preconditioning kKind>
  Call<Preconditioner> precondition(const SparseMatrix& matrix) const;
  Call<SparseMatrix> adopt(std::string_view name, const SparseMatrix& like, const AnyArray& offsets,
                           const AnyArray& indices) const;
  template <class T, class I>
  Result<SparseMatrix> upload(const Triplets<T>& sorted) const;

  // The tasks; each has all that it needs in its own frame.
  static Result<SparseMatrix> allocate(const Device& device, const SparseMatrix& like, std::int64_t stored);
  static Result<void> allocate_elements(const Device& device, SparseMatrix& matrix, std::int64_t stored);
  static Result<void> allocate_offsets(const Device& device, SparseMatrix& matrix, DType index_type);
  static Task<Result<SparseMatrix>> convert_on(Device device, SparseMatrix matrix, SparseFormat format,
                                               std::int64_t block_size);
  static Task<Result<SparseMatrix>> convert_once(Device device, SparseMatrix matrix, SparseFormat format);
  static Task<Result<SparseMatrix>> to_blocks(Device device, SparseMatrix csr, std::int64_t block_size);
  static Task<Result<SparseMatrix>> from_dense_on(Device device, AnyArray dense, DType index_type);
  static Task<Result<SparseMatrix>> product_on(Device device, SparseMatrix a, SparseMatrix b);
  template <class T>
  static Task<Result<Triplets<T>>> triplets_on(Device device, SparseMatrix matrix);
  template <class T, class I>
  static Task<Result<Triplets<T>>> read_coo(Device device, SparseMatrix coo);
  template <class T>
  static Task<Result<void>> save_on(Device device, SparseMatrix matrix, std::string path);

  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
