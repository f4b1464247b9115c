#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/op_notes.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::host {

Result<void> run_op(const op::PluginCall& op, const HostTools& tools) {
  backend::at_op(tools.work().lane, tools.work().ticket, op::PluginCall::kName, op.function);
  return tools.plugins().call(
      op, nullptr, [&](const op::View& view) { return tools(view).data; }, [&] { tools.begin(); });
}

void add_plugin(RunTable& table) { table.add(op::PluginOps{}); }

}  // namespace troupe::host
