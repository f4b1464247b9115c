#if TROUPE_CUDA_BACKEND

// Elements by indices and to indices, and histograms.
#include "troupe/backend/cuda/primitives/primitives_ops.hpp"
#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"

namespace troupe::cuda {
namespace {

IndexedArguments indexed(const GpuRows& x, const GpuRows& indices, const GpuRows& y, std::int64_t bound,
                         FirstFinding* finding) {
  return {.x = x.data(),
          .y = y.data(),
          .indices = indices.data(),
          .finding = finding,
          .winners = nullptr,
          .x_stride = x.stride,
          .y_stride = y.stride,
          .indices_stride = indices.stride,
          .length = indices.length,
          .bound = bound,
          .rows = indices.rows,
          .wide = is_wide(indices)};
}

Result<void> tell_index(const GpuRows& indices, std::int64_t bound, const FirstFinding* finding,
                        const op::View& verdict, const PrimitivesScratch& scratch) {
  return scratch.threads(SelectKernel::tell_finding, {}, 1,
                         VerdictArguments{.finding = finding,
                                          .verdict = scratch.on().data<int>(verdict),
                                          .data = indices.data(),
                                          .stride = indices.stride,
                                          .length = indices.length,
                                          .bound = bound,
                                          .wide = is_wide(indices)});
}

MoveKernel combining_kernel(Duplicates rule) {
  if (rule == Duplicates::add) return MoveKernel::scatter_add;
  return rule == Duplicates::min ? MoveKernel::scatter_min : MoveKernel::scatter_max;
}

/// Where atomics may take whole words: a part of a word may belong to another array.
Result<GpuTarget> target_of_words(const op::View& view, PrimitivesScratch& scratch) {
  if (size_bytes(view.dtype) >= 4) return scratch.target_rows(view, true);
  const GpuRows there = TROUPE_TRY(scratch.rows(view));
  if (there.at != scratch.on().at(view)) return GpuTarget{there, &view};
  const GpuRows copy = TROUPE_TRY(scratch.made(view.dtype, there.rows, there.length));
  TROUPE_TRY(permute_rows(there, {}, copy, nullptr, scratch));
  return GpuTarget{copy, &view};
}

Result<void> scatter_last(IndexedArguments arguments, const GpuRows& y, PrimitivesScratch& scratch) {
  if (arguments.length > 1) {
    const std::int64_t places = y.count();
    arguments.winners = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(places, places));
    TROUPE_TRY(
        scratch.threads(MoveKernel::find_winners, {}, arguments.rows * arguments.length, arguments));
  }
  return scratch.threads(MoveKernel::scatter, of_size(y), arguments.rows * arguments.length, arguments);
}

KernelTypes number_types(DType dtype) { return dtype == DType::boolean ? DType::u8 : dtype; }

/// Counts of a histogram in 64 bits become the result.
Result<void> store_counts(const HistogramArguments& arguments, const op::View& counts, PrimitivesScratch& scratch) {
  const GpuTarget target = TROUPE_TRY(scratch.target_flat(counts, true));
  TROUPE_TRY(scratch.threads(MoveKernel::store_counts, {}, target.length,
                             StoreCountsArguments{.from = arguments.counts,
                                                  .counts = target.data(),
                                                  .finding = arguments.finding,
                                                  .length = target.length,
                                                  .wide = is_wide(target)}));
  return scratch.finish(target);
}

}  // namespace

Result<void> run_op(const op::PrimitivesGather& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  FirstFinding* const finding = TROUPE_TRY(scratch.no_finding(op.verdict));
  if (op::element_count(op.y) == 0) return {};
  const GpuRows x = TROUPE_TRY(scratch.rows(op.x));
  const GpuRows indices = TROUPE_TRY(scratch.rows(op.indices));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y, true));
  const IndexedArguments arguments = indexed(x, indices, y, x.length, finding);
  TROUPE_TRY(scratch.threads(MoveKernel::gather, of_size(y), y.count(), arguments));
  TROUPE_TRY(tell_index(indices, x.length, finding, op.verdict, scratch));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesScatter& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  FirstFinding* const finding = TROUPE_TRY(scratch.no_finding(op.verdict));
  if (op::element_count(op.indices) == 0) return {};
  const GpuRows x = TROUPE_TRY(scratch.rows(op.x));
  const GpuRows indices = TROUPE_TRY(scratch.rows(op.indices));
  const bool is_last = op.rule == Duplicates::last;
  const GpuTarget y =
      TROUPE_TRY(is_last ? scratch.target_rows(op.y, true) : target_of_words(op.y, scratch));
  const IndexedArguments arguments = indexed(x, indices, y, y.length, finding);
  TROUPE_TRY(scratch.threads(MoveKernel::check_indices, {}, indices.count(), arguments));
  TROUPE_TRY(tell_index(indices, y.length, finding, op.verdict, scratch));
  if (is_last)
    TROUPE_TRY(scatter_last(arguments, y, scratch));
  else
    TROUPE_TRY(scratch.threads(combining_kernel(op.rule), number_types(op.y.dtype), indices.count(), arguments));
  return scratch.finish(y);
}

Result<void> run_op(const op::PrimitivesHistogram& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.flat(op.x));
  const std::int64_t bins = op.counts.shape[0];
  const HistogramArguments arguments{
      .x = x.data(),
      .bounds = nullptr,
      .counts = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(bins, bins)),
      .finding = nullptr,
      .low = op.low,
      .high = op.high,
      .length = x.length,
      .bins = bins};
  TROUPE_TRY(scratch.threads(MoveKernel::histogram, number_types(x.dtype), x.length, arguments));
  return store_counts(arguments, op.counts, scratch);
}

Result<void> run_op(const op::PrimitivesHistogramBounds& op, const LaneTools& on) {
  PrimitivesScratch scratch(on);
  FirstFinding* const finding = TROUPE_TRY(scratch.no_finding(op.verdict));
  const GpuRows x = TROUPE_TRY(scratch.flat(op.x));
  const GpuRows bounds = TROUPE_TRY(scratch.flat(op.bounds));
  const std::int64_t bins = op.counts.shape[0];
  TROUPE_TRY(scratch.threads(MoveKernel::check_bounds, number_types(bounds.dtype), bounds.length,
                             CheckArguments{.data = bounds.data(),
                                            .finding = finding,
                                            .length = bounds.length,
                                            .bound = 0,
                                            .order = {},
                                            .fault = 0,
                                            .wide = false}));
  TROUPE_TRY(scratch.threads(SelectKernel::tell_finding, {}, 1,
                             VerdictArguments{.finding = finding,
                                              .verdict = on.data<int>(op.verdict),
                                              .data = nullptr,
                                              .stride = 0,
                                              .length = 0,
                                              .bound = 0,
                                              .wide = false}));
  const HistogramArguments arguments{
      .x = x.data(),
      .bounds = bounds.data(),
      .counts = TROUPE_TRY(scratch.array_of_zeros<unsigned long long>(bins, bins)),
      .finding = finding,
      .low = 0,
      .high = 0,
      .length = x.length,
      .bins = bins};
  TROUPE_TRY(scratch.threads(MoveKernel::histogram_bounds, number_types(x.dtype), x.length, arguments));
  return store_counts(arguments, op.counts, scratch);
}

}  // namespace troupe::cuda

#endif
