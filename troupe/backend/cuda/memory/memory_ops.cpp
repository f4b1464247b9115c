#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/memory_ops.hpp"

#include <cstring>
#include <optional>

#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

bool side_by_side(const op::View& view) { return is_contiguous(view.shape, view.strides); }

/// Rows of bytes, each in one piece, the same distance apart: what a copy engine does by itself, which reaches the
/// machine's memory faster than a kernel does.
struct Rows {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t in_step = 0;
  std::int64_t out_step = 0;
};
std::optional<Rows> as_rows(const op::View& in, const op::View& out) {
  if (in.shape.rank() != 2 || in.strides[1] != 1 || out.strides[1] != 1) return std::nullopt;
  const std::int64_t size = size_bytes(in.dtype);
  const Rows rows{in.shape[0], in.shape[1] * size, in.strides[0] * size, out.strides[0] * size};
  if (rows.in_step < rows.bytes || rows.out_step < rows.bytes) return std::nullopt;
  return rows;
}

}  // namespace

Layout layout_of(const op::View& a, const op::View* b) {
  Layout layout{};
  layout.count = op::element_count(a);
  if (side_by_side(a) && (!b || side_by_side(*b))) return layout;
  layout.rank = a.shape.rank();
  for (int i = 0; i < layout.rank; ++i) {
    layout.shape[i] = a.shape[i];
    layout.strides_a[i] = a.strides[i];
    layout.strides_b[i] = b ? b->strides[i] : 0;
  }
  return layout;
}

Result<void> run_op(const op::Fill& op, const LaneTools& on) {
  Layout layout = layout_of(op.out, nullptr);
  if (layout.count == 0) return {};
  CUdeviceptr out = on.at(op.out);
  Bytes16 value{};
  visit(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    const T converted = op.value.as<T>();
    std::memcpy(&value, &converted, sizeof converted);
  });
  const Driver& driver = on.driver();
  const auto count = static_cast<std::size_t>(layout.count);
  const std::int64_t size = size_bytes(op.out.dtype);
  if (layout.rank == 0) {
    const auto word = static_cast<unsigned>(value.words[0]);
    switch (size) {
      case 1: return TROUPE_CUDA(driver, cuMemsetD8Async, out, static_cast<unsigned char>(word), count, on.stream());
      case 2: return TROUPE_CUDA(driver, cuMemsetD16Async, out, static_cast<unsigned short>(word), count, on.stream());
      case 4: return TROUPE_CUDA(driver, cuMemsetD32Async, out, word, count, on.stream());
      default: break;
    }
  }
  std::array<void*, 3> arguments{&out, &layout, &value};
  return on.launch(TROUPE_TRY(on.kernels())->fill(size), layout.count, arguments);
}

Result<void> copy_elements(const op::View& in, CUdeviceptr in_at, const op::View& out, CUdeviceptr out_at,
                           const LaneTools& on) {
  const std::int64_t count = op::element_count(in);
  if (count == 0) return {};
  if (side_by_side(in) && side_by_side(out))
    return TROUPE_CUDA(on.driver(), cuMemcpyAsync, out_at, in_at,
                       static_cast<std::size_t>(count * size_bytes(in.dtype)), on.stream());
  return move_elements(on, in.dtype, in_at, out_at, axes_of(in, out));
}

Result<void> run_op(const op::Copy& op, const LaneTools& on) {
  const CUdeviceptr in = on.at(op.in);
  const CUdeviceptr out = on.at(op.out);
  const bool is_far = in != 0 && !(on.is_on_gpu(op.in) && on.is_on_gpu(op.out));
  if (const auto rows = is_far ? as_rows(op.in, op.out) : std::nullopt) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = in;
    copy.dstDevice = out;
    copy.srcPitch = static_cast<std::size_t>(rows->in_step);
    copy.dstPitch = static_cast<std::size_t>(rows->out_step);
    copy.WidthInBytes = static_cast<std::size_t>(rows->bytes);
    copy.Height = static_cast<std::size_t>(rows->count);
    return TROUPE_CUDA(on.driver(), cuMemcpy2DAsync, &copy, on.stream());
  }
  return copy_elements(op.in, in, op.out, out, on);
}

Result<void> run_op(const op::Cast& op, const LaneTools& on) {
  return cast_elements(on, op.in.dtype, on.at(op.in), op.out.dtype, on.at(op.out), axes_of(op.in, op.out));
}

void add_control(RunTable& table) { table.add(op::ControlOps{}); }
void add_memory(RunTable& table) { table.add(op::MemoryOps{}); }

}  // namespace troupe::cuda

#endif
