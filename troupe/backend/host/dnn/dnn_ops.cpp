#include "troupe/backend/host/dnn/dnn_ops.hpp"

#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {

void add_dnn(RunTable& table) { table.add(op::DnnOps{}); }

}  // namespace troupe::host
