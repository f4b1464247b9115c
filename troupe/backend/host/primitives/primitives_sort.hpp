// Rows of keys that are sorted, whatever their strides, with values of any size or with the positions of the keys. The
// kernels themselves see ranks only, unsigned numbers in the order of the keys.
#pragma once

#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/core/kinds.hpp"

namespace troupe::host {

struct SortTask {
  SortOrder order{};
  DType keys{};
  std::int64_t value_size = 0;  // bytes; 0 when nothing moves along
  DType indices = DType::i64;   // of the positions, where they are wanted
};

/// Where a row is, and where its results go; what is not wanted has no memory. Where the keys and the sorted ones lie
/// may be the same, and so with the values.
struct SortRow {
  Row keys = {};
  Row sorted = {};
  Row values = {};
  Row moved = {};
  Row indices = {};
};

/// Sorts rows with room of its own that it makes once.
class RowSorter {
 public:
  /// For rows of at most so many keys.
  static Result<RowSorter> make(const SortTask& task, std::int64_t most);
  Result<void> sort(const SortRow& row, Team& team);

 private:
  template <class Rank>
  Result<void> sort_by(Rank rank, const SortRow& row, Team& team);
  template <class Rank, class Value>
  Result<void> sort_with(Rank rank, const SortRow& row, Team& team);
  template <class Position>
  void give_positions(const Position* positions, const SortRow& row, Team& team) const noexcept;

  SortTask task_;
  std::int64_t key_size_ = 0;
  std::int64_t moving_size_ = 0;  // of the values or positions that are sorted with the keys
  Scratch keys_;
  Scratch spare_keys_;
  Scratch moving_;
  Scratch spare_moving_;
  Scratch values_;
};

}  // namespace troupe::host
