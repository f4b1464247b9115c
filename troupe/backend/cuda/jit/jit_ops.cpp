#if TROUPE_CUDA_BACKEND

#include <algorithm>
#include <cstring>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::cuda {
namespace {

constexpr std::uint32_t kPortableCluster = 8;  // blocks; more are a matter of the GPU

std::size_t bytes_of(const op::View& view) {
  return static_cast<std::size_t>(op::element_count(view) * size_bytes(view.dtype));
}

/// The arguments as the driver wants them: an address of each.
class LaunchArguments {
 public:
  LaunchArguments(const op::Launch& op, const LaneTools& on) : scalars_(op.scalars) {
    const std::size_t inside = op.pointers.size() / 2, first = op.arrays.size() - inside;
    for (std::size_t i = 0; i < inside; ++i) {
      const CUdeviceptr pointer = on.at(op.arrays[first + i].view);
      std::memcpy(scalars_.data() + op::pointer_at(op, i), &pointer, sizeof pointer);
    }
    std::size_t arrays = 0, scalar = 0;
    for (std::size_t i = 0; i < op.order.size(); ++i) {
      const auto size = static_cast<std::size_t>(op.order[i]);
      if (size == 0) {
        pointers_[arrays] = on.at(op.arrays[arrays].view);
        addresses_[i] = &pointers_[arrays++];
      } else {
        addresses_[i] = scalars_.data() + scalar;
        scalar += size;
      }
    }
  }
  void** addresses() noexcept { return addresses_.data(); }

 private:
  std::vector<std::byte> scalars_;
  std::array<CUdeviceptr, op::kMaxKernelArguments> pointers_;
  std::array<void*, op::kMaxKernelArguments> addresses_;
};

Result<std::int64_t> blocks_at_once(const LoadedKernel& kernel, const op::LaunchPlan& plan, const LaneTools& on) {
  int of_one = 0, multiprocessors = 0;
  TROUPE_TRY(TROUPE_CUDA(on.driver(), cuOccupancyMaxActiveBlocksPerMultiprocessor, &of_one, kernel.function,
                         static_cast<int>(plan.threads.x * plan.threads.y * plan.threads.z), plan.shared_bytes));
  TROUPE_TRY(TROUPE_CUDA(on.driver(), cuDeviceGetAttribute, &multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                         on.context().device()));
  return std::int64_t{of_one} * multiprocessors;
}

/// How many blocks there are, when they are to fill the GPU: whole clusters, at least one.
Result<op::Extents> blocks_of(const LoadedKernel& kernel, const op::LaunchPlan& plan, const LaneTools& on) {
  op::Extents blocks = plan.blocks;
  if ((plan.together & op::kFillsDevice) == 0) return blocks;
  const std::int64_t in_row = TROUPE_TRY(blocks_at_once(kernel, plan, on)) / (std::int64_t{blocks.y} * blocks.z);
  blocks.x = std::max(static_cast<std::uint32_t>(in_row) / plan.cluster.x, 1U) * plan.cluster.x;
  return blocks;
}

/// A launch whose blocks know of each other.
CUresult launch_together(const LoadedKernel& kernel, const op::Extents& blocks, const op::LaunchPlan& plan,
                         const LaneTools& on, void** arguments) {
  const auto& [x, y, z] = plan.cluster;
  if (x * y * z > kPortableCluster) {
    const CUresult allowed =
        on.driver().table().cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (allowed != CUDA_SUCCESS) return allowed;
  }
  std::array<CUlaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if ((plan.together & op::kCooperative) != 0) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count++].value.cooperative = 1;
  }
  if (x * y * z > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim.x = x;
    attributes[count].value.clusterDim.y = y;
    attributes[count++].value.clusterDim.z = z;
  }
  CUlaunchConfig config{};
  config.gridDimX = blocks.x, config.gridDimY = blocks.y, config.gridDimZ = blocks.z;
  config.blockDimX = plan.threads.x, config.blockDimY = plan.threads.y, config.blockDimZ = plan.threads.z;
  config.sharedMemBytes = static_cast<unsigned>(plan.shared_bytes);
  config.hStream = on.stream();
  config.attrs = attributes.data();
  config.numAttrs = count;
  return on.driver().table().cuLaunchKernelEx(&config, kernel.function, arguments, nullptr);
}

CUresult launch(const LoadedKernel& kernel, const op::Extents& blocks, const op::LaunchPlan& plan, const LaneTools& on,
                void** arguments) {
  if ((plan.together & op::kCooperative) != 0 || plan.cluster != op::Extents{})
    return launch_together(kernel, blocks, plan, on, arguments);
  return on.driver().table().cuLaunchKernel(kernel.function, blocks.x, blocks.y, blocks.z, plan.threads.x,
                                            plan.threads.y, plan.threads.z, static_cast<unsigned>(plan.shared_bytes),
                                            on.stream(), arguments, nullptr);
}

/// Whether the driver took the grid; otherwise, why not, in the words of whoever made the launch.
Result<void> check_grid(CUresult answer, const LoadedKernel& kernel, const op::Launch& op, const LaneTools& on) {
  const auto refuse = [&](const std::string& why) {
    return fail(Error(ErrorKind::invalid_argument, "the GPU cannot run " + op.kernel + " with this grid" + why,
                      error_of(static_cast<int>(answer), "cuLaunchKernel").origin()));
  };
  if (answer == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    return refuse(": of a cooperative one all blocks must fit at once, and " +
                  std::to_string(TROUPE_TRY(blocks_at_once(kernel, op.plan, on))) + " do");
  if (answer == CUDA_ERROR_INVALID_CLUSTER_SIZE) return refuse(": it has no clusters of that size");
  if (answer == CUDA_ERROR_INVALID_VALUE || answer == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) return refuse("");
  return {};
}

/// `do_it(variable, kept, access)` for each variable of the program that is set.
template <class Do>
Result<void> for_variables(const op::Launch& op, const LaneTools& on, const Do& do_it) {
  std::string_view symbols = op.symbols;
  for (const op::Argument& argument : op.variables) {
    const std::string symbol(symbols.substr(0, symbols.find('\n')));
    symbols.remove_prefix(std::min(symbol.size() + 1, symbols.size()));
    LoadedVariable* const variable =
        TROUPE_TRY(on.programs().variable("launch", op.plan.program, symbol, symbol, bytes_of(argument.view)));
    TROUPE_TRY(do_it(*variable, on.at(argument.view), argument.access));
  }
  return {};
}

/// In a worker that has not set it yet: takes it from what is kept.
Result<void> set_once(LoadedVariable& variable, CUdeviceptr kept, const LaneTools& on) {
  if (variable.is_set) return variable.set_by.let_wait(on.stream());
  TROUPE_TRY(TROUPE_CUDA(on.driver(), cuMemcpyAsync, variable.address, kept, variable.size_bytes, on.stream()));
  variable.is_set = true;
  return variable.set_by.set(on.stream());
}

}  // namespace

Result<void> run_op(const op::Launch& op, const LaneTools& on) {
  TROUPE_TRY(for_variables(
      op, on, [&](LoadedVariable& variable, CUdeviceptr kept, op::Access) { return set_once(variable, kept, on); }));
  LoadedKernel* const kernel = TROUPE_TRY(on.programs().find(op));
  TROUPE_TRY(on.programs().allow_shared(*kernel, op));
  LaunchArguments arguments(op, on);
  const op::Extents blocks = TROUPE_TRY(blocks_of(*kernel, op.plan, on));
  const CUresult answer = launch(*kernel, blocks, op.plan, on, arguments.addresses());
  TROUPE_TRY(check_grid(answer, *kernel, op, on));
  on.begin();
  TROUPE_TRY(checked(answer, "cuLaunchKernel"));
  if (kernel->prints) (void)on.prints().expect(op.kernel, on.stream());  // without it, the launch is as good
  return for_variables(op, on, [&](const LoadedVariable& variable, CUdeviceptr kept, op::Access access) {
    if (access == op::Access::read) return Result<void>();
    return TROUPE_CUDA(on.driver(), cuMemcpyAsync, kept, variable.address, variable.size_bytes, on.stream());
  });
}

Result<void> run_op(const op::SetVariable& op, const LaneTools& on) {
  LoadedVariable* const variable =
      TROUPE_TRY(on.programs().variable("set", op.program, op.variable, op.symbol, bytes_of(op.from)));
  on.begin();
  TROUPE_TRY(
      TROUPE_CUDA(on.driver(), cuMemcpyAsync, on.at(op.kept), on.at(op.from), variable->size_bytes, on.stream()));
  TROUPE_TRY(
      TROUPE_CUDA(on.driver(), cuMemcpyAsync, variable->address, on.at(op.kept), variable->size_bytes, on.stream()));
  variable->is_set = true;  // launches that use it wait for this op
  return {};
}

void add_jit(RunTable& table) { table.add(op::JitOps{}); }

}  // namespace troupe::cuda

#endif
