#include "troupe/backend/host/memory/memory_kernels.hpp"

#include <bit>
#include <type_traits>

#include "troupe/backend/host/kernels/element_size.hpp"
#include "troupe/backend/host/kernels/spread_rows.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {
namespace {

template <std::size_t size>
void fill_row(std::byte* out, std::int64_t step, std::int64_t count, const std::byte* value) noexcept {
  if (step == static_cast<std::int64_t>(size)) return vector_rows().fill[std::countr_zero(size)](value, out, count);
  for (; count > 0; --count, out += step) std::memcpy(out, value, size);
}

using CastRow = void (*)(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
                         std::int64_t count) noexcept;

template <Element From, Element To>
void cast_row(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step,
              std::int64_t count) noexcept {
  for (; count > 0; --count, in += in_step, out += out_step) store(out, convert<To>(load<From>(in)));
}

CastRow cast_row_for(DType in, DType out) {
  return visit(in, [&]<class From>(std::type_identity<From>) {
    return visit(out, []<class To>(std::type_identity<To>) -> CastRow { return cast_row<From, To>; });
  });
}

}  // namespace

Result<void> fill(const HostView& out, const op::Scalar& value, Team& team) {
  TROUPE_TRY(check(out));
  std::array<std::byte, 16> bytes{};
  visit(out.dtype, [&]<class T>(std::type_identity<T>) { store(bytes.data(), value.as<T>()); });
  with_size(size_bytes(out.dtype), [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    walk<1>({&out}, team, [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) noexcept {
      fill_row<size>(at[0], step[0], count, bytes.data());
    });
  });
  return {};
}

Result<void> copy(const HostView& in, const HostView& out, Team& team) {
  TROUPE_TRY(check_same_shape(in, out));
  TROUPE_TRY(check_same_dtype(in, out));
  Walk<2> walk({&in, &out});
  const std::int64_t size = walk.widen_elements();
  walk.run_tiles(team, Grain::of_bytes(2 * size), [size](const Tile<2>& tile) noexcept {
    copy_plane({.in = tile.at[0],
                .in_row = tile.row_step[0],
                .in_column = tile.step[0],
                .out = tile.at[1],
                .out_row = tile.row_step[1],
                .out_column = tile.step[1],
                .rows = tile.rows,
                .columns = tile.count},
               size);
  });
  return {};
}

Result<void> cast(const HostView& in, const HostView& out, Team& team) {
  if (in.dtype == out.dtype && in.dtype != DType::boolean) return copy(in, out, team);
  TROUPE_TRY(check_same_shape(in, out));
  const CastRow row = cast_row_for(in.dtype, out.dtype);
  const ConvertRow dense = convert_row_for(in.dtype, out.dtype);
  const Steps<2> dense_steps{size_bytes(in.dtype), size_bytes(out.dtype)};
  walk<2>({&in, &out}, team, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
    if (dense != nullptr && step[0] != 0 && step[1] == dense_steps[1])
      return convert_spread(dense, at[0], step[0], dense_steps[0], at[1], dense_steps[1], count);
    row(at[0], step[0], at[1], step[1], count);
  });
  return {};
}

}  // namespace troupe::host
