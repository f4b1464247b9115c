#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::PluginCall& op, const LaneTools& on) {
  return on.plugins().call(
      op, on.stream(), [&](const op::View& view) { return on.data<void>(view); }, [&] { on.begin(); });
}

void add_plugin(RunTable& table) { table.add(op::PluginOps{}); }

}  // namespace troupe::cuda

#endif
