#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"

#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::cuda {
namespace {

op::View dense_like(const op::View& view, DType dtype) {
  return {.address = 0, .dtype = dtype, .shape = view.shape, .strides = contiguous_strides(view.shape)};
}

std::int64_t length_of_rows(const op::View& view) { return view.shape[view.shape.rank() - 1]; }
std::int64_t rows_of(const op::View& view) {
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < view.shape.rank(); ++i) rows *= view.shape[i];
  return rows;
}

std::optional<GpuRows> rows_in_place(const op::View& view, const LaneTools& on) {
  const int last = view.shape.rank() - 1;
  GpuRows found{on.at(view), view.dtype, 1, view.shape[last], view.shape[last]};
  if (op::element_count(view) == 0) {
    found.rows = rows_of(view);
    return found;
  }
  if (found.length > 1 && view.strides[last] != 1) return std::nullopt;
  for (int i = last - 1; i >= 0; --i) {
    if (view.shape[i] == 1) continue;
    if (found.rows == 1)
      found.stride = view.strides[i];
    else if (view.strides[i] != found.stride * found.rows)
      return std::nullopt;
    found.rows *= view.shape[i];
  }
  return found;
}
std::optional<GpuRows> flat_in_place(const op::View& view, const LaneTools& on) {
  if (!is_contiguous(view.shape, view.strides)) return std::nullopt;
  const std::int64_t count = op::element_count(view);
  return GpuRows{on.at(view), view.dtype, 1, count, count};
}

template <class Bits>
KeyOrder order_of(DType dtype, bool descends) noexcept {
  const primitives::Ranking<Bits> ranking = primitives::ranking_of<Bits>(dtype);
  return {.sign = ranking.sign, .infinity = ranking.infinity, .is_floating = ranking.is_floating, .descends = descends};
}

}  // namespace

Result<CUdeviceptr> PrimitivesScratch::memory(std::int64_t size_bytes) {
  held_.push_back(TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(size_bytes))));
  return held_.back().address();
}

Result<void> PrimitivesScratch::fill_bytes(void* at, unsigned char byte, std::int64_t count) const {
  if (count == 0) return {};
  return TROUPE_CUDA(on_.driver(), cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(at), byte,
                     static_cast<std::size_t>(count), on_.stream());
}

Result<GpuRows> PrimitivesScratch::made(DType dtype, std::int64_t rows, std::int64_t length) {
  return GpuRows{TROUPE_TRY(memory(rows * length * size_bytes(dtype))), dtype, rows, length, length};
}

Result<GpuRows> PrimitivesScratch::packed(const op::View& view, std::int64_t rows, std::int64_t length, bool reads) {
  const GpuRows copy = TROUPE_TRY(made(view.dtype, rows, length));
  if (reads) TROUPE_TRY(copy_elements(view, on_.at(view), dense_like(view, view.dtype), copy.at, on_));
  return copy;
}

Result<GpuRows> PrimitivesScratch::rows(const op::View& view) {
  if (const auto there = rows_in_place(view, on_)) return *there;
  return packed(view, rows_of(view), length_of_rows(view), true);
}
Result<GpuRows> PrimitivesScratch::flat(const op::View& view) {
  if (const auto there = flat_in_place(view, on_)) return *there;
  return packed(view, 1, op::element_count(view), true);
}
Result<GpuRows> PrimitivesScratch::rows_as(const op::View& view, DType dtype) {
  if (view.dtype == dtype) return rows(view);
  const GpuRows copy = TROUPE_TRY(made(dtype, rows_of(view), length_of_rows(view)));
  if (op::element_count(view) == 0) return copy;
  TROUPE_TRY(cast_elements(on_, view.dtype, on_.at(view), dtype, copy.at, axes_of(view, dense_like(view, dtype))));
  return copy;
}

Result<GpuTarget> PrimitivesScratch::target(const op::View& view, const std::optional<GpuRows>& there,
                                            std::int64_t rows, bool keeps) {
  if (there) return GpuTarget{*there, nullptr};
  return GpuTarget{TROUPE_TRY(packed(view, rows, op::element_count(view) / rows, keeps)), &view};
}
Result<GpuTarget> PrimitivesScratch::target_rows(const op::View& view, bool keeps) {
  return target(view, rows_in_place(view, on_), rows_of(view), keeps);
}
Result<GpuTarget> PrimitivesScratch::target_flat(const op::View& view, bool keeps) {
  return target(view, flat_in_place(view, on_), 1, keeps);
}
Result<void> PrimitivesScratch::finish(const GpuTarget& target) const {
  if (target.back == nullptr) return {};
  const op::View& to = *target.back;
  return copy_elements(dense_like(to, to.dtype), target.at, to, on_.at(to), on_);
}

Result<FirstFinding*> PrimitivesScratch::no_finding(const op::View& verdict) {
  auto* const finding = TROUPE_TRY(array<FirstFinding>(1));
  TROUPE_TRY(fill_bytes(finding, 0xff, sizeof(FirstFinding)));
  TROUPE_TRY(fill_bytes(on_.data(verdict), 0, op::kPrimitivesVerdictWords * size_bytes(DType::i32)));
  return finding;
}

Result<FirstFinding*> PrimitivesScratch::check_offsets(const GpuRows& offsets, std::int64_t length,
                                                       const op::View& verdict) {
  auto* const finding = TROUPE_TRY(no_finding(verdict));
  TROUPE_TRY(threads(SelectKernel::check_offsets, {}, offsets.length,
                     CheckArguments{.data = offsets.data(),
                                    .finding = finding,
                                    .length = offsets.length,
                                    .bound = length,
                                    .order = {},
                                    .fault = 0,
                                    .wide = is_wide(offsets)}));
  TROUPE_TRY(threads(SelectKernel::tell_finding, {}, 1,
                     VerdictArguments{.finding = finding,
                                      .verdict = on_.data<int>(verdict),
                                      .data = offsets.data(),
                                      .stride = offsets.length,
                                      .length = offsets.length,
                                      .bound = length,
                                      .wide = is_wide(offsets)}));
  return finding;
}

KeyOrder key_order(DType dtype, bool descends) noexcept {
  switch (size_bytes(dtype)) {
    case 1: return order_of<std::uint8_t>(dtype, descends);
    case 2: return order_of<std::uint16_t>(dtype, descends);
    case 4: return order_of<std::uint32_t>(dtype, descends);
    default: return order_of<std::uint64_t>(dtype, descends);
  }
}

KernelTypes combined_types(Combine function, DType dtype) noexcept {
  if (is_floating(dtype)) return dtype;
  if (function != Combine::min && function != Combine::max) return KernelTypes::of_size(size_bytes(dtype));
  return dtype == DType::boolean ? DType::u8 : dtype;
}

Result<void> permute_rows(const GpuRows& x, const GpuRows& positions, const GpuRows& y, const FirstFinding* finding,
                          const PrimitivesScratch& scratch) {
  return scratch.threads(SelectKernel::permute, of_size(x), x.count(),
                         PermuteArguments{.x = x.data(),
                                          .y = y.data(),
                                          .positions = positions.data(),
                                          .finding = finding,
                                          .x_stride = x.stride,
                                          .y_stride = y.stride,
                                          .positions_stride = positions.stride,
                                          .length = x.length,
                                          .rows = x.rows,
                                          .wide = positions.element_size() == 8});
}

}  // namespace troupe::cuda

#endif
