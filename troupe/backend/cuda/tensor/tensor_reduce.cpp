#if TROUPE_CUDA_BACKEND

#include <optional>

#include "troupe/backend/cuda/tensor/reduce_sharing.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

/// All but the chunks.
ReduceEnd end_of(const ReduceLaunch& launch, std::int64_t outputs, std::int64_t terms) {
  const auto factor = [&](const op::Scalar& scalar) {
    return visit(op::reduced_in(launch.function, launch.in),
                 [&]<class A>(std::type_identity<A>) { return bytes_of(scalar.as<A>()); });
  };
  return {.out = pointer(launch.to),
          .partials = nullptr,
          .alpha = factor(launch.alpha),
          .beta = factor(launch.beta),
          .outputs = outputs,
          .terms = terms,
          .chunks = 1,
          .function = static_cast<int>(launch.function),
          .out_differs = launch.out != launch.in,
          .reads_out = launch.beta.as<std::complex<double>>() != 0.0};
}

/// Those of integers and bool are in a file of their own, in the same order.
Result<CUfunction> reduce_kernel(const LaneTools& on, ReduceKernel kernel, DType dtype) {
  if (is_integer(dtype) || dtype == DType::boolean) return on.kernel(static_cast<WholeReduceKernel>(kernel), dtype);
  return on.kernel(kernel, dtype);
}

/// Runs `first`, which gives a partial result for each output and chunk, and combines these; they are all there is
/// where there is one chunk. `out` is where outputs lie, in the order of their numbers.
template <class First>
Result<void> run_in_chunks(const LaneTools& on, DType dtype, ReduceEnd& end, const KernelAxes<1>& out,
                           const First& first) {
  if (end.chunks == 1) return first();
  const StreamScratch partials =
      TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(end.outputs * end.chunks) * sizeof(Bytes16)));
  end.partials = partials.data();
  TROUPE_TRY(first());
  CombineArguments m{end, out, lanes_of_chunks(end.outputs, end.chunks)};
  const std::int64_t width = kReduceThreads / m.lanes;
  return on.launch_blocks(TROUPE_TRY(reduce_kernel(on, ReduceKernel::reduce_chunks, dtype)),
                          (end.outputs + width - 1) / width, kReduceThreads, &m);
}

/// Some of the arrays of these axes.
template <int n, int some>
KernelAxes<some> picked(const KernelAxes<n>& axes, const std::array<int, some>& which) {
  AxesBuilder<some> builder;
  for (int i = 0; i < axes.rank; ++i) {
    typename AxesBuilder<some>::Strides strides{};
    for (std::size_t v = 0; v < some; ++v) strides[v] = axes.strides[which[v]][i];
    builder.add(axes.shape[i], strides);
  }
  return builder.merged();
}

// ---- reductions ----

Result<void> reduce(const LaneTools& on, ReduceLaunch& launch, const KernelAxes<3>& kept) {
  const std::int64_t size = size_bytes(launch.in);
  const int items = group_items(static_cast<int>(size));
  const KernelAxes<2> reduced = launch.reduced.arranged(0);
  const bool by_columns = is_by_columns(kept, reduced);
  ReduceArguments m{};
  m.in = pointer(launch.a);
  m.kept = grouped(picked<3, 2>(kept, {0, 2}), by_columns ? items : 1);
  m.reduced = grouped(picked<2, 1>(reduced, {0}), by_columns ? 1 : items);
  if (reduced.count == 0) m.reduced.groups = 0;
  m.end = end_of(launch, kept.count, reduced.count);
  const std::int64_t outputs = by_columns ? m.kept.groups : kept.count;
  const Sharing sharing = share(by_columns, outputs, m.reduced.groups, busy_threads(size));
  m.lanes = sharing.lanes;
  m.chunk_steps = sharing.chunk_steps;
  m.end.chunks = sharing.chunks;

  // Groups lie along one of both; along the other they must stay aligned.
  const bool is_short = m.reduced.groups <= kMostDivided || m.reduced.rows.rank == 0;
  const auto keeps_aligned = [&](long long stride) { return stride % items == 0; };
  if (by_columns) {
    m.is_whole = is_short && way_of(m.kept, 0, items, launch.a, size) == Way::whole;
    for (int i = 0; i < reduced.rank; ++i) m.is_whole = m.is_whole && keeps_aligned(reduced.strides[0][i]);
  } else {
    m.is_whole = is_short && way_of(m.reduced, 0, items, launch.a, size) == Way::whole &&
                 (m.reduced.row_items % items == 0 || m.reduced.rows.rank == 0);
    for (int i = 0; i < kept.rank; ++i) m.is_whole = m.is_whole && keeps_aligned(kept.strides[0][i]);
  }
  const ReduceKernel kernel = by_columns ? ReduceKernel::reduce_columns : ReduceKernel::reduce_rows;
  const std::int64_t width = kReduceThreads / m.lanes;
  return run_in_chunks(on, launch.in, m.end, picked<3, 1>(kept, {2}), [&]() -> Result<void> {
    return on.launch_blocks(TROUPE_TRY(reduce_kernel(on, kernel, launch.in)), (outputs + width - 1) / width,
                            kReduceThreads, &m, m.end.chunks);
  });
}

// ---- sums of products ----

Result<void> add_products(const LaneTools& on, ReduceLaunch& launch, const KernelAxes<3>& kept) {
  constexpr std::int64_t kBusyThreads = 1 << 18;
  constexpr std::int64_t kBusyBlocks = 2048;
  constexpr std::int64_t kLeastForThread = 32;
  constexpr std::int64_t kLeastForBlock = 4096;
  constexpr std::int64_t kMostChunks = 4096;
  constexpr std::int64_t kMostBlocks = 1 << 20;
  ContractArguments m{};
  m.a = pointer(launch.a);
  m.b = pointer(launch.b);
  m.kept = kept;
  m.reduced = launch.reduced.arranged(0);
  m.end = end_of(launch, kept.count, m.reduced.count);
  const auto nearest = [](const auto& axes) {
    return std::llabs(axes.strides[0][axes.rank - 1]) + std::llabs(axes.strides[1][axes.rank - 1]);
  };
  const bool outputs_are_near = kept.rank > 0 && (m.reduced.rank == 0 || nearest(kept) < nearest(m.reduced));
  const bool by_threads = m.reduced.count < kLeastForThread || (outputs_are_near && kept.count >= kLeastForThread);
  const std::int64_t wanted = (by_threads ? kBusyThreads : kBusyBlocks) / std::max(kept.count, 1LL);
  const std::int64_t most = m.reduced.count / (by_threads ? kLeastForThread : kLeastForBlock);
  const std::int64_t chunks = std::clamp<std::int64_t>(std::min(wanted, most), 1, kMostChunks);
  m.chunk_terms = (m.reduced.count + chunks - 1) / chunks;
  if (m.chunk_terms > 0) m.end.chunks = (m.reduced.count + m.chunk_terms - 1) / m.chunk_terms;
  return run_in_chunks(on, launch.in, m.end, picked<3, 1>(kept, {2}), [&]() -> Result<void> {
    using enum ContractKernel;
    const CUfunction kernel = TROUPE_TRY(on.kernel(by_threads ? contract_threads : contract_blocks, launch.in));
    const std::int64_t parts = kept.count * m.end.chunks;
    if (!by_threads) return on.launch_blocks(kernel, std::min(parts, kMostBlocks), kReduceThreads, &m);
    std::array<void*, 1> all{&m};
    return on.launch(kernel, parts, all);
  });
}

}  // namespace

Result<void> reduce_elements(const LaneTools& on, ReduceLaunch& launch) {
  const bool multiplies = launch.b != 0;
  const KernelAxes<3> kept = launch.kept.arranged(multiplies ? 2 : 0);
  if (kept.count == 0) return {};
  return multiplies ? add_products(on, launch, kept) : reduce(on, launch, kept);
}

Result<void> run_op(const op::Reduce& op, const LaneTools& on) {
  ReduceLaunch launch{.function = op::computed_by(op.function),
                      .in = op.in.dtype,
                      .out = op.out.dtype,
                      .a = on.at(op.in),
                      .b = 0,
                      .to = on.at(op.out),
                      .alpha = op.alpha,
                      .beta = op.beta,
                      .kept = {},
                      .reduced = {}};
  for (int i = 0; i < op.in.shape.rank(); ++i) {
    if (op.in.shape[i] == op.out.shape[i])
      launch.kept.add(op.in.shape[i], {op.in.strides[i], 0, op.out.strides[i]});
    else
      launch.reduced.add(op.in.shape[i], {op.in.strides[i], 0});
  }
  return reduce_elements(on, launch);
}

}  // namespace troupe::cuda

#endif
