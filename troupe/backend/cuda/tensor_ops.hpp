// What the GPU does for the ops of op/tensor.hpp.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/op_tools.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::cuda {}  // namespace troupe::cuda
