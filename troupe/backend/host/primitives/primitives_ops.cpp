#include "troupe/backend/host/primitives/primitives_ops.hpp"

#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {

void add_primitives(RunTable& table) { table.add(op::PrimitivesOps{}); }

}  // namespace troupe::host
