// What the host does for the ops of op/sparse.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::host {}  // namespace troupe::host
