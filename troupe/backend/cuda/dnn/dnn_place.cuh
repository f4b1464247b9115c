// Elements of arrays [batch, channels, three axes of space] by their index in row-major order. Only for code on the
// GPU.
#pragma once

#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"

namespace troupe::cuda {

struct DnnPlace {
  long long batch;
  long long channel;
  long long space[3];
};

__device__ inline DnnPlace dnn_place(long long index, long long channels, long long d, long long h, long long w) {
  DnnPlace place;
  const long long extents[3] = {d, h, w};
#pragma unroll
  for (int i = 2; i >= 0; --i) {
    const long long rest = index / extents[i];
    place.space[i] = index - rest * extents[i];
    index = rest;
  }
  place.batch = index / channels;
  place.channel = index - place.batch * channels;
  return place;
}

/// Where the channel begins.
__device__ inline long long plane_of(const DnnArray& array, const DnnPlace& place) {
  return place.batch * array.strides[0] + place.channel * array.strides[1];
}
__device__ inline long long offset_of(const DnnArray& array, const DnnPlace& place) {
  return plane_of(array, place) + place.space[0] * array.strides[2] + place.space[1] * array.strides[3] +
         place.space[2] * array.strides[4];
}

}  // namespace troupe::cuda
