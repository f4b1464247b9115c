// The names of the kernels in random_kernels.cu. A kernel that is missing here cannot be asked for, and one that is
// missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(RandomKernel, random_kernels, bits, integers, wide_integers, discrete, permutation, uniform, normal,
               log_normal, exponential, cauchy, gamma, beta, bernoulli, poisson)

}  // namespace troupe::cuda
