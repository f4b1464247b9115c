#include "troupe/backend/host/memory/memory_ops.hpp"

#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {

void add_control(RunTable& table) { table.add(op::ControlOps{}); }
void add_memory(RunTable& table) { table.add(op::MemoryOps{}); }

}  // namespace troupe::host
