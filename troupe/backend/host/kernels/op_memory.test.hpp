// Memory for the tests of ops: a chunk in which arrays of any layout are placed one after the other. It is what a
// worker maps, without a worker.
#pragma once

#include <gtest/gtest.h>

#include "troupe/backend/host/kernels/guarded_array.test.hpp"
#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"

namespace troupe::host {

class OpMemory {
 public:
  OpMemory() { EXPECT_TRUE(memory_.make_here({.id = kChunk, .size_bytes = kChunkBytes})); }

  /// An array of its own.
  op::View place(DType dtype, const Shape& shape, const Strides& strides) {
    std::int64_t before = 0;
    std::int64_t after = 1;
    for (int i = 0; i < shape.rank(); ++i) {
      const std::int64_t reach = std::max<std::int64_t>(shape[i] - 1, 0) * strides[i];
      (reach < 0 ? before : after) += std::abs(reach);
    }
    const auto size = static_cast<std::uint64_t>(size_bytes(dtype));
    const std::uint64_t first = used_ + static_cast<std::uint64_t>(before) * size;
    used_ = (first + static_cast<std::uint64_t>(after) * size + 63) / 64 * 64;
    EXPECT_LE(used_, kChunkBytes);
    return {op::address_of(kChunk, first), dtype, shape, strides};
  }
  /// The same with those elements.
  op::View place(GuardedArray& elements, const Shape& shape, const Strides& strides) {
    const op::View view = place(elements.dtype(), shape, strides);
    EXPECT_TRUE(copy(elements.view(), here()(view)));
    return view;
  }
  HostViews here(Team& team = Team::of_one()) { return {memory_, team}; }
  void clear() { used_ = 0; }

 private:
  static constexpr std::uint32_t kChunk = 1;
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{32} << 20;

  HostMemory memory_;
  std::uint64_t used_ = 0;
};

}  // namespace troupe::host
