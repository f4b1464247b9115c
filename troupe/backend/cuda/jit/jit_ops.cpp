#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::Launch& op, const LaneTools& on) {
  LoadedKernel* const kernel = TROUPE_TRY(on.programs().find(op));
  TROUPE_TRY(on.programs().allow_shared(*kernel, op));
  std::array<CUdeviceptr, op::kMaxKernelArguments> pointers;
  std::array<void*, op::kMaxKernelArguments> arguments;
  std::size_t arrays = 0;
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < op.order.size(); ++i) {
    const auto size = static_cast<std::size_t>(op.order[i]);
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
  on.begin();
  return checked(answer, "cuLaunchKernel");
}

void add_jit(RunTable& table) { table.add(op::JitOps{}); }

}  // namespace troupe::cuda

#endif
