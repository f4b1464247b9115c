#include "troupe/op/primitives.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::initializer_list<DType> kKeys = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i8,
                                                DType::u8,  DType::i16, DType::u16,    DType::i32,  DType::u32,
                                                DType::i64, DType::u64, DType::boolean};
constexpr std::initializer_list<DType> kIndices = {DType::i32, DType::i64};

std::string text(std::string_view view) { return std::string(view); }
std::string type_of(const NamedView& view) { return text(name(view.view.dtype)); }
std::string shape_of(const NamedView& view) { return view.view.shape.to_string(); }

Result<void> check_rows(std::string_view call, const NamedView& view) {
  if (view.view.shape.rank() > 0) return {};
  return refuse(call, text(view.name) + " has no axis; it must have one at least");
}
std::int64_t length_of_rows(const View& view) { return view.shape[view.shape.rank() - 1]; }

/// A vector of keys or indices may be at most as long as the type of indices can count.
Result<void> check_indices(std::string_view call, const NamedView& indices, std::int64_t places) {
  TROUPE_TRY(check_type_is_one_of(call, indices, kIndices));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (indices.view.dtype == DType::i64 || places <= kMost) return {};
  return refuse(call, text(indices.name) + " is i32, and there are " + std::to_string(places) +
                          " places; i32 has numbers for 2147483648: use i64");
}
/// Numbers of elements, which may be as many as there are.
Result<void> check_counts(std::string_view call, const NamedView& counts, std::int64_t most) {
  TROUPE_TRY(check_type_is_one_of(call, counts, kIndices));
  if (counts.view.dtype == DType::i64 || most <= std::numeric_limits<std::int32_t>::max()) return {};
  return refuse(call, text(counts.name) + " is i32, and there are " + std::to_string(most) +
                          " elements; i32 counts up to 2147483647: use i64");
}
Result<void> check_length(std::string_view call, const NamedView& view, std::int64_t length) {
  return check_shape(call, view, Shape{length});
}
Result<void> check_count(std::string_view call, const View& count) {
  TROUPE_TRY(check_type(call, {"count", count}, DType::i64));
  return check_length(call, {"count", count}, 1);
}
Result<void> check_verdict(std::string_view call, const View& verdict) {
  TROUPE_TRY(check_type(call, {"verdict", verdict}, DType::i32));
  TROUPE_TRY(check_length(call, {"verdict", verdict}, kPrimitivesVerdictWords));
  if (is_contiguous(verdict.shape, verdict.strides)) return {};
  return refuse(call, "verdict has gaps; it must be contiguous");
}
/// n + 1 of them for n segments.
Result<void> check_offsets(std::string_view call, const View& offsets, std::int64_t elements) {
  const NamedView named{"offsets", offsets};
  TROUPE_TRY(check_counts(call, named, elements));
  TROUPE_TRY(check_ranks(call, 1, {named}));
  if (offsets.shape[0] > 0) return {};
  return refuse(call, "offsets is [0]; n segments have n + 1 offsets");
}

Result<void> check_combined(std::string_view call, Combine function, const NamedView& x, const NamedView& y) {
  TROUPE_TRY(check_type_is_one_of(call, x, kKeys));
  if (function >= Combine::bit_and && !is_integer(x.view.dtype) && x.view.dtype != DType::boolean)
    return refuse_unsupported(
        call, text(x.name) + " is " + type_of(x) + "; " + text(name(function)) + " takes integers and bool");
  if (is_combined_to(function, x.view.dtype, y.view.dtype)) return {};
  std::array<DType, 2> types;
  std::size_t count = 0;
  for (const DType out : {x.view.dtype, DType::i64, DType::u64})
    if (count < 2 && is_combined_to(function, x.view.dtype, out) && (count == 0 || types[0] != out))
      types[count++] = out;
  return refuse(call, text(y.name) + " is " + type_of(y) + "; the " + text(name(function)) + " of " + type_of(x) +
                          " must be " + names_of(std::span(types).first(count)));
}

/// Values move as they are.
Result<void> check_moved(std::string_view call, const NamedView& values, const NamedView& moved,
                         const NamedView& keys) {
  TROUPE_TRY(check_same_types(call, {values, moved}));
  TROUPE_TRY(check_same_shapes(call, {keys, values}));
  return check_same_shapes(call, {keys, moved});
}
template <class Sort>
Result<void> check_sorted(std::string_view call, const Sort& op) {
  const NamedView keys{"keys", op.keys}, sorted{"sorted", op.sorted};
  TROUPE_TRY(check_type_is_one_of(call, keys, kKeys));
  TROUPE_TRY(check_same_types(call, {keys, sorted}));
  TROUPE_TRY(check_same_shapes(call, {keys, sorted}));
  if (op.has_values) TROUPE_TRY(check_moved(call, {"values", op.values}, {"moved", op.moved}, keys));
  return {};
}

/// Of x's shape but for its last axis.
Result<void> check_same_rows(std::string_view call, const NamedView& x, const NamedView& y) {
  Shape want = x.view.shape;
  if (y.view.shape.rank() == want.rank()) want[want.rank() - 1] = length_of_rows(y.view);
  if (y.view.shape == want) return {};
  return refuse(call, text(y.name) + " is " + shape_of(y) + " and " + text(x.name) + " is " + shape_of(x) +
                          "; they may differ along the axis only");
}
Shape without_last_axis(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 1)));
}

/// `outer` has the longer rows, `inner` is of the shape of the indices.
Result<void> check_moves(std::string_view call, const NamedView& outer, const NamedView& inner, const View& indices) {
  TROUPE_TRY(check_same_types(call, {outer, inner}));
  TROUPE_TRY(check_rows(call, outer));
  TROUPE_TRY(check_indices(call, {"indices", indices}, length_of_rows(outer.view)));
  TROUPE_TRY(check_same_shapes(call, {{"indices", indices}, inner}));
  return check_same_rows(call, outer, inner);
}

}  // namespace

Result<void> check(const PrimitivesScan& op) {
  const NamedView x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_combined("scan", op.function, x, y));
  TROUPE_TRY(check_rows("scan", x));
  return check_same_shapes("scan", {x, y});
}

Result<void> check(const PrimitivesReduce& op) {
  const NamedView x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_combined("reduce", op.function, x, y));
  TROUPE_TRY(check_rows("reduce", x));
  return check_shape("reduce", y, without_last_axis(op.x.shape));
}

Result<void> check(const PrimitivesArgReduce& op) {
  const std::string_view call = op.greatest ? "argmax" : "argmin";
  const NamedView x{"x", op.x}, indices{"indices", op.indices};
  TROUPE_TRY(check_type_is_one_of(call, x, kKeys));
  TROUPE_TRY(check_rows(call, x));
  TROUPE_TRY(check_shape(call, indices, without_last_axis(op.x.shape)));
  TROUPE_TRY(check_indices(call, indices, length_of_rows(op.x)));
  if (length_of_rows(op.x) > 0 || element_count(op.indices) == 0) return {};
  return refuse(
      call, "x is " + shape_of(x) + "; a row without elements has no " + (op.greatest ? "greatest" : "least") + " one");
}

Result<void> check(const PrimitivesSort& op) {
  TROUPE_TRY(check_sorted("sort", op));
  return check_rows("sort", {"keys", op.keys});
}

Result<void> check(const PrimitivesArgSort& op) {
  const NamedView keys{"keys", op.keys}, indices{"indices", op.indices};
  TROUPE_TRY(check_type_is_one_of("argsort", keys, kKeys));
  TROUPE_TRY(check_rows("argsort", keys));
  TROUPE_TRY(check_indices("argsort", indices, length_of_rows(op.keys)));
  return check_same_shapes("argsort", {keys, indices});
}

Result<void> check(const PrimitivesTopK& op) {
  const NamedView keys{"keys", op.keys}, best{"best", op.best}, indices{"indices", op.indices};
  TROUPE_TRY(check_type_is_one_of("top_k", keys, kKeys));
  TROUPE_TRY(check_same_types("top_k", {keys, best}));
  TROUPE_TRY(check_rows("top_k", keys));
  TROUPE_TRY(check_indices("top_k", indices, length_of_rows(op.keys)));
  TROUPE_TRY(check_same_shapes("top_k", {best, indices}));
  TROUPE_TRY(check_same_rows("top_k", keys, best));
  if (length_of_rows(op.best) <= length_of_rows(op.keys)) return {};
  return refuse("top_k", "best is " + shape_of(best) + ", " + std::to_string(length_of_rows(op.best)) +
                             " of each row; a row of keys " + shape_of(keys) + " has " +
                             std::to_string(length_of_rows(op.keys)));
}

Result<void> check(const PrimitivesSegmentedSort& op) {
  constexpr std::string_view kCall = "segmented_sort";
  TROUPE_TRY(check_sorted(kCall, op));
  TROUPE_TRY(check_ranks(kCall, 1, {{"keys", op.keys}}));
  TROUPE_TRY(check_offsets(kCall, op.offsets, op.keys.shape[0]));
  return check_verdict(kCall, op.verdict);
}

Result<void> check(const PrimitivesSegmentedReduce& op) {
  constexpr std::string_view kCall = "segmented_reduce";
  const NamedView x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_combined(kCall, op.function, x, y));
  TROUPE_TRY(check_ranks(kCall, 1, {x}));
  TROUPE_TRY(check_offsets(kCall, op.offsets, op.x.shape[0]));
  TROUPE_TRY(check_length(kCall, y, op.offsets.shape[0] - 1));
  return check_verdict(kCall, op.verdict);
}

Result<void> check(const PrimitivesSegmentedScan& op) {
  constexpr std::string_view kCall = "segmented_scan";
  const NamedView x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_combined(kCall, op.function, x, y));
  TROUPE_TRY(check_ranks(kCall, 1, {x}));
  TROUPE_TRY(check_same_shapes(kCall, {x, y}));
  TROUPE_TRY(check_offsets(kCall, op.offsets, op.x.shape[0]));
  return check_verdict(kCall, op.verdict);
}

Result<void> check(const PrimitivesHistogram& op) {
  constexpr std::string_view kCall = "histogram";
  const NamedView counts{"counts", op.counts};
  TROUPE_TRY(check_type_is_one_of(kCall, {"x", op.x}, kKeys));
  TROUPE_TRY(check_counts(kCall, counts, element_count(op.x)));
  TROUPE_TRY(check_ranks(kCall, 1, {counts}));
  if (op.counts.shape[0] == 0) return refuse(kCall, "counts is [0]; there must be one bin at least");
  TROUPE_TRY(check_finite(kCall, "low", op.low));
  TROUPE_TRY(check_finite(kCall, "high", op.high));
  const std::string both = "low is " + number_of(Scalar(op.low)) + " and high is " + number_of(Scalar(op.high));
  if (!(op.low < op.high)) return refuse(kCall, both + "; low must be less than high");
  if (std::isfinite(op.high - op.low)) return {};
  return refuse(kCall, both + "; f64 has no number as large as their difference");
}

Result<void> check(const PrimitivesHistogramBounds& op) {
  constexpr std::string_view kCall = "histogram";
  const NamedView x{"x", op.x}, bounds{"bounds", op.bounds}, counts{"counts", op.counts};
  TROUPE_TRY(check_type_is_one_of(kCall, x, kKeys));
  TROUPE_TRY(check_same_types(kCall, {x, bounds}));
  TROUPE_TRY(check_ranks(kCall, 1, {bounds}));
  if (op.bounds.shape[0] < 2)
    return refuse(kCall, "bounds is " + shape_of(bounds) + "; n bins have n + 1 bounds, and there must be one bin");
  TROUPE_TRY(check_counts(kCall, counts, element_count(op.x)));
  TROUPE_TRY(check_length(kCall, counts, op.bounds.shape[0] - 1));
  return check_verdict(kCall, op.verdict);
}

Result<void> check(const PrimitivesSelect& op) {
  const std::string_view call = !op.has_x ? "positions" : op.keeps_rest ? "partition" : "select";
  const NamedView flags{"flags", op.flags}, x{"x", op.x}, y{"y", op.y};
  TROUPE_TRY(check_type(call, flags, DType::boolean));
  TROUPE_TRY(check_ranks(call, 1, {flags}));
  if (op.has_x) {
    TROUPE_TRY(check_same_types(call, {x, y}));
    TROUPE_TRY(check_same_shapes(call, {flags, x}));
  } else {
    TROUPE_TRY(check_indices(call, y, op.flags.shape[0]));
  }
  TROUPE_TRY(check_same_shapes(call, {flags, y}));
  return check_count(call, op.count);
}

Result<void> check(const PrimitivesUnique& op) {
  const std::string_view call = op.has_lengths ? "run_lengths" : "unique";
  const NamedView x{"x", op.x}, y{"y", op.y}, lengths{"lengths", op.lengths};
  TROUPE_TRY(check_type_is_one_of(call, x, kKeys));
  TROUPE_TRY(check_same_types(call, {x, y}));
  TROUPE_TRY(check_ranks(call, 1, {x}));
  TROUPE_TRY(check_same_shapes(call, {x, y}));
  if (op.has_lengths) {
    TROUPE_TRY(check_counts(call, lengths, op.x.shape[0]));
    TROUPE_TRY(check_same_shapes(call, {x, lengths}));
  }
  return check_count(call, op.count);
}

Result<void> check(const PrimitivesSearch& op) {
  const std::string_view call = op.after_equal ? "upper_bound" : "lower_bound";
  const NamedView sorted{"sorted", op.sorted}, keys{"keys", op.keys}, places{"places", op.places};
  TROUPE_TRY(check_type_is_one_of(call, sorted, kKeys));
  TROUPE_TRY(check_same_types(call, {sorted, keys}));
  TROUPE_TRY(check_ranks(call, 1, {sorted}));
  TROUPE_TRY(check_counts(call, places, op.sorted.shape[0]));
  return check_same_shapes(call, {keys, places});
}

Result<void> check(const PrimitivesGather& op) {
  TROUPE_TRY(check_moves("gather", {"x", op.x}, {"y", op.y}, op.indices));
  return check_verdict("gather", op.verdict);
}

Result<void> check(const PrimitivesScatter& op) {
  TROUPE_TRY(check_moves("scatter", {"y", op.y}, {"x", op.x}, op.indices));
  TROUPE_TRY(check_verdict("scatter", op.verdict));
  const DType dtype = op.x.dtype;
  if (op.rule == Duplicates::last) return {};
  TROUPE_TRY(check_type_is_one_of("scatter", {"x", op.x}, kKeys));
  if (op.rule != Duplicates::add || dtype != DType::boolean) return {};
  return refuse_unsupported("scatter", "x is bool; add takes numbers, and max of bools is their or");
}

Result<void> check(const PrimitivesSets& op) {
  const std::string_view call = name(op.operation);
  const NamedView a{"a", op.a}, b{"b", op.b}, y{"y", op.y};
  TROUPE_TRY(check_type_is_one_of(call, a, kKeys));
  TROUPE_TRY(check_same_types(call, {a, b}));
  TROUPE_TRY(check_same_types(call, {a, y}));
  TROUPE_TRY(check_ranks(call, 1, {a, b, y}));
  const std::int64_t room = room_for(op.operation, op.a.shape[0], op.b.shape[0]);
  if (op.y.shape[0] < room)
    return refuse(call, "y is " + shape_of(y) + "; " + text(call) + " of a " + shape_of(a) + " and b " + shape_of(b) +
                            " may make " + std::to_string(room) + " keys");
  TROUPE_TRY(check_count(call, op.count));
  return check_verdict(call, op.verdict);
}

extern const FamilyOps primitives_ops = register_ops("primitives", PrimitivesOps{});

}  // namespace troupe::inline v0::op
