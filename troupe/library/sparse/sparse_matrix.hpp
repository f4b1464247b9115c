// A sparse matrix on a device: a handle, cheap to copy, that shares its memory with its copies. Its structure is its
// own, private and never changes: it was checked when the matrix was made, so nothing that computes with it has to look
// again, and no call can make it point outside its arrays. Its values are an array like any other: read them, write
// them.
#pragma once

#include <vector>

#include "troupe/device/array.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::inline v0 {

/// CSR: compressed rows. CSC: compressed columns. COO: row and column of each element. BSR: compressed rows of dense
/// square blocks, each row-major.
using SparseFormat = op::SparseFormat;

/// One element of a sparse matrix; indices count from 0.
template <class T>
struct Triplet {
  std::int64_t row = 0;
  std::int64_t column = 0;
  T value{};
  friend bool operator==(const Triplet&, const Triplet&) = default;
};

/// Triplets in ordinary memory, and the extents of their matrix.
template <class T>
struct Triplets {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Triplet<T>> elements;
};

class SparseMatrix {
 public:
  /// An empty handle: what needs a matrix answers `invalid_argument`.
  SparseMatrix() = default;
  explicit operator bool() const noexcept { return static_cast<bool>(indices_); }

  SparseFormat format() const noexcept { return format_; }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  /// Elements that are stored, zero or not; of BSR all those of its blocks.
  std::int64_t nonzeros() const noexcept { return values_.element_count(); }
  /// How many rows and columns a block has: 1 of all but BSR.
  std::int64_t block_size() const noexcept { return block_; }
  DType dtype() const noexcept { return values_.dtype(); }
  /// i32 or i64.
  DType index_type() const noexcept { return indices_.dtype(); }

  /// The stored elements in the order of the structure: by rows, of CSC by columns; of BSR [blocks, size, size].
  const AnyArray& values() const noexcept { return values_; }
  template <Element T>
  Result<Array<T>> values_as() const {
    return values_.as<T>();
  }

 private:
  friend class Sparse;
  op::SparseView view() const {
    return {.format = format_,
            .rows = rows_,
            .columns = columns_,
            .block = block_,
            .structure = offsets_ ? offsets_.block()->number() : 0,  // offsets are written once
            .offsets = offsets_.view(),
            .indices = indices_.view(),
            .values = values_.view()};
  }

  SparseFormat format_ = SparseFormat::csr;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t block_ = 1;
  AnyArray offsets_;
  AnyArray indices_;
  AnyArray values_;
};

}  // namespace troupe::inline v0
