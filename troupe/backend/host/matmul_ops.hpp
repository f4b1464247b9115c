// What the host does for the ops of op/matmul.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/matmul.hpp"

namespace troupe::host {}  // namespace troupe::host
