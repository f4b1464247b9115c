#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

#include <cstring>
#include <optional>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"

namespace troupe::cuda {
namespace {

constexpr std::int64_t kMaxBlocks = 1 << 20;

Result<void> launch_blocks(const LaneTools& on, CUfunction kernel, std::int64_t blocks, unsigned threads,
                           void* arguments) {
  if (blocks == 0) return {};
  std::array<void*, 1> all{arguments};
  return TROUPE_CUDA(on.driver(), cuLaunchKernel, kernel, static_cast<unsigned>(std::min(blocks, kMaxBlocks)), 1, 1,
                     threads, 1, 1, 0, on.stream(), all.data(), nullptr);
}

template <class T>
Bytes16 bytes_of(const T& value) {
  Bytes16 bytes{};
  std::memcpy(&bytes, &value, sizeof value);
  return bytes;
}

// ---- element by element ----

/// All of them lie side by side, and are aligned as vectors are.
void note_density(ElementwiseArguments& m, int inputs) {
  const auto is_one = [&](int v) { return m.axes.rank == 0 || m.axes.strides[v][0] == 1; };
  m.is_dense = m.axes.rank <= 1 && is_one(3);
  std::uintptr_t addresses = reinterpret_cast<std::uintptr_t>(m.out);
  for (int i = 0; i < inputs; ++i) {
    if ((m.numbers >> i & 1) != 0) continue;
    m.is_dense = m.is_dense && is_one(i);
    addresses |= reinterpret_cast<std::uintptr_t>(m.in[i]);
  }
  m.is_aligned = m.is_dense && !m.has_condition && addresses % 16 == 0;
}

template <class Op>
ElementwiseArguments arguments_of(const Op& op, const LaneTools& on) {
  constexpr auto kInputs = static_cast<int>(Op::kInputs);
  ElementwiseArguments m{};
  m.out = on.data(op.out);
  m.function = static_cast<int>(op.function);
  m.numbers = op.numbers;
  if constexpr (kInputs == 3) m.has_condition = op.function == Ternary::select;
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    visit(op.out.dtype, [&]<class T>(std::type_identity<T>) {
      const auto factor = op.factors[i].template as_factor<T>();
      m.factors[i] = bytes_of(factor);
      if (factor != decltype(factor){1}) m.scaled |= 1U << i;
    });
    if (!op.is_number(i)) m.in[i] = on.data(op.in[i]);
  }
  AxesBuilder<4> axes;
  for (int axis = 0; axis < op.out.shape.rank(); ++axis) {
    AxesBuilder<4>::Strides strides{};
    for (std::size_t i = 0; i < Op::kInputs; ++i) strides[i] = op.is_number(i) ? 0 : op.in[i].strides[axis];
    strides[3] = op.out.strides[axis];
    axes.add(op.out.shape[axis], strides);
  }
  m.axes = axes.arranged(3);
  note_density(m, kInputs);
  return m;
}

Result<void> launch_elements(const LaneTools& on, TensorKernel kernel, DType dtype, ElementwiseArguments& m) {
  std::array<void*, 1> all{&m};
  const std::int64_t items = m.is_aligned ? 16 / size_bytes(dtype) : 1;
  return on.launch(TROUPE_TRY(on.kernel(kernel, dtype)), (m.axes.count + items - 1) / items, all);
}

template <class Op>
Result<void> run(const Op& op, const LaneTools& on, TensorKernel kernel) {
  ElementwiseArguments m = arguments_of(op, on);
  if (m.axes.count == 0) return {};
  return launch_elements(on, kernel, op.out.dtype, m);
}

/// The tiles of a permutation, when its densest axes differ and are long enough for them.
bool make_tiles(const KernelAxes<2>& axes, PermuteArguments& m) {
  constexpr long long kWorthwhile = 16;
  const int x = axes.rank - 1;
  int y = x;
  for (int i = 0; i < axes.rank; ++i)
    if (axes.strides[0][i] != 0 && std::llabs(axes.strides[0][i]) < std::llabs(axes.strides[0][y])) y = i;
  if (x < 1 || x == y || axes.shape[x] < kWorthwhile || axes.shape[y] < kWorthwhile) return false;
  m.x_extent = axes.shape[x];
  m.y_extent = axes.shape[y];
  m.x_in = axes.strides[0][x];
  m.x_out = axes.strides[1][x];
  m.y_in = axes.strides[0][y];
  m.y_out = axes.strides[1][y];
  AxesBuilder<2> outer;
  for (int i = 0; i < axes.rank; ++i)
    if (i != x && i != y) outer.add(axes.shape[i], {axes.strides[0][i], axes.strides[1][i]});
  m.outer = outer.arranged(1);
  return true;
}

// ---- reductions ----

/// How the terms of each output are shared out. By the shapes alone, so that sums are the same every time.
struct Sharing {
  bool by_threads = false;
  std::int64_t chunks = 1;
  std::int64_t chunk_terms = 0;
};
Sharing share(const KernelAxes<3>& kept, const KernelAxes<2>& reduced) {
  constexpr std::int64_t kBusyThreads = 1 << 18;
  constexpr std::int64_t kBusyBlocks = 2048;
  constexpr std::int64_t kLeastForThread = 32;
  constexpr std::int64_t kLeastForBlock = 4096;
  constexpr std::int64_t kMostChunks = 4096;
  const auto nearest = [](const auto& axes) {
    return std::llabs(axes.strides[0][axes.rank - 1]) + std::llabs(axes.strides[1][axes.rank - 1]);
  };
  const bool outputs_are_near = kept.rank > 0 && (reduced.rank == 0 || nearest(kept) < nearest(reduced));
  Sharing sharing;
  sharing.by_threads = reduced.count < kLeastForThread || (outputs_are_near && kept.count >= kLeastForThread);
  const std::int64_t wanted = (sharing.by_threads ? kBusyThreads : kBusyBlocks) / std::max(kept.count, 1LL);
  const std::int64_t most = reduced.count / (sharing.by_threads ? kLeastForThread : kLeastForBlock);
  const std::int64_t chunks = std::clamp<std::int64_t>(std::min(wanted, most), 1, kMostChunks);
  sharing.chunk_terms = (reduced.count + chunks - 1) / chunks;
  if (sharing.chunk_terms > 0) sharing.chunks = (reduced.count + sharing.chunk_terms - 1) / sharing.chunk_terms;
  return sharing;
}

}  // namespace

Result<void> run_op(const op::UnaryOp& op, const LaneTools& on) {
  const bool only_moves =
      op.function == Unary::identity && !op.is_number(0) && op.factors[0].as<std::complex<double>>() == 1.0;
  if (!only_moves) return run(op, on, TensorKernel::unary);
  AxesBuilder<2> axes;
  for (int i = 0; i < op.out.shape.rank(); ++i) axes.add(op.out.shape[i], {op.in[0].strides[i], op.out.strides[i]});
  return move_elements(on, op.out.dtype, on.at(op.in[0]), on.at(op.out), axes);
}

Result<void> run_op(const op::BinaryOp& op, const LaneTools& on) { return run(op, on, TensorKernel::binary); }

Result<void> run_op(const op::TernaryOp& op, const LaneTools& on) { return run(op, on, TensorKernel::ternary); }

Result<void> run_op(const op::Reduce& op, const LaneTools& on) {
  ReduceLaunch launch{.function = op.function,
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

Result<void> move_elements(const LaneTools& on, DType dtype, CUdeviceptr in, CUdeviceptr out, AxesBuilder<2>& axes) {
  const KernelAxes<2> arranged = axes.arranged(1);
  if (arranged.count == 0) return {};
  PermuteArguments tiles{};
  if (make_tiles(arranged, tiles)) {
    tiles.in = reinterpret_cast<const void*>(in);
    tiles.out = reinterpret_cast<void*>(out);
    const auto count = [](long long extent) { return (extent + kPermuteTile - 1) / kPermuteTile; };
    const CUfunction kernel = TROUPE_TRY(on.kernel(TensorKernel::permute, KernelTypes::of_size(size_bytes(dtype))));
    return launch_blocks(on, kernel, tiles.outer.count * count(tiles.x_extent) * count(tiles.y_extent),
                         kPermuteTile * kPermuteRows, &tiles);
  }
  ElementwiseArguments m{};
  m.in[0] = reinterpret_cast<const void*>(in);
  m.out = reinterpret_cast<void*>(out);
  m.function = static_cast<int>(Unary::identity);
  m.axes.count = arranged.count;
  m.axes.rank = arranged.rank;
  for (int i = 0; i < arranged.rank; ++i) {
    m.axes.shape[i] = arranged.shape[i];
    m.axes.strides[0][i] = arranged.strides[0][i];
    m.axes.strides[3][i] = arranged.strides[1][i];
  }
  note_density(m, 1);
  return launch_elements(on, TensorKernel::unary, dtype, m);
}

Result<void> reduce_elements(const LaneTools& on, ReduceLaunch& launch) {
  const bool multiplies = launch.b != 0;
  const bool is_complex_sum = is_complex(launch.in);
  ReduceArguments m{};
  m.a = reinterpret_cast<const void*>(launch.a);
  m.b = reinterpret_cast<const void*>(launch.b);
  m.out = reinterpret_cast<void*>(launch.to);
  m.function = static_cast<int>(launch.function);
  m.kept = launch.kept.arranged(multiplies ? 2 : 0);
  m.reduced = launch.reduced.arranged(0);
  m.out_differs = launch.out != launch.in;
  m.reads_out = launch.beta.as<std::complex<double>>() != 0.0;
  m.alpha = is_complex_sum ? bytes_of(launch.alpha.as<std::complex<double>>()) : bytes_of(launch.alpha.as<double>());
  m.beta = is_complex_sum ? bytes_of(launch.beta.as<std::complex<double>>()) : bytes_of(launch.beta.as<double>());
  if (m.kept.count == 0) return {};
  const Sharing sharing = share(m.kept, m.reduced);
  m.chunks = sharing.chunks;
  m.chunk_terms = sharing.chunk_terms;
  const std::int64_t parts = m.kept.count * m.chunks;
  std::optional<StreamScratch> partials;
  if (m.chunks > 1) {
    partials.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(parts) * sizeof(Bytes16))));
    m.partials = partials->data();
  }
  using enum ReduceKernel;
  const ReduceKernel by_threads = multiplies ? contract_threads : reduce_threads;
  const ReduceKernel by_blocks = multiplies ? contract_blocks : reduce_blocks;
  const CUfunction first = TROUPE_TRY(on.kernel(sharing.by_threads ? by_threads : by_blocks, launch.in));
  std::array<void*, 1> all{&m};
  if (sharing.by_threads)
    TROUPE_TRY(on.launch(first, parts, all));
  else
    TROUPE_TRY(launch_blocks(on, first, parts, kReduceThreads, &m));
  if (m.chunks == 1) return {};
  return launch_blocks(on, TROUPE_TRY(on.kernel(reduce_chunks, launch.in)), m.kept.count, kReduceThreads, &m);
}

void add_tensor(RunTable& table) { table.add(op::TensorOps{}); }

}  // namespace troupe::cuda

#endif
