#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/jit/programs.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cuda {
namespace {

/// Without asking, a kernel may have this much dynamic shared memory.
constexpr std::uint32_t kUsualSharedBytes = 48 << 10;
/// What `printf` is in an image.
constexpr std::string_view kPrintf = "vprintf";

Result<void> check_arguments(const op::Launch& op, const LoadedKernel& kernel) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::invalid_argument, "the kernel " + op.kernel + " " + why);
  };
  if (op.order.size() > op::kMaxKernelArguments)
    return refuse("was given more than " + std::to_string(op::kMaxKernelArguments) + " arguments");
  if (op.order.size() != kernel.argument_sizes.size())
    return refuse("takes " + std::to_string(kernel.argument_sizes.size()) + " arguments and was given " +
                  std::to_string(op.order.size()));
  for (std::size_t i = 0; i < op.order.size(); ++i) {
    const bool is_array = op.order[i] == std::byte{0};
    const std::size_t given = is_array ? sizeof(CUdeviceptr) : static_cast<std::size_t>(op.order[i]);
    if (given != kernel.argument_sizes[i])
      return refuse("takes " + std::to_string(kernel.argument_sizes[i]) + " bytes as argument " +
                    std::to_string(i + 1) + " and was given " + (is_array ? "an array" : std::to_string(given)));
  }
  return {};
}

}  // namespace

Result<void> StreamMark::set(CUstream stream) {
  if (!event_) TROUPE_TRY(TROUPE_CUDA(*driver_, cuEventCreate, &event_, CU_EVENT_DISABLE_TIMING));
  stream_ = stream;
  return TROUPE_CUDA(*driver_, cuEventRecord, event_, stream);
}

Result<void> StreamMark::let_wait(CUstream stream) {
  if (!event_ || stream == stream_) return {};
  const CUresult answer = driver_->table().cuEventQuery(event_);
  if (answer == CUDA_ERROR_NOT_READY) return TROUPE_CUDA(*driver_, cuStreamWaitEvent, stream, event_, 0);
  TROUPE_TRY(checked(answer, "cuEventQuery"));
  return TROUPE_CUDA(*driver_, cuEventDestroy, std::exchange(event_, nullptr));
}

Result<Programs::Program*> Programs::loaded(const op::ProgramImage& image) {
  const auto found = programs_.find(image.name);
  return found != programs_.end() ? &found->second : load(image);
}

Result<LoadedVariable*> Programs::variable(std::string_view call, const op::ProgramImage& image, std::string_view name,
                                           const std::string& symbol, std::size_t size_bytes) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::invalid_argument, std::string(call) + ": " + why);
  };
  Program* const program = TROUPE_TRY(loaded(image));
  auto variable = std::ranges::find(program->variables, symbol, &LoadedVariable::symbol);
  if (variable == program->variables.end()) {
    LoadedVariable found{.symbol = symbol, .set_by = StreamMark(context_.driver())};
    const CUresult answer =
        context_.driver().table().cuModuleGetGlobal(&found.address, &found.size_bytes, program->module, symbol.c_str());
    if (answer == CUDA_ERROR_NOT_FOUND) return refuse("the program has no variable " + std::string(name));
    TROUPE_TRY(checked(answer, "cuModuleGetGlobal"));
    program->variables.push_back(std::move(found));
    variable = program->variables.end() - 1;
  }
  if (variable->size_bytes == size_bytes) return &*variable;
  return refuse(std::string(name) + " has " + std::to_string(variable->size_bytes) + " bytes, and the array has " +
                std::to_string(size_bytes));
}

Result<LoadedKernel*> Programs::find(const op::Launch& op) {
  Program* const program = TROUPE_TRY(loaded(op.plan.program));
  LoadedKernel* kernel = nullptr;
  for (LoadedKernel& known : program->kernels)
    if (known.symbol == op.symbol) kernel = &known;
  if (!kernel) {
    program->kernels.push_back(TROUPE_TRY(look_up(*program, op)));
    kernel = &program->kernels.back();
  }
  TROUPE_TRY(check_arguments(op, *kernel));
  return kernel;
}

Result<Programs::Program*> Programs::load(const op::ProgramImage& image) {
  const op::View view{image.address, DType::u8, {static_cast<std::int64_t>(image.size_bytes)}, {1}};
  const op::Range range = TROUPE_TRY(op::range_of(view));
  const std::byte* const bytes = !range.empty() && memory_.contains(range) ? memory_.shared_at(image.address) : nullptr;
  if (!bytes) return fail(ErrorKind::invalid_argument, "the op names no program");
  if (programs_.size() >= kMaxPrograms) TROUPE_TRY(unload_all());
  Program program;
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuModuleLoadData, &program.module, bytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(image.size_bytes));
  program.prints = text.find(kPrintf) != std::string_view::npos;
  return &programs_.emplace(image.name, std::move(program)).first->second;
}

Result<LoadedKernel> Programs::look_up(const Program& program, const op::Launch& op) const {
  const Driver& driver = context_.driver();
  LoadedKernel loaded{.symbol = op.symbol,
                      .function = nullptr,
                      .argument_sizes = {},
                      .shared_bytes = kUsualSharedBytes,
                      .prints = program.prints};
  const CUresult answer = driver.table().cuModuleGetFunction(&loaded.function, program.module, op.symbol.c_str());
  if (answer == CUDA_ERROR_NOT_FOUND)
    return fail(ErrorKind::invalid_argument,
                "the program has no kernel " + op.kernel + "; is it a __global__ function?");
  TROUPE_TRY(checked(answer, "cuModuleGetFunction"));
  for (std::size_t i = 0; i <= op::kMaxKernelArguments; ++i) {
    std::size_t offset = 0, size = 0;
    if (driver.table().cuFuncGetParamInfo(loaded.function, i, &offset, &size) != CUDA_SUCCESS) break;
    loaded.argument_sizes.push_back(size);
  }
  return loaded;
}

Result<void> Programs::allow_shared(LoadedKernel& kernel, const op::Launch& op) const {
  const std::uint64_t bytes = op.plan.shared_bytes;
  if (bytes <= kernel.shared_bytes) return {};
  const CUresult answer = context_.driver().table().cuFuncSetAttribute(
      kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      static_cast<int>(std::min(bytes, std::uint64_t{std::numeric_limits<int>::max()})));
  if (answer == CUDA_ERROR_INVALID_VALUE)
    return fail(ErrorKind::invalid_argument,
                "the kernel " + op.kernel + " cannot have " + std::to_string(bytes) + " bytes of shared memory");
  TROUPE_TRY(checked(answer, "cuFuncSetAttribute"));
  kernel.shared_bytes = bytes;
  return {};
}

Result<void> Programs::unload_all() {
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuCtxSynchronize));
  for (const auto& [name, program] : programs_)
    TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuModuleUnload, program.module));
  programs_.clear();
  return {};
}

}  // namespace troupe::cuda

#endif
