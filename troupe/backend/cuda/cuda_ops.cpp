#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cuda_ops.hpp"

namespace troupe::cuda {

Result<void> CudaOps::warm(std::uint32_t lane, CUstream stream) {
  TROUPE_TRY(tools_.context().make_current());
  TROUPE_TRY(tools_.kernels());
  TROUPE_TRY(tools_.handle<Cublas>(lane, stream));
  return Cublas::load_usual_kernels(tools_.context());
}

Result<void> CudaOps::run(const op::PluginCall& op, const LaneTools& on) {
  TROUPE_TRY(plugins_.load(op.path));
  after_loading_();  // an exit() of the plugin's must not get past us
  std::vector<host::HostArgument> arguments;
  for (const op::Argument& argument : op.arrays)
    arguments.push_back({.data = reinterpret_cast<void*>(on.at(argument.view)),
                         .dtype = argument.view.dtype,
                         .shape = argument.view.shape,
                         .strides = argument.view.strides,
                         .access = argument.access});
  return plugins_.call(op, arguments, on.stream(), [this](LogLevel level, std::string_view text) {
    if (log_) log_({.level = level, .time = std::chrono::steady_clock::now(), .source = "plugin", .message = text});
  });
}

Result<void> CudaOps::run(const op::Launch& op, const LaneTools& on) {
  LoadedKernel* const kernel = TROUPE_TRY(programs_.find(op));
  TROUPE_TRY(programs_.allow_shared(*kernel, op.plan.shared_bytes));
  std::array<CUdeviceptr, op::kMaxKernelArguments> pointers;
  std::array<void*, op::kMaxKernelArguments> arguments;
  std::size_t arrays = 0;
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < op.order.size(); ++i) {
    const auto size = static_cast<std::size_t>(op.order[i]);
    if (arrays + (size == 0) > op.arrays.size() || scalar + size > op.scalars.size())
      return fail(ErrorKind::invalid_argument, "the record of jit.launch is corrupt");
    if (size == 0) {
      pointers[arrays] = on.at(op.arrays[arrays].view);
      arguments[i] = &pointers[arrays++];
    } else {
      arguments[i] = const_cast<std::byte*>(op.scalars.data() + scalar);  // the driver only reads it
      scalar += size;
    }
  }
  const op::LaunchPlan& plan = op.plan;
  const CUresult answer = on.driver().table().cuLaunchKernel(
      kernel->function, plan.blocks.x, plan.blocks.y, plan.blocks.z, plan.threads.x, plan.threads.y, plan.threads.z,
      static_cast<unsigned>(plan.shared_bytes), on.stream(), arguments.data(), nullptr);
  if (answer == CUDA_ERROR_INVALID_VALUE || answer == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    return fail(Error(ErrorKind::invalid_argument, "the GPU cannot run " + op.kernel + " with this grid",
                      error_of(static_cast<int>(answer), "cuLaunchKernel").origin()));
  return checked(answer, "cuLaunchKernel");
}

}  // namespace troupe::cuda

#endif
