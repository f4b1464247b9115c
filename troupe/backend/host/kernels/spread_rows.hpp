// Rows whose elements are apart from each other, for functions of vectors: the elements are brought side by side first,
// a block at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "troupe/backend/host/kernels/plane.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {

/// Elements `step` bytes apart, side by side.
inline void gather_row(const std::byte* in, std::int64_t step, std::int64_t size, std::byte* out,
                       std::int64_t count) noexcept {
  copy_plane({.in = in, .in_column = step, .out = out, .out_column = size, .rows = 1, .columns = count}, size);
}

/// `convert` of elements `step` bytes apart, to where they lie side by side. Both sizes are at most 16 bytes.
inline void convert_spread(ConvertRow convert, const std::byte* in, std::int64_t step, std::int64_t in_size,
                           std::byte* out, std::int64_t out_size, std::int64_t count) noexcept {
  constexpr std::int64_t kBlock = 256;
  if (step == in_size) return convert(in, out, count);
  alignas(64) std::byte block[kBlock * 16];
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t length = std::min(kBlock, count - done);
    gather_row(in + done * step, step, in_size, block, length);
    convert(block, out + done * out_size, length);
  }
}

}  // namespace troupe::host
