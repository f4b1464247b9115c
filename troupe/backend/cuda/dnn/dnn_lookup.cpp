#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"
#include "troupe/op/random_functions.hpp"

namespace troupe::cuda {
namespace {

/// The largest unit, in bytes, of which all these places and lengths are multiples.
std::int64_t unit_of(std::initializer_list<std::uint64_t> numbers, std::int64_t least) noexcept {
  for (std::int64_t unit = 16; unit > least; unit /= 2)
    if (std::ranges::all_of(numbers,
                            [&](std::uint64_t number) { return number % static_cast<std::uint64_t>(unit) == 0; }))
      return unit;
  return least;
}

}  // namespace

Result<void> run_op(const op::DnnEmbedding& op, const LaneTools& on) {
  DnnScratch scratch(on);
  DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_dnn_finding(op.verdict));
  const GpuRows indices = TROUPE_TRY(scratch.flat(op.indices));
  TROUPE_TRY(scratch.check_indices(indices, op::DnnFault::index_outside, op.table.shape[0], -1, finding, op.verdict));
  if (op::element_count(op.y) == 0 || op::element_count(op.table) == 0) return {};
  const GpuRows table = TROUPE_TRY(scratch.rows(op.table));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y, true));
  const std::int64_t size = y.element_size();
  const auto bytes = [&](std::int64_t count) { return static_cast<std::uint64_t>(count * size); };
  const std::int64_t unit = unit_of({table.at, y.at, bytes(table.stride), bytes(y.stride), bytes(y.length)}, size);
  const EmbeddingArguments a{.table = table.data(),
                             .indices = indices.data(),
                             .y = y.data(),
                             .finding = finding,
                             .table_stride = table.stride * size / unit,
                             .y_stride = y.stride * size / unit,
                             .width = y.length * size / unit,
                             .count = y.rows,
                             .wide = is_wide(indices)};
  TROUPE_TRY(scratch.threads(DnnTrainingKernel::dnn_embedding, KernelTypes::of_size(unit), a.count * a.width, a));
  return scratch.finish(y);
}

Result<void> run_op(const op::DnnEmbeddingGradient& op, const LaneTools& on) {
  DnnScratch scratch(on);
  DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_dnn_finding(op.verdict));
  const GpuRows indices = TROUPE_TRY(scratch.flat(op.indices));
  TROUPE_TRY(scratch.check_indices(indices, op::DnnFault::index_outside, op.dtable.shape[0], -1, finding, op.verdict));
  if (op::element_count(op.dtable) == 0) return {};
  const GpuRows sorted = TROUPE_TRY(scratch.made(indices.dtype, 1, indices.length));
  const GpuRows places = TROUPE_TRY(scratch.made(DType::i64, 1, indices.length));
  TROUPE_TRY(sort_rows({.order = key_order(indices.dtype, false),
                        .passes = static_cast<int>(indices.element_size()),
                        .value_size = 8,
                        .keys = indices,
                        .sorted = sorted,
                        .values = {},
                        .moved = places},
                       scratch));
  const GpuRows dy = TROUPE_TRY(scratch.rows(op.dy));
  const GpuTarget dtable = TROUPE_TRY(scratch.target_rows(op.dtable, true));
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;
  const EmbeddingGradientArguments a{.dy = dy.data(),
                                     .sorted = sorted.data(),
                                     .places = places.data(),
                                     .dtable = dtable.data(),
                                     .finding = finding,
                                     .dy_stride = dy.stride,
                                     .dtable_stride = dtable.stride,
                                     .width = dtable.length,
                                     .count = indices.length,
                                     .rows = dtable.rows,
                                     .padding = op.padding,
                                     .wide = is_wide(indices)};
  TROUPE_TRY(scratch.blocks(DnnTrainingKernel::dnn_embedding_gradient, dtable.dtype, std::min(dtable.rows, kMostBlocks),
                            a, kDnnThreads));
  return scratch.finish(dtable);
}

Result<void> run_op(const op::DnnDropout& op, const LaneTools& on) {
  if (op::element_count(op.x) == 0) return {};
  DnnScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.flat(op.x));
  const GpuTarget y = TROUPE_TRY(scratch.target_flat(op.y));
  const DropoutArguments a{.x = x.data(),
                           .y = y.data(),
                           .seed = op.source.seed,
                           .position = op.source.position,
                           .of_2_64 = random::chance_of(op.probability).of_2_64,
                           .stream = op.source.stream,
                           .count = x.length,
                           .scale = 1 / (1 - op.probability)};
  TROUPE_TRY(scratch.threads(DnnTrainingKernel::dnn_dropout, x.dtype, divided_up(x.length + 3, 4), a));
  return scratch.finish(y);
}

}  // namespace troupe::cuda

#endif
