#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::host {

Result<void> run_op(const op::Launch&, const HostTools&) {
  return fail(ErrorKind::unsupported, "kernels run on a GPU; the host device has plugins (troupe/plugin.h)");
}

void add_jit(RunTable& table) { table.add(op::JitOps{}); }

}  // namespace troupe::host
