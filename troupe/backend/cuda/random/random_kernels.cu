// The kernels of the random family. A thread takes one group of positions, or several that lie far apart: right for any
// number of threads. What it does with one is in random_groups.hpp.
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/random/random_groups.hpp"

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_RANDOM_KERNEL(name, type, T, Numbers)                                               \
  extern "C" __global__ void troupe_##name##_##type(const RandomTarget target, const Numbers of) { \
    for (long long group = first_index(); group < target.groups; group += index_step())            \
      name##_group<T>(target, of, group);                                                          \
  }
TROUPE_RANDOM_KERNELS(TROUPE_RANDOM_KERNEL)
