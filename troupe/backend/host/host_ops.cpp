#include "troupe/backend/host/host_ops.hpp"

#include <vector>

#include "troupe/backend/host/blas_ops.hpp"
#include "troupe/backend/host/matmul_ops.hpp"
#include "troupe/backend/host/memory_ops.hpp"
#include "troupe/backend/host/solver_ops.hpp"
#include "troupe/backend/host/sparse_ops.hpp"
#include "troupe/backend/host/tensor_ops.hpp"
#include "troupe/backend/op_notes.hpp"

namespace troupe::host {

Result<void> HostOps::run(const backend::Work& work) noexcept {
  try {
    Result<void> result =
        op::decode<void>(work.bytes, [&]<class Op>(const op::OpHeader&, const Op& op) -> Result<void> {
          if constexpr (std::is_same_v<Op, op::PluginCall>) {
            backend::at_op(work.lane, work.ticket, Op::kName, op.function);
            return call_plugin(op);
          } else if constexpr (std::is_same_v<Op, op::Launch>) {
            return fail(ErrorKind::unsupported, "kernels run on a GPU; the host device has plugins (troupe/plugin.h)");
          } else {
            backend::at_static_op(work.lane, work.ticket, Op::kName);
            return run_op(op, here_);
          }
        });
    backend::at_no_op();
    return result;
  } catch (...) {
    backend::at_no_op();
    return fail(current_exception_as_error());
  }
}

Result<void> HostOps::call_plugin(const op::PluginCall& op) {
  if (Result<void> loaded = plugins_.load(op.path); !loaded) return loaded;
  after_loading_();  // an exit() of the plugin's must not get past us
  std::vector<HostArgument> arguments;
  for (const op::Argument& argument : op.arrays) {
    const HostView view = here_(argument.view);
    arguments.push_back({.data = view.data,
                         .dtype = view.dtype,
                         .shape = view.shape,
                         .strides = view.strides,
                         .access = argument.access});
  }
  return plugins_.call(op, arguments, nullptr, [this](LogLevel level, std::string_view text) {
    if (log_) log_({.level = level, .time = std::chrono::steady_clock::now(), .source = "plugin", .message = text});
  });
}

}  // namespace troupe::host
