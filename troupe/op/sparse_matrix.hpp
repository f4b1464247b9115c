// A sparse matrix as ops name it: its parts are arrays like any other, and a format says how to read them. Apart from
// the ops, because those of several families take one.
#pragma once

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kSparseFamily{7};

/// A sparse matrix in the vault. Lines are its rows (CSR, COO), its columns (CSC) or its rows of blocks (BSR). Line i
/// has the indices from `offsets[i]` to before `offsets[i + 1]`, ascending, none twice. Of COO `offsets` holds the row
/// of each element instead. `values` has an element for each index, or a row-major block: [indices, block, block].
struct SparseView {
  SparseFormat format = SparseFormat::csr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t block = 1;  // how many rows and columns a block has; 1 of all but BSR
  /// A name for the offsets and indices as they are now: no others of this worker's have had it, or will, so what is
  /// worked out about them may be kept under it. 0 when they have none.
  std::uint64_t structure = 0;
  View offsets;
  View indices;
  View values;

  bool by_columns() const noexcept { return format == SparseFormat::csc; }
  std::int64_t lines() const noexcept { return (by_columns() ? columns : rows) / block; }
  /// Indices are below it.
  std::int64_t width() const noexcept { return (by_columns() ? rows : columns) / block; }
  std::int64_t stored() const noexcept { return indices.shape[0]; }

  // Each has the name that the op gives the matrix; `begin` and `end` put it before the names in between.
  template <class Self, class V>
  static void describe_layout(Self& self, V& v) {
    v.field("format", self.format);
    v.field("rows", self.rows);
    v.field("columns", self.columns);
    v.field("block", self.block);
  }
  template <class Self, class V>
  static void describe_structure(Self& self, V& v) {
    describe_layout(self, v);
    v.field("structure", self.structure);
    v.reads("offsets", self.offsets);
    v.reads("indices", self.indices);
  }
  template <class Self, class V>
  static void describe_read(Self& self, V& v) {
    describe_structure(self, v);
    v.reads("values", self.values);
  }
  template <class Self, class V>
  static void describe_written(Self& self, V& v) {
    describe_layout(self, v);
    v.writes("offsets", self.offsets);
    v.writes("indices", self.indices);
    v.writes("values", self.values);
  }
  friend bool operator==(const SparseView&, const SparseView&) = default;
};

/// A verdict is so many words: what was found, the format, and three 64-bit numbers, the low half first.
inline constexpr std::int64_t kSparseVerdictWords = 8;

Result<void> check_structure(const SparseView& matrix);
Result<void> check(const SparseView& matrix);

}  // namespace troupe::inline v0::op
