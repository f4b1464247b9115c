// Troupe: supervised accelerators for C++ services. Everything a user needs, in one include; two parts stand apart,
// troupe/actor/asio.hpp (it needs Boost) and troupe/actor/testkit.hpp (for tests).
#pragma once

#include "troupe/actor/context.hpp"
#include "troupe/actor/router.hpp"
#include "troupe/actor/system.hpp"
#include "troupe/actor/when.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"
#include "troupe/device/device.hpp"
#include "troupe/library/blas/blas.hpp"
#include "troupe/library/checkpoint/checkpoint.hpp"
#include "troupe/library/fft/fft.hpp"
#include "troupe/library/jit/jit.hpp"
#include "troupe/library/matmul/matmul.hpp"
#include "troupe/library/primitives/primitives.hpp"
#include "troupe/library/random/random.hpp"
#include "troupe/library/scope/scope.hpp"
#include "troupe/library/solver/solver.hpp"
#include "troupe/library/sparse/sparse.hpp"
#include "troupe/library/tensor/tensor.hpp"
