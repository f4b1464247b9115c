// The building blocks of programs over many elements: `gpu.primitives()`. Scans, sorts, searches, selections, on the
// CPU and on a GPU, with the same results: keys in NumPy's order (NaN last), equal keys in the order they had. Arrays
// may have any strides and any size; keys and numbers are integers, bool, f16, bf16, f32 or f64. What does not fit is
// refused before anything is submitted, and what only the elements can say (an index is outside) comes back as an error
// that names the place.
//
//   CO_TRY(co_await gpu.primitives().sort(keys, values, sorted, moved));
//   CO_TRY(co_await gpu.primitives().scan(Combine::sum, x, y));
//   const std::int64_t kept = CO_TRY(co_await gpu.primitives().select(x, flags, y));
#pragma once

#include <utility>

#include "troupe/device/device.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Along which axis rows lie, for most of the primitives: counted from 0, or below 0 from the end.
struct RowOptions {
  int axis = -1;  // whose elements make a row
};
/// What `scan` can be told.
struct ScanOptions {
  int axis = -1;           // along which it goes
  bool exclusive = false;  // each element is what is before it, without itself
};
/// What `sort` and `argsort` can be told.
struct SortOptions {
  SortOrder order = SortOrder::ascending;  // descending: the greatest first, and NaN before it
  int axis = -1;                           // whose elements make a row
};
/// What `top_k` can be told.
struct TopKOptions {
  bool greatest = true;  // or the least
  int axis = -1;         // whose elements make a row
};
/// What `scatter` can be told.
struct ScatterOptions {
  Duplicates duplicates = Duplicates::last;  // what becomes of several elements for one place
  int axis = 0;                              // along which the indices count
};

/// Scans, sorts, searches and selections on a device: `gpu.primitives()`.
class Primitives {
 public:
  explicit Primitives(Device device) noexcept : device_(std::move(device)) {}

  // ---- what elements make together ----

  /// y[i] = x[0] and so on to x[i] put together, along one axis. Floats are kept in f32 or their own type while it
  /// runs. Sums and products of integers wrap in y's type: that of x, or i64, or u64 of unsigned ones; of bools they
  /// are i64. The first of an exclusive scan is the neutral element: 0, 1, the type's greatest or least number, all
  /// bits.
  Call<void> scan(Combine function, const AnyArray& x, const AnyArray& y, ScanOptions options = {}) const;
  /// y = each row of x put together; y has one axis less. Floats are kept in f64 while it runs. `gpu.tensor().reduce`
  /// reduces several axes, and has the mean and the norm.
  Call<void> reduce(Combine function, const AnyArray& x, const AnyArray& y, RowOptions options = {}) const;
  /// Where in its row the greatest element is, the first of several, or the first NaN. The indices are i32 or i64.
  Call<void> argmax(const AnyArray& x, const AnyArray& indices, RowOptions options = {}) const;
  /// The same of the least one, or the first NaN.
  Call<void> argmin(const AnyArray& x, const AnyArray& indices, RowOptions options = {}) const;

  // ---- order ----

  /// Sorts each row. `sorted` may be `keys`.
  Call<void> sort(const AnyArray& keys, const AnyArray& sorted, SortOptions options = {}) const;
  /// The same, and values of any type go where their keys go. `moved` may be `values`.
  Call<void> sort(const AnyArray& keys, const AnyArray& values, const AnyArray& sorted, const AnyArray& moved,
                  SortOptions options = {}) const;
  /// indices[i] = where in its row the key is that comes to place i. i32 or i64.
  Call<void> argsort(const AnyArray& keys, const AnyArray& indices, SortOptions options = {}) const;
  /// The k greatest keys of each row, the greatest first, and where they are: k is the extent of `best` along the axis.
  Call<void> top_k(const AnyArray& keys, const AnyArray& best, const AnyArray& indices, TopKOptions options = {}) const;
  /// places = how many elements of the ascending vector are less than each key: where it could be put before its
  /// equals. i32 or i64, of the keys' shape.
  Call<void> lower_bound(const AnyArray& sorted, const AnyArray& keys, const AnyArray& places) const;
  /// The same behind its equals.
  Call<void> upper_bound(const AnyArray& sorted, const AnyArray& keys, const AnyArray& places) const;

  // ---- segments of a vector: n + 1 offsets, i32 or i64, ascending from 0 to the number of elements ----

  /// Sorts each segment.
  Call<void> segmented_sort(const AnyArray& offsets, const AnyArray& keys, const AnyArray& sorted,
                            SortOrder order = SortOrder::ascending) const;
  /// The same with values.
  Call<void> segmented_sort(const AnyArray& offsets, const AnyArray& keys, const AnyArray& values,
                            const AnyArray& sorted, const AnyArray& moved,
                            SortOrder order = SortOrder::ascending) const;
  /// y[s] = segment s put together; of one without elements the neutral element.
  Call<void> segmented_reduce(Combine function, const AnyArray& offsets, const AnyArray& x, const AnyArray& y) const;
  /// A scan that begins anew with each segment.
  Call<void> segmented_scan(Combine function, const AnyArray& offsets, const AnyArray& x, const AnyArray& y,
                            bool exclusive = false) const;

  // ---- counting ----

  /// counts[i] = how many elements of x, of any shape, are in bin i of as many equal ones between low and high as there
  /// are counts, i32 or i64. The last bin has `high`, too; NaN, and what is outside, is in none.
  Call<void> histogram(const AnyArray& x, double low, double high, const AnyArray& counts) const;
  /// The same for n bins between n + 1 ascending bounds of x's type.
  Call<void> histogram(const AnyArray& x, const AnyArray& bounds, const AnyArray& counts) const;

  // ---- selections: y is as long as x, and behind the last element that is written it stays as it was. How many
  // are written is the result; or, for those who do not wait, one i64 in the array `count` ----

  /// The elements of a vector whose flag (bool) is set, in their order.
  Call<std::int64_t> select(const AnyArray& x, const AnyArray& flags, const AnyArray& y) const;
  Call<void> select(const AnyArray& x, const AnyArray& flags, const AnyArray& y, const AnyArray& count) const;
  /// The same, and behind them the others in their order.
  Call<std::int64_t> partition(const AnyArray& x, const AnyArray& flags, const AnyArray& y) const;
  Call<void> partition(const AnyArray& x, const AnyArray& flags, const AnyArray& y, const AnyArray& count) const;
  /// The positions of the flags that are set, i32 or i64.
  Call<std::int64_t> positions(const AnyArray& flags, const AnyArray& y) const;
  Call<void> positions(const AnyArray& flags, const AnyArray& y, const AnyArray& count) const;
  /// The first of each run of equal elements: of a sorted vector, each element once. Two NaN are equal here.
  Call<std::int64_t> unique(const AnyArray& x, const AnyArray& y) const;
  Call<void> unique(const AnyArray& x, const AnyArray& y, const AnyArray& count) const;
  /// The same, and how long each run is: i32 or i64.
  Call<std::int64_t> run_lengths(const AnyArray& x, const AnyArray& y, const AnyArray& lengths) const;
  Call<void> run_lengths(const AnyArray& x, const AnyArray& y, const AnyArray& lengths, const AnyArray& count) const;
  /// What two ascending vectors make together, ascending. y has room for all of both; of an intersection for the
  /// shorter, of a difference for a.
  Call<std::int64_t> sets(SetOperation operation, const AnyArray& a, const AnyArray& b, const AnyArray& y) const;
  Call<void> sets(SetOperation operation, const AnyArray& a, const AnyArray& b, const AnyArray& y,
                  const AnyArray& count) const;

  // ---- moving by indices: i32 or i64, from 0 on ----

  /// y[.., i, ..] = x[.., indices[.., i, ..], ..] along the axis, of any type. The indices are of y's shape, or a
  /// vector for all rows alike.
  Call<void> gather(const AnyArray& x, const AnyArray& indices, const AnyArray& y, RowOptions options = {0}) const;
  /// y[.., indices[.., i, ..], ..] becomes x[.., i, ..]: the other way. What no index names stays as it was.
  Call<void> scatter(const AnyArray& x, const AnyArray& indices, const AnyArray& y, ScatterOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
