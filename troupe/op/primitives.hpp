// The ops of the primitives family, as data: scans, sorts, searches, selections. A row is what lies along the last
// axis; the library puts the axis that is meant there. Arrays may have any strides. Keys and numbers are of any type
// but f8 and complex; values that only move are of any type.
//
// What only the elements can say (an index is outside, segments fall) the op finds out where they lie: it writes a
// verdict, and then nothing else that was asked for.
#pragma once

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kPrimitivesFamily{11};
/// Words of a verdict: op/primitives_finding.hpp.
inline constexpr std::int64_t kPrimitivesVerdictWords = 8;

/// y[.., i] = x[.., 0] and .. x[.., i] put together; without x[.., i] when it is exclusive, and then y[.., 0] is the
/// neutral element: 0, 1, the greatest or the least number, all bits. `is_combined_to` says which types.
struct PrimitivesScan {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 0);
  static constexpr std::string_view kName = "primitives.scan";
  static constexpr bool kTakesInPlace = true;
  Combine function{};
  bool exclusive = false;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("exclusive", self.exclusive);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const PrimitivesScan&, const PrimitivesScan&) = default;
};

/// y[..] = row x[.., :] put together: y has one axis less.
struct PrimitivesReduce {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 1);
  static constexpr std::string_view kName = "primitives.reduce";
  Combine function{};
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const PrimitivesReduce&, const PrimitivesReduce&) = default;
};

/// indices[..] = where the least (or greatest) element of row x[.., :] is, the first of several. The first NaN is both
/// the least and the greatest. i32 or i64; a row has one element at least.
struct PrimitivesArgReduce {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 2);
  static constexpr std::string_view kName = "primitives.arg_reduce";
  bool greatest = false;
  View x;
  View indices;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("greatest", self.greatest);
    v.reads("x", self.x);
    v.writes("indices", self.indices);
  }
  friend bool operator==(const PrimitivesArgReduce&, const PrimitivesArgReduce&) = default;
};

/// Sorts the keys of each row, and moves the values, if there are any, along with their keys. Stable.
struct PrimitivesSort {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 3);
  static constexpr std::string_view kName = "primitives.sort";
  static constexpr bool kTakesInPlace = true;
  SortOrder order{};
  bool has_values = false;
  View keys;
  View sorted;
  View values;
  View moved;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("order", self.order);
    v.field("has_values", self.has_values);
    v.reads("keys", self.keys);
    v.writes("sorted", self.sorted);
    if (!self.has_values) return;
    v.reads("values", self.values);
    v.writes("moved", self.moved);
  }
  friend bool operator==(const PrimitivesSort&, const PrimitivesSort&) = default;
};

/// indices[.., i] = where in its row the key is that comes to place i. i32 or i64. Stable.
struct PrimitivesArgSort {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 4);
  static constexpr std::string_view kName = "primitives.argsort";
  SortOrder order{};
  View keys;
  View indices;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("order", self.order);
    v.reads("keys", self.keys);
    v.writes("indices", self.indices);
  }
  friend bool operator==(const PrimitivesArgSort&, const PrimitivesArgSort&) = default;
};

/// The k greatest (or least) keys of each row, the greatest (or least) first, and where in the row they are; the first
/// of equal ones first. k is the extent of the results' last axis; the indices are i32 or i64.
struct PrimitivesTopK {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 5);
  static constexpr std::string_view kName = "primitives.top_k";
  bool greatest = true;
  View keys;
  View best;
  View indices;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("greatest", self.greatest);
    v.reads("keys", self.keys);
    v.writes("best", self.best);
    v.writes("indices", self.indices);
  }
  friend bool operator==(const PrimitivesTopK&, const PrimitivesTopK&) = default;
};

/// The same as `PrimitivesSort` for the segments of a vector: segment s is elements offsets[s] to before offsets[s +
/// 1]. Offsets are i32 or i64; they ascend (not strictly) from 0 to the number of elements, or the verdict says where
/// not.
struct PrimitivesSegmentedSort {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 6);
  static constexpr std::string_view kName = "primitives.segmented_sort";
  static constexpr bool kTakesInPlace = true;
  SortOrder order{};
  bool has_values = false;
  View offsets;
  View keys;
  View sorted;
  View values;
  View moved;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("order", self.order);
    v.field("has_values", self.has_values);
    v.reads("offsets", self.offsets);
    v.reads("keys", self.keys);
    v.writes("sorted", self.sorted);
    if (self.has_values) {
      v.reads("values", self.values);
      v.writes("moved", self.moved);
    }
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesSegmentedSort&, const PrimitivesSegmentedSort&) = default;
};

/// y[s] = segment s of x put together; of an empty one the neutral element.
struct PrimitivesSegmentedReduce {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 7);
  static constexpr std::string_view kName = "primitives.segmented_reduce";
  Combine function{};
  View offsets;
  View x;
  View y;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.reads("offsets", self.offsets);
    v.reads("x", self.x);
    v.writes("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesSegmentedReduce&, const PrimitivesSegmentedReduce&) = default;
};

/// `PrimitivesScan` of the segments of a vector: each begins anew.
struct PrimitivesSegmentedScan {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 8);
  static constexpr std::string_view kName = "primitives.segmented_scan";
  static constexpr bool kTakesInPlace = true;
  Combine function{};
  bool exclusive = false;
  View offsets;
  View x;
  View y;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("exclusive", self.exclusive);
    v.reads("offsets", self.offsets);
    v.reads("x", self.x);
    v.writes("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesSegmentedScan&, const PrimitivesSegmentedScan&) = default;
};

/// counts[i] = how many elements of x, of any shape, are in bin i of n equal ones between low and high: `bin_of` says
/// which. Those outside and NaN are in none. Counts are i32 or i64.
struct PrimitivesHistogram {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 9);
  static constexpr std::string_view kName = "primitives.histogram";
  double low = 0;
  double high = 1;
  View x;
  View counts;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("low", self.low);
    v.field("high", self.high);
    v.reads("x", self.x);
    v.writes("counts", self.counts);
  }
  friend bool operator==(const PrimitivesHistogram&, const PrimitivesHistogram&) = default;
};

/// The same for n bins between n + 1 bounds of x's type: bin i is bounds[i] to before bounds[i + 1], and the last one
/// has its upper bound, too. Bounds ascend (not strictly) and are not NaN, or the verdict says where not.
struct PrimitivesHistogramBounds {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 10);
  static constexpr std::string_view kName = "primitives.histogram_bounds";
  View x;
  View bounds;
  View counts;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("x", self.x);
    v.reads("bounds", self.bounds);
    v.writes("counts", self.counts);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesHistogramBounds&, const PrimitivesHistogramBounds&) = default;
};

/// The elements of vector x whose flag is set, in their order, and how many (count, one i64). With `keeps_rest` the
/// others, in their order, are behind them; without, y behind the last one stays as it was. Without x, the positions
/// instead of elements: i32 or i64.
struct PrimitivesSelect {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 11);
  static constexpr std::string_view kName = "primitives.select";
  bool has_x = true;
  bool keeps_rest = false;
  View flags;
  View x;
  View y;
  View count;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("has_x", self.has_x);
    v.field("keeps_rest", self.keeps_rest);
    v.reads("flags", self.flags);
    if (self.has_x) v.reads("x", self.x);
    if (self.keeps_rest)
      v.writes("y", self.y);
    else
      v.writes_part("y", self.y);
    v.writes("count", self.count);
  }
  friend bool operator==(const PrimitivesSelect&, const PrimitivesSelect&) = default;
};

/// The first of each run of equal elements of vector x, and how many runs there are (count, one i64); with lengths (i32
/// or i64) how long each is. What is behind them stays as it was. Two NaN are equal, as are 0 and -0.
struct PrimitivesUnique {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 12);
  static constexpr std::string_view kName = "primitives.unique";
  bool has_lengths = false;
  View x;
  View y;
  View lengths;
  View count;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("has_lengths", self.has_lengths);
    v.reads("x", self.x);
    v.writes_part("y", self.y);
    if (self.has_lengths) v.writes_part("lengths", self.lengths);
    v.writes("count", self.count);
  }
  friend bool operator==(const PrimitivesUnique&, const PrimitivesUnique&) = default;
};

/// places[..] = how many elements of the ascending vector `sorted` come before keys[..]: those that are less, and with
/// `after_equal` those that are equal, too. i32 or i64. A vector that does not ascend gives any places from 0 to its
/// length.
struct PrimitivesSearch {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 13);
  static constexpr std::string_view kName = "primitives.search";
  bool after_equal = false;
  View sorted;
  View keys;
  View places;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("after_equal", self.after_equal);
    v.reads("sorted", self.sorted);
    v.reads("keys", self.keys);
    v.writes("places", self.places);
  }
  friend bool operator==(const PrimitivesSearch&, const PrimitivesSearch&) = default;
};

/// y[.., j] = x[.., indices[.., j]] of any type. Indices, i32 or i64, have y's shape, by strides of 0 when all rows
/// have the same; x has y's shape but for the last axis. Indices are from 0 to before the length of x's rows, or the
/// verdict says which is not.
struct PrimitivesGather {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 14);
  static constexpr std::string_view kName = "primitives.gather";
  View x;
  View indices;
  View y;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("x", self.x);
    v.reads("indices", self.indices);
    v.writes("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesGather&, const PrimitivesGather&) = default;
};

/// y[.., indices[.., j]] becomes x[.., j], or what the rule says: the other way. `last` takes any type. Elements of y
/// that no index names stay as they were.
struct PrimitivesScatter {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 15);
  static constexpr std::string_view kName = "primitives.scatter";
  Duplicates rule{};
  View x;
  View indices;
  View y;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("rule", self.rule);
    v.reads("x", self.x);
    v.reads("indices", self.indices);
    if (self.rule == Duplicates::last)
      v.writes_part("y", self.y);
    else
      v.updates("y", self.y);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesScatter&, const PrimitivesScatter&) = default;
};

/// What the ascending vectors a and b make together, ascending, and how many keys that are (count, one i64). Of equal
/// keys a's come first. What is behind the last one in y stays as it was. `room_for` says how much room y has. The
/// verdict says where a or b do not ascend.
struct PrimitivesSets {
  static constexpr Kind kKind = kind(kPrimitivesFamily, 16);
  static constexpr std::string_view kName = "primitives.sets";
  SetOperation operation{};
  View a;
  View b;
  View y;
  View count;
  View verdict;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("operation", self.operation);
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.writes_part("y", self.y);
    v.writes("count", self.count);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const PrimitivesSets&, const PrimitivesSets&) = default;
};

using PrimitivesOps = OpList<PrimitivesScan, PrimitivesReduce, PrimitivesArgReduce, PrimitivesSort, PrimitivesArgSort,
                             PrimitivesTopK, PrimitivesSegmentedSort, PrimitivesSegmentedReduce,
                             PrimitivesSegmentedScan, PrimitivesHistogram, PrimitivesHistogramBounds, PrimitivesSelect,
                             PrimitivesUnique, PrimitivesSearch, PrimitivesGather, PrimitivesScatter, PrimitivesSets>;

/// Whether elements of `in` may be put together to `out`: to their own type, and sums and products of integers (which
/// wrap) also to i64 or, of unsigned ones, u64. Sums and products of bools are i64.
constexpr bool is_combined_to(Combine function, DType in, DType out) noexcept {
  const bool counts = function == Combine::sum || function == Combine::product;
  if (in == DType::boolean && counts) return out == DType::i64;
  if (out == in) return true;
  return counts && is_integer(in) && out == (is_signed(in) ? DType::i64 : DType::u64);
}
/// The most keys that a set operation makes of so many.
constexpr std::int64_t room_for(SetOperation operation, std::int64_t a, std::int64_t b) noexcept {
  switch (operation) {
    case SetOperation::intersect: return a < b ? a : b;
    case SetOperation::difference: return a;
    default: return a + b;
  }
}

Result<void> check(const PrimitivesScan& op);
Result<void> check(const PrimitivesReduce& op);
Result<void> check(const PrimitivesArgReduce& op);
Result<void> check(const PrimitivesSort& op);
Result<void> check(const PrimitivesArgSort& op);
Result<void> check(const PrimitivesTopK& op);
Result<void> check(const PrimitivesSegmentedSort& op);
Result<void> check(const PrimitivesSegmentedReduce& op);
Result<void> check(const PrimitivesSegmentedScan& op);
Result<void> check(const PrimitivesHistogram& op);
Result<void> check(const PrimitivesHistogramBounds& op);
Result<void> check(const PrimitivesSelect& op);
Result<void> check(const PrimitivesUnique& op);
Result<void> check(const PrimitivesSearch& op);
Result<void> check(const PrimitivesGather& op);
Result<void> check(const PrimitivesScatter& op);
Result<void> check(const PrimitivesSets& op);

}  // namespace troupe::inline v0::op
