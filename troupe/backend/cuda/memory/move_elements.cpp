#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/move_elements.hpp"

#include "troupe/backend/cuda/memory/memory_kernels.hpp"
#include "troupe/backend/cuda/memory/move_plan.hpp"

namespace troupe::cuda {
namespace {

/// Both arrays by groups, through a kernel that takes MoveArguments.
Result<void> move_groups(const LaneTools& on, CUfunction kernel, const KernelAxes<2>& axes, CUdeviceptr in,
                         std::int64_t in_size, CUdeviceptr out, std::int64_t out_size) {
  const int items = moved_items(static_cast<int>(std::max(in_size, out_size)));
  return in_parts(axes, items, [&](const KernelAxes<2>& part, const ArrayOffsets<2>& begin) {
    const CUdeviceptr from = in + static_cast<CUdeviceptr>(begin.at[0] * in_size);
    const CUdeviceptr to = out + static_cast<CUdeviceptr>(begin.at[1] * out_size);
    MoveArguments m{pointer(from), pointer(to), grouped(part, items)};
    m.axes.ways[0] = way_of(m.axes, 0, items, from, in_size);
    m.axes.ways[1] = way_of(m.axes, 1, items, to, out_size);
    make_tiles(m.axes, kGroupThreads);
    return on.launch_blocks(kernel, blocks_of(m.axes, kGroupThreads), kGroupThreads, &m);
  });
}

}  // namespace

Result<void> move_elements(const LaneTools& on, DType dtype, CUdeviceptr in, CUdeviceptr out, AxesBuilder<2> axes) {
  const Moved moved = widened({axes.arranged(1), size_bytes(dtype)}, in, out);
  if (moved.axes.count == 0) return {};
  const KernelTypes types = KernelTypes::of_size(moved.size_bytes);
  if (PermutePlan plan{}; plan_tiles(moved, in, out, plan)) {
    PermuteArguments& m = plan.tiles;
    m.in = pointer(in);
    m.out = pointer(out);
    const MemoryKernel kernel = plan.in_words ? MemoryKernel::permute_words : MemoryKernel::permute;
    return on.launch_blocks(TROUPE_TRY(on.kernel(kernel, types)), m.outer.count * m.x_tiles * m.y_tiles,
                            kPermuteTile * kPermuteRows, &m);
  }
  return move_groups(on, TROUPE_TRY(on.kernel(MemoryKernel::copy, types)), moved.axes, in, moved.size_bytes, out,
                     moved.size_bytes);
}

Result<void> cast_elements(const LaneTools& on, DType from, CUdeviceptr in, DType to, CUdeviceptr out,
                           AxesBuilder<2> axes) {
  const KernelAxes<2> arranged = axes.arranged(1);
  if (arranged.count == 0) return {};
  const CUfunction kernel = TROUPE_TRY(on.kernel(static_cast<CastKernel>(to), from));
  return move_groups(on, kernel, arranged, in, size_bytes(from), out, size_bytes(to));
}

}  // namespace troupe::cuda

#endif
