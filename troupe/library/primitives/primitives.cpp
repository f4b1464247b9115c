#include "troupe/library/primitives/primitives.hpp"

#include <array>
#include <concepts>
#include <string>
#include <string_view>

#include "troupe/device/make_call.hpp"
#include "troupe/library/primitives/primitives_verdict.hpp"
#include "troupe/library/rows_along.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/primitives.hpp"

namespace troupe::inline v0 {
namespace {

/// Two arrays of one rank with the axis behind all others, or what is wrong.
struct Rows {
  AnyArray x;
  AnyArray y;
};
Result<Rows> rows_of(const Device& device, std::string_view call, const NamedArray& x, const NamedArray& y, int axis) {
  AnyArray first = TROUPE_TRY(rows_along(device, call, x, axis));
  AnyArray second = TROUPE_TRY(rows_along(device, call, y, axis));
  return Rows{std::move(first), std::move(second)};
}

/// A vector of indices for all rows alike, as one of y's shape.
Result<AnyArray> indices_along(const Device& device, std::string_view call, const AnyArray& indices,
                               const AnyArray& rows, int axis) {
  TROUPE_TRY(DeviceParts::check(device, call, "indices", indices));
  if (indices.rank() != 1 || rows.rank() < 2) return rows_along(device, call, {"indices", indices}, axis);
  if (Result<AnyArray> all = indices.broadcast(rows.shape())) return all;
  return op::refuse(call, "indices is " + indices.shape().to_string() + "; along the axis there must be " +
                              std::to_string(rows.shape()[rows.rank() - 1]) + " of them");
}

using Words = std::span<const std::int32_t>;
using Judge = Result<void> (*)(Words);

/// What `check` calls the op, too.
template <class Op>
Result<void> judge(Words words) {
  if constexpr (std::same_as<Op, op::PrimitivesHistogramBounds>) return judge_primitives("histogram", words);
  return judge_primitives(op::info_of<Op>().call(), words);
}
template <SetOperation operation>
Result<void> judge_sets(Words words) {
  return judge_primitives(name(operation), words);
}
Judge judge_of(const op::PrimitivesSets& op) noexcept {
  switch (op.operation) {
    case SetOperation::unite: return judge_sets<SetOperation::unite>;
    case SetOperation::intersect: return judge_sets<SetOperation::intersect>;
    case SetOperation::difference: return judge_sets<SetOperation::difference>;
    case SetOperation::symmetric_difference: break;
  }
  return judge_sets<SetOperation::symmetric_difference>;
}
template <class Op>
Judge judge_of(const Op&) noexcept {
  return judge<Op>;
}

template <class Op>
Call<void> judged(const Device& device, Op op, std::initializer_list<const AnyArray*> arrays) {
  Result<HostArray<std::int32_t>> verdict = device.host_array<std::int32_t>({op::kPrimitivesVerdictWords});
  if (!verdict) return fail(std::move(verdict).error());
  op.verdict = verdict->view();
  std::array<const AnyArray*, 8> all{};
  std::ranges::copy(arrays, all.begin());
  all[arrays.size()] = &*verdict;
  return make_judged_call<void>(device, {}, op, std::span(all).first(arrays.size() + 1), *verdict, judge_of(op));
}

/// The call gives what the op writes into `count`, its last array.
template <class Op>
Call<std::int64_t> counted(const Device& device, Op op, std::initializer_list<const AnyArray*> arrays) {
  Result<HostArray<std::int64_t>> count = device.host_array<std::int64_t>({1});
  if (!count) return fail(std::move(count).error());
  op.count = count->view();
  std::array<const AnyArray*, 8> all{};
  std::ranges::copy(arrays, all.begin());
  all[arrays.size()] = &*count;
  return make_call_giving<std::int64_t>(device, *count, op, std::span(all).first(arrays.size() + 1));
}

Call<void> arg_reduce(const Device& device, bool greatest, const AnyArray& x, const AnyArray& indices, int axis) {
  Result<AnyArray> rows = rows_along(device, greatest ? "argmax" : "argmin", {"x", x}, axis);
  if (!rows) return fail(std::move(rows).error());
  return make_call(device, op::PrimitivesArgReduce{.greatest = greatest, .x = rows->view(), .indices = indices.view()},
                   {&*rows, &indices});
}

Call<void> search(const Device& device, bool after_equal, const AnyArray& sorted, const AnyArray& keys,
                  const AnyArray& places) {
  const op::PrimitivesSearch op{
      .after_equal = after_equal, .sorted = sorted.view(), .keys = keys.view(), .places = places.view()};
  return make_call(device, op, {&sorted, &keys, &places});
}

op::PrimitivesSelect selection(const AnyArray& x, const AnyArray& flags, const AnyArray& y, bool keeps_rest) {
  return {.has_x = true, .keeps_rest = keeps_rest, .flags = flags.view(), .x = x.view(), .y = y.view(), .count = {}};
}
op::PrimitivesSelect positions_of(const AnyArray& flags, const AnyArray& y) {
  return {.has_x = false, .keeps_rest = false, .flags = flags.view(), .x = {}, .y = y.view(), .count = {}};
}
op::PrimitivesUnique runs(const AnyArray& x, const AnyArray& y, const AnyArray* lengths) {
  return {.has_lengths = lengths != nullptr,
          .x = x.view(),
          .y = y.view(),
          .lengths = lengths ? lengths->view() : op::View{},
          .count = {}};
}
op::PrimitivesSets sets_of(SetOperation operation, const AnyArray& a, const AnyArray& b, const AnyArray& y) {
  return {.operation = operation, .a = a.view(), .b = b.view(), .y = y.view(), .count = {}, .verdict = {}};
}

/// The same with the count in an array of the user's.
template <class Op>
Call<void> counted_in(const Device& device, Op op, const AnyArray& count,
                      std::initializer_list<const AnyArray*> arrays) {
  op.count = count.view();
  return make_call(device, op, arrays);
}

}  // namespace

Primitives Device::primitives() const { return Primitives(*this); }

// ---- what elements make together ----

Call<void> Primitives::scan(Combine function, const AnyArray& x, const AnyArray& y, ScanOptions options) const {
  Result<Rows> rows = rows_of(device_, "scan", {"x", x}, {"y", y}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  const op::PrimitivesScan op{
      .function = function, .exclusive = options.exclusive, .x = rows->x.view(), .y = rows->y.view()};
  return make_call(device_, op, {&rows->x, &rows->y});
}
Call<void> Primitives::reduce(Combine function, const AnyArray& x, const AnyArray& y, RowOptions options) const {
  Result<AnyArray> rows = rows_along(device_, "reduce", {"x", x}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  return make_call(device_, op::PrimitivesReduce{.function = function, .x = rows->view(), .y = y.view()}, {&*rows, &y});
}
Call<void> Primitives::argmax(const AnyArray& x, const AnyArray& indices, RowOptions options) const {
  return arg_reduce(device_, true, x, indices, options.axis);
}
Call<void> Primitives::argmin(const AnyArray& x, const AnyArray& indices, RowOptions options) const {
  return arg_reduce(device_, false, x, indices, options.axis);
}

// ---- order ----

Call<void> Primitives::sort(const AnyArray& keys, const AnyArray& sorted, SortOptions options) const {
  Result<Rows> rows = rows_of(device_, "sort", {"keys", keys}, {"sorted", sorted}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  const op::PrimitivesSort op{.order = options.order,
                              .has_values = false,
                              .keys = rows->x.view(),
                              .sorted = rows->y.view(),
                              .values = {},
                              .moved = {}};
  return make_call(device_, op, {&rows->x, &rows->y});
}
Call<void> Primitives::sort(const AnyArray& keys, const AnyArray& values, const AnyArray& sorted, const AnyArray& moved,
                            SortOptions options) const {
  Result<Rows> rows = rows_of(device_, "sort", {"keys", keys}, {"sorted", sorted}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  Result<Rows> with = rows_of(device_, "sort", {"values", values}, {"moved", moved}, options.axis);
  if (!with) return fail(std::move(with).error());
  const op::PrimitivesSort op{.order = options.order,
                              .has_values = true,
                              .keys = rows->x.view(),
                              .sorted = rows->y.view(),
                              .values = with->x.view(),
                              .moved = with->y.view()};
  return make_call(device_, op, {&rows->x, &rows->y, &with->x, &with->y});
}
Call<void> Primitives::argsort(const AnyArray& keys, const AnyArray& indices, SortOptions options) const {
  Result<Rows> rows = rows_of(device_, "argsort", {"keys", keys}, {"indices", indices}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  const op::PrimitivesArgSort op{.order = options.order, .keys = rows->x.view(), .indices = rows->y.view()};
  return make_call(device_, op, {&rows->x, &rows->y});
}
Call<void> Primitives::top_k(const AnyArray& keys, const AnyArray& best, const AnyArray& indices,
                             TopKOptions options) const {
  Result<Rows> rows = rows_of(device_, "top_k", {"keys", keys}, {"best", best}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  Result<AnyArray> where = rows_along(device_, "top_k", {"indices", indices}, options.axis);
  if (!where) return fail(std::move(where).error());
  const op::PrimitivesTopK op{
      .greatest = options.greatest, .keys = rows->x.view(), .best = rows->y.view(), .indices = where->view()};
  return make_call(device_, op, {&rows->x, &rows->y, &*where});
}
Call<void> Primitives::lower_bound(const AnyArray& sorted, const AnyArray& keys, const AnyArray& places) const {
  return search(device_, false, sorted, keys, places);
}
Call<void> Primitives::upper_bound(const AnyArray& sorted, const AnyArray& keys, const AnyArray& places) const {
  return search(device_, true, sorted, keys, places);
}

// ---- segments ----

Call<void> Primitives::segmented_sort(const AnyArray& offsets, const AnyArray& keys, const AnyArray& sorted,
                                      SortOrder order) const {
  const op::PrimitivesSegmentedSort op{.order = order,
                                       .has_values = false,
                                       .offsets = offsets.view(),
                                       .keys = keys.view(),
                                       .sorted = sorted.view(),
                                       .values = {},
                                       .moved = {},
                                       .verdict = {}};
  return judged(device_, op, {&offsets, &keys, &sorted});
}
Call<void> Primitives::segmented_sort(const AnyArray& offsets, const AnyArray& keys, const AnyArray& values,
                                      const AnyArray& sorted, const AnyArray& moved, SortOrder order) const {
  const op::PrimitivesSegmentedSort op{.order = order,
                                       .has_values = true,
                                       .offsets = offsets.view(),
                                       .keys = keys.view(),
                                       .sorted = sorted.view(),
                                       .values = values.view(),
                                       .moved = moved.view(),
                                       .verdict = {}};
  return judged(device_, op, {&offsets, &keys, &sorted, &values, &moved});
}
Call<void> Primitives::segmented_reduce(Combine function, const AnyArray& offsets, const AnyArray& x,
                                        const AnyArray& y) const {
  const op::PrimitivesSegmentedReduce op{
      .function = function, .offsets = offsets.view(), .x = x.view(), .y = y.view(), .verdict = {}};
  return judged(device_, op, {&offsets, &x, &y});
}
Call<void> Primitives::segmented_scan(Combine function, const AnyArray& offsets, const AnyArray& x, const AnyArray& y,
                                      bool exclusive) const {
  const op::PrimitivesSegmentedScan op{.function = function,
                                       .exclusive = exclusive,
                                       .offsets = offsets.view(),
                                       .x = x.view(),
                                       .y = y.view(),
                                       .verdict = {}};
  return judged(device_, op, {&offsets, &x, &y});
}

// ---- counting ----

Call<void> Primitives::histogram(const AnyArray& x, double low, double high, const AnyArray& counts) const {
  return make_call(device_, op::PrimitivesHistogram{.low = low, .high = high, .x = x.view(), .counts = counts.view()},
                   {&x, &counts});
}
Call<void> Primitives::histogram(const AnyArray& x, const AnyArray& bounds, const AnyArray& counts) const {
  const op::PrimitivesHistogramBounds op{
      .x = x.view(), .bounds = bounds.view(), .counts = counts.view(), .verdict = {}};
  return judged(device_, op, {&x, &bounds, &counts});
}

// ---- selections ----

Call<std::int64_t> Primitives::select(const AnyArray& x, const AnyArray& flags, const AnyArray& y) const {
  return counted(device_, selection(x, flags, y, false), {&flags, &x, &y});
}
Call<void> Primitives::select(const AnyArray& x, const AnyArray& flags, const AnyArray& y,
                              const AnyArray& count) const {
  return counted_in(device_, selection(x, flags, y, false), count, {&flags, &x, &y, &count});
}
Call<std::int64_t> Primitives::partition(const AnyArray& x, const AnyArray& flags, const AnyArray& y) const {
  return counted(device_, selection(x, flags, y, true), {&flags, &x, &y});
}
Call<void> Primitives::partition(const AnyArray& x, const AnyArray& flags, const AnyArray& y,
                                 const AnyArray& count) const {
  return counted_in(device_, selection(x, flags, y, true), count, {&flags, &x, &y, &count});
}
Call<std::int64_t> Primitives::positions(const AnyArray& flags, const AnyArray& y) const {
  return counted(device_, positions_of(flags, y), {&flags, &y});
}
Call<void> Primitives::positions(const AnyArray& flags, const AnyArray& y, const AnyArray& count) const {
  return counted_in(device_, positions_of(flags, y), count, {&flags, &y, &count});
}
Call<std::int64_t> Primitives::unique(const AnyArray& x, const AnyArray& y) const {
  return counted(device_, runs(x, y, nullptr), {&x, &y});
}
Call<void> Primitives::unique(const AnyArray& x, const AnyArray& y, const AnyArray& count) const {
  return counted_in(device_, runs(x, y, nullptr), count, {&x, &y, &count});
}
Call<std::int64_t> Primitives::run_lengths(const AnyArray& x, const AnyArray& y, const AnyArray& lengths) const {
  return counted(device_, runs(x, y, &lengths), {&x, &y, &lengths});
}
Call<void> Primitives::run_lengths(const AnyArray& x, const AnyArray& y, const AnyArray& lengths,
                                   const AnyArray& count) const {
  return counted_in(device_, runs(x, y, &lengths), count, {&x, &y, &lengths, &count});
}
Call<std::int64_t> Primitives::sets(SetOperation operation, const AnyArray& a, const AnyArray& b,
                                    const AnyArray& y) const {
  Result<HostArray<std::int64_t>> count = device_.host_array<std::int64_t>({1});
  if (!count) return fail(std::move(count).error());
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({op::kPrimitivesVerdictWords});
  if (!verdict) return fail(std::move(verdict).error());
  op::PrimitivesSets op = sets_of(operation, a, b, y);
  op.count = count->view();
  op.verdict = verdict->view();
  const AnyArray* const arrays[] = {&a, &b, &y, &*count, &*verdict};
  return make_judged_call<std::int64_t>(device_, *count, op, arrays, *verdict, judge_of(op));
}
Call<void> Primitives::sets(SetOperation operation, const AnyArray& a, const AnyArray& b, const AnyArray& y,
                            const AnyArray& count) const {
  op::PrimitivesSets op = sets_of(operation, a, b, y);
  op.count = count.view();
  return judged(device_, op, {&a, &b, &y, &count});
}

// ---- moving by indices ----

Call<void> Primitives::gather(const AnyArray& x, const AnyArray& indices, const AnyArray& y, RowOptions options) const {
  Result<Rows> rows = rows_of(device_, "gather", {"x", x}, {"y", y}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  Result<AnyArray> which = indices_along(device_, "gather", indices, rows->y, options.axis);
  if (!which) return fail(std::move(which).error());
  const op::PrimitivesGather op{.x = rows->x.view(), .indices = which->view(), .y = rows->y.view(), .verdict = {}};
  return judged(device_, op, {&rows->x, &*which, &rows->y});
}
Call<void> Primitives::scatter(const AnyArray& x, const AnyArray& indices, const AnyArray& y,
                               ScatterOptions options) const {
  Result<Rows> rows = rows_of(device_, "scatter", {"x", x}, {"y", y}, options.axis);
  if (!rows) return fail(std::move(rows).error());
  Result<AnyArray> which = indices_along(device_, "scatter", indices, rows->x, options.axis);
  if (!which) return fail(std::move(which).error());
  const op::PrimitivesScatter op{
      .rule = options.duplicates, .x = rows->x.view(), .indices = which->view(), .y = rows->y.view(), .verdict = {}};
  return judged(device_, op, {&rows->x, &*which, &rows->y});
}

}  // namespace troupe::inline v0
