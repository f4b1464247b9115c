// What the kernels of the dnn family are called with: known to the worker and to the code on the GPU. Offsets and
// strides are in elements.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_axes.hpp"
#include "troupe/op/dnn_pool_functions.hpp"

namespace troupe::cuda {

/// y = f(x), or dx = dy f'(x): then the arrays are x, dy and dx.
struct DnnActivateArguments {
  const void* x;
  const void* dy;
  void* out;
  double alpha;
  int function;
  KernelAxes<3> axes;  // of x, dy and out
};

/// An array [batch, channels, three axes of space].
struct DnnArray {
  void* data;
  long long strides[5];
};

// ---- convolutions ----

/// The columns of a product, or its depth: an index is cut into one of an outer axis and three of space.
struct DnnProductAxis {
  long long count;
  long long extents[3];
  long long strides[4];         // of the first factor along the depth, of the result along the columns
  long long addend_strides[4];  // of the addend, along the columns
  long long outer_stride;       // of the second factor, along the outer axis
  long long factor[3];          // the place in space of the second factor is the index times this
  long long offset[3];          // and this added
};
/// What a convolution and its gradients are as products of matrices whose second factor is looked up: the place in
/// space of element (k, n) is that of k plus that of n. For the gradient of the input (`divides`) it is n's minus k's,
/// divided by the stride where that leaves no rest.
struct DnnProductArguments {
  const void* a;
  const void* b;
  const void* bias;
  const void* addend;
  void* out;
  double alpha;
  int activation;
  int divides;
  long long rows;  // of a group
  long long row_stride_a;
  long long row_stride_out;
  long long row_stride_addend;
  long long bias_stride;
  long long group;  // the first one of this launch
  long long group_a;
  long long group_b;
  long long group_out;
  long long group_addend;
  long long row_tiles;
  DnnProductAxis depth;
  DnnProductAxis columns;
  long long extents[3];  // of the second factor in space
  long long strides[3];  // of the second factor in space
  long long step[3];     // what is divided by
};
/// A block makes a tile of the result of so many rows and columns, from so much of the depth at a time.
inline constexpr int kDnnTile = 64;
inline constexpr int kDnnTileDepth = 16;
inline constexpr int kDnnProductThreads = 256;

// ---- pools ----

struct DnnPoolArguments {
  DnnArray x;        // or dx
  DnnArray y;        // or dy
  DnnArray indices;  // data is null when there are none
  dnn::PoolAxis axes[3];
  long long channels;
  long long count;  // of threads that have something to do
  int wide_indices;
  int counts_padding;
};

// ---- interpolation ----

struct DnnInterpolateArguments {
  DnnArray x;  // or dx
  DnnArray y;  // or dy
  long long in[3];
  long long out[3];
  long long channels;
  long long count;
  int way;
  int aligns_corners;
};

// ---- normalizations ----

/// Rows that are normalized by their own mean and deviation: elements of x, what comes back and the result; scale and
/// shift by strides of 0 where they do not change.
enum DnnNormArray { kNormX, kNormBack, kNormOut, kNormScale, kNormShift, kNormArrays };
struct DnnNormArguments {
  const void* x;
  const void* back;  // null forward
  void* out;
  const void* scale;   // or null
  const void* shift;   // or null
  void* moments;       // two numbers for each row: the mean and 1 / the deviation; or null
  void* running_mean;  // or null
  void* running_variance;
  long long running_mean_stride;
  long long running_variance_stride;
  double momentum;
  double epsilon;
  int centred;
  int wide_parameters;  // of the type that is computed in
  KernelAxes<kNormArrays> rows;
  KernelAxes<kNormArrays> inner;
};
/// By moments that are given.
enum DnnGivenArray { kGivenX, kGivenOut, kGivenMean, kGivenVariance, kGivenScale, kGivenShift, kGivenArrays };
struct DnnGivenNormArguments {
  const void* x;
  void* out;
  const void* mean;
  const void* variance;
  const void* scale;  // or null
  const void* shift;  // or null
  double epsilon;
  int wide_parameters;
  KernelAxes<kGivenArrays> axes;
};
/// The gradients of scale and shift: for each of them a sum over what it was used for.
enum DnnNormSumArray { kSumX, kSumBack, kSumMoments, kSumScale, kSumShift, kSumArrays };
struct DnnNormSumArguments {
  const void* x;
  const void* back;
  const void* moments;
  void* scale;  // or null
  void* shift;  // or null
  int wide_parameters;
  int width;  // of a block's threads, so many take neighbours that are kept; a power of 2
  KernelAxes<kSumArrays> kept;
  KernelAxes<kSumArrays> summed;
};
inline constexpr int kDnnNormThreads = 256;
/// Groups of 16 bytes that a thread keeps of a row that lies side by side.
inline constexpr int kDnnNormGroups = 8;

}  // namespace troupe::cuda
