#include "troupe/backend/host/host_ops.hpp"

#include <vector>

#include "troupe/backend/host/blas_kernels.hpp"
#include "troupe/backend/host/memory_kernels.hpp"
#include "troupe/backend/op_notes.hpp"

namespace troupe::host {

Result<void> HostOps::run(const backend::Work& work) noexcept {
  try {
    Result<void> result = op::decode<void>(work.bytes, [&]<class Op>(const op::OpHeader&, const Op& op) {
      if constexpr (std::is_same_v<Op, op::PluginCall>)
        backend::at_op(work.lane, work.ticket, Op::kName, op.function);
      else
        backend::at_static_op(work.lane, work.ticket, Op::kName);
      return run(op);
    });
    backend::at_no_op();
    return result;
  } catch (...) {
    backend::at_no_op();
    return fail(current_exception_as_error());
  }
}

HostView HostOps::here(const op::View& view) const noexcept {
  std::byte* data = op::element_count(view) == 0 ? nullptr : memory_.at(view.address);
  return {.data = data, .dtype = view.dtype, .shape = view.shape, .strides = view.strides};
}

Result<void> HostOps::run(const op::Fill& op) { return fill(here(op.out), op.value); }
Result<void> HostOps::run(const op::Copy& op) { return copy(here(op.in), here(op.out)); }
Result<void> HostOps::run(const op::Cast& op) { return cast(here(op.in), here(op.out)); }
Result<void> HostOps::run(const op::Axpy& op) { return axpy(op.alpha, here(op.x), here(op.y)); }
Result<void> HostOps::run(const op::PluginCall& op) {
  if (Result<void> loaded = plugins_.load(op.path); !loaded) return loaded;
  after_loading_();  // an exit() of the plugin's must not get past us
  std::vector<HostArgument> arguments;
  for (const op::Argument& argument : op.arrays) {
    const HostView view = here(argument.view);
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
Result<void> HostOps::run(const op::Launch&) {
  return fail(ErrorKind::unsupported, "kernels run on a GPU; the host device has plugins (troupe/plugin.h)");
}
Result<void> HostOps::run(const op::Gemm& op) { return gemm(op.alpha, op.beta, here(op.a), here(op.b), here(op.c)); }

}  // namespace troupe::host
