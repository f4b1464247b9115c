// Launches of the tensor family's kernels, for the ops themselves and for the steps of a contraction. Pointers are the
// GPU's; everything is put on the lane's stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::cuda {

/// Gathers axes for a kernel. At most `kMaxKernelRank` of them.
template <int n>
class AxesBuilder {
 public:
  using Strides = std::array<std::int64_t, n>;

  void add(std::int64_t extent, const Strides& strides) noexcept {
    axes_.count *= extent;
    if (extent == 1) return;
    TROUPE_ASSERT(axes_.rank < kMaxKernelRank, "an array has no more axes");
    axes_.shape[axes_.rank] = extent;
    for (int v = 0; v < n; ++v) axes_.strides[v][axes_.rank] = strides[static_cast<std::size_t>(v)];
    ++axes_.rank;
  }

  /// The axis along which array `by` is densest last, and what lies side by side merged.
  KernelAxes<n> arranged(int by) noexcept {
    for (int i = 1; i < axes_.rank; ++i)
      for (int j = i; j > 0 && is_denser(j - 1, j, by); --j) swap(j - 1, j);
    int last = 0;
    for (int i = 1; i < axes_.rank; ++i) {
      if (side_by_side(last, i)) {
        axes_.shape[last] *= axes_.shape[i];
        for (int v = 0; v < n; ++v) axes_.strides[v][last] = axes_.strides[v][i];
      } else {
        move_to(++last, i);
      }
    }
    axes_.rank = std::min(axes_.rank, last + 1);
    return axes_;
  }

 private:
  bool is_denser(int x, int y, int by) const noexcept {
    if (axes_.strides[by][x] != axes_.strides[by][y])
      return std::llabs(axes_.strides[by][x]) < std::llabs(axes_.strides[by][y]);
    return std::llabs(axes_.strides[0][x]) < std::llabs(axes_.strides[0][y]);
  }
  bool side_by_side(int outer, int inner) const noexcept {
    for (int v = 0; v < n; ++v)
      if (axes_.strides[v][outer] != axes_.strides[v][inner] * axes_.shape[inner]) return false;
    return true;
  }
  void swap(int x, int y) noexcept {
    std::swap(axes_.shape[x], axes_.shape[y]);
    for (int v = 0; v < n; ++v) std::swap(axes_.strides[v][x], axes_.strides[v][y]);
  }
  void move_to(int x, int from) noexcept {
    axes_.shape[x] = axes_.shape[from];
    for (int v = 0; v < n; ++v) axes_.strides[v][x] = axes_.strides[v][from];
  }

  KernelAxes<n> axes_{.count = 1, .shape = {}, .strides = {}, .rank = 0};
};

/// out becomes in: elements of one type, of which neither array need be aligned to more than one.
Result<void> move_elements(const LaneTools& on, DType dtype, CUdeviceptr in, CUdeviceptr out, AxesBuilder<2>& axes);

/// A reduction of a, or of the products of a and b. Strides of what is kept are those of a, b and out; of what is
/// reduced, those of a and b.
struct ReduceLaunch {
  Reduction function{};
  DType in{};
  DType out{};
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;  // 0 where nothing is multiplied
  CUdeviceptr to = 0;
  op::Scalar alpha;
  op::Scalar beta;
  AxesBuilder<3> kept;
  AxesBuilder<2> reduced;
};
Result<void> reduce_elements(const LaneTools& on, ReduceLaunch& launch);

}  // namespace troupe::cuda
