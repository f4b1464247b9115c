#include "troupe/op/dnn_lookup.hpp"

#include "troupe/op/dnn_check.hpp"
#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {
namespace {

/// A table [rows, width], and rows of it for indices of any shape.
Result<void> check_lookup(std::string_view call, const NamedView& table, const NamedView& indices,
                          const NamedView& rows) {
  TROUPE_TRY(check_float(call, table));
  TROUPE_TRY(check_ranks(call, 2, {table}));
  TROUPE_TRY(check_index_type(call, indices));
  TROUPE_TRY(check_type(call, rows, table.view.dtype));
  Shape want = indices.view.shape;
  if (want.rank() == kMaxRank)
    return refuse(call, "indices is " + want.to_string() + "; what they choose has one axis more, and there are " +
                            std::to_string(kMaxRank) + " at most");
  std::vector<std::int64_t> extents(want.begin(), want.end());
  extents.push_back(table.view.shape[1]);
  return check_shape(call, rows, Shape(extents));
}

}  // namespace

Result<void> check(const DnnEmbedding& op) {
  constexpr std::string_view kCall = "embedding";
  TROUPE_TRY(check_lookup(kCall, {"table", op.table}, {"indices", op.indices}, {"y", op.y}));
  return check_dnn_verdict(kCall, op.verdict);
}

Result<void> check(const DnnEmbeddingGradient& op) {
  constexpr std::string_view kCall = "embedding_gradient";
  TROUPE_TRY(check_lookup(kCall, {"dtable", op.dtable}, {"indices", op.indices}, {"dy", op.dy}));
  if (op.padding < -1 || op.padding >= op.dtable.shape[0])
    return refuse(kCall, "padding is " + std::to_string(op.padding) + "; it must be a row of the table, which has " +
                             std::to_string(op.dtable.shape[0]) + ", or -1 for none");
  return check_dnn_verdict(kCall, op.verdict);
}

Result<void> check(const DnnDropout& op) {
  constexpr std::string_view kCall = "dropout";
  TROUPE_TRY(check_float(kCall, {"x", op.x}));
  TROUPE_TRY(check_type(kCall, {"y", op.y}, op.x.dtype));
  TROUPE_TRY(check_shape(kCall, {"y", op.y}, op.x.shape));
  TROUPE_TRY(check_drop_probability(kCall, op.probability));
  return check_positions(kCall, op.source, product_of(op.x.shape));
}

}  // namespace troupe::inline v0::op
