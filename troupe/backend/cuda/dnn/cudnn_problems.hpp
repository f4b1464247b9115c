// The computations that we give to cuDNN: what it knows of one before it runs, as numbers, by which plans are kept; and
// the graph of it. In how many dimensions and where arrays lie is told as cuDNN takes it.
#pragma once

#include <array>

#include "troupe/backend/cuda/dnn/cudnn_graph.hpp"
#include "troupe/core/dnn_kinds.hpp"
#include "troupe/core/element.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::cuda {

/// f32, f16 or bf16.
cudnnDataType_t cudnn_type(DType dtype) noexcept;

/// An array: entries behind the last axis are 0.
struct CudnnOperand {
  static constexpr std::int64_t kMostAlignment = 16;
  static constexpr std::size_t kMostAxes = 5;

  std::array<std::int64_t, kMostAxes> extents{};
  std::array<std::int64_t, kMostAxes> strides{};
  std::int64_t alignment_bytes = kMostAlignment;  // of its first element
};

/// out = f(the convolution, or what comes back through it, + bias + addend). Arrays are a, b, out, then the bias and
/// the addend, if there are. In a convolution's two or three axes of space behind batch and channels.
struct CudnnConvolutionProblem {
  CudnnConvolution which{};
  DType dtype{};
  std::size_t axes = 4;
  op::DnnWindow window;  // by axes of space
  DnnActivation activation = DnnActivation::none;
  double alpha = 0;
  bool has_bias = false;
  bool has_addend = false;
  CudnnOperand a;  // x, y or x
  CudnnOperand b;  // w, w or y
  CudnnOperand out;
  CudnnOperand bias;
  CudnnOperand addend;

  std::vector<std::int64_t> key() const;
  CudnnGraph graph() const;
};

/// Whether cuDNN has the function, with a NaN that stays one.
bool has_cudnn_activation(DnnActivation function) noexcept;

/// Attention without lengths, masks that are arrays, or dropout, of 16-bit types. Arrays [batch, heads, tokens, width]
/// lie with their last axis side by side; the logarithms of the sums are dense. Forward arrays are q, k, v, y and the
/// sums; backward dy, dq, dk, dv, and scratch memory of the sums' size follow.
struct CudnnAttentionProblem {
  bool backward = false;
  DType dtype{};
  bool causal = false;
  std::int64_t shift = 0;  // query i is at the place of key i + shift
  float scale = 1;
  CudnnOperand q;
  CudnnOperand k;
  CudnnOperand v;
  CudnnOperand y;
  CudnnOperand dy;
  CudnnOperand dq;
  CudnnOperand dk;
  CudnnOperand dv;

  std::vector<std::int64_t> key() const;
  CudnnGraph graph() const;
};

}  // namespace troupe::cuda
