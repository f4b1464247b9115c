// The names of the kernels in random_kernels.cu and random_engine_kernels.cu. A kernel that is missing here cannot be
// asked for, and one that is missing there is the driver's error when it is.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

TROUPE_KERNELS(RandomKernel, random_kernels, bits, integers, wide_integers, discrete, permutation, uniform, normal,
               log_normal, point_normal, point_log_normal, exponential, cauchy, gamma, beta, bernoulli, poisson)
TROUPE_KERNELS(RandomEngineKernel, random_engine_kernels, xorwow_words, mrg32k3a_words, sobol_words, put_numbers,
               start_mt19937, jump_mt19937, mt19937_words)

}  // namespace troupe::cuda
