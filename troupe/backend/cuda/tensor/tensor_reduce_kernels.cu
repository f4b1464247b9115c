// The kernels of reductions of floats and complex numbers.
// What they do is in tensor_reduce_threads.cuh.
#include "troupe/backend/cuda/tensor/tensor_reduce_threads.cuh"

TROUPE_EACH_TENSOR_TYPE(TROUPE_REDUCE)
