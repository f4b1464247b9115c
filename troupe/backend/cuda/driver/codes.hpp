// Every code that a call of the CUDA driver can answer: what it means, and whether it is *sticky*, that is, whether
// nothing inside this process will ever work again. Needs no CUDA header, so that any program can use it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::cuda {

struct Code {
  int number;
  std::string_view name;
  bool is_sticky = false;
  std::string_view meaning = {};  // empty: the name says it
};

/// By number. The sticky ones are those of which cuda.h (13.0) says that the process must be started again, and 710, of
/// which it says that the context must be destroyed: measured, it is as dead as the rest.
inline constexpr std::array kCodes = {
    Code{0, "CUDA_SUCCESS"},
    Code{1, "CUDA_ERROR_INVALID_VALUE", false, "an argument is not valid"},
    Code{2, "CUDA_ERROR_OUT_OF_MEMORY", false, "the GPU has no memory left"},
    Code{3, "CUDA_ERROR_NOT_INITIALIZED", false, "the driver is not initialized"},
    Code{4, "CUDA_ERROR_DEINITIALIZED", false, "the driver is shutting down"},
    Code{5, "CUDA_ERROR_PROFILER_DISABLED"},
    Code{6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED"},
    Code{7, "CUDA_ERROR_PROFILER_ALREADY_STARTED"},
    Code{8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED"},
    Code{34, "CUDA_ERROR_STUB_LIBRARY"},
    Code{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    Code{46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    Code{100, "CUDA_ERROR_NO_DEVICE", false, "there is no GPU, or none is visible"},
    Code{101, "CUDA_ERROR_INVALID_DEVICE", false, "there is no GPU of that number"},
    Code{102, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
    Code{200, "CUDA_ERROR_INVALID_IMAGE", false, "the code is not for this GPU"},
    Code{201, "CUDA_ERROR_INVALID_CONTEXT", false, "there is no context"},
    Code{202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"},
    Code{205, "CUDA_ERROR_MAP_FAILED"},
    Code{206, "CUDA_ERROR_UNMAP_FAILED"},
    Code{207, "CUDA_ERROR_ARRAY_IS_MAPPED"},
    Code{208, "CUDA_ERROR_ALREADY_MAPPED"},
    Code{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", false, "no code in the image is for this GPU"},
    Code{210, "CUDA_ERROR_ALREADY_ACQUIRED"},
    Code{211, "CUDA_ERROR_NOT_MAPPED"},
    Code{212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY"},
    Code{213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER"},
    Code{214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    Code{215, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    Code{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
    Code{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    Code{218, "CUDA_ERROR_INVALID_PTX", false, "the PTX cannot be compiled"},
    Code{219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
    Code{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    Code{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    Code{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", false, "the PTX is newer than the driver"},
    Code{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    Code{224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"},
    Code{225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"},
    Code{226, "CUDA_ERROR_CONTAINED", true,
         "the GPU met an error that it could only contain: memory of another GPU, or its own hardware"},
    Code{300, "CUDA_ERROR_INVALID_SOURCE"},
    Code{301, "CUDA_ERROR_FILE_NOT_FOUND"},
    Code{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"},
    Code{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", false, "a library that the driver needs was not found"},
    Code{304, "CUDA_ERROR_OPERATING_SYSTEM", false, "the operating system refused"},
    Code{400, "CUDA_ERROR_INVALID_HANDLE", false, "a handle is not valid"},
    Code{401, "CUDA_ERROR_ILLEGAL_STATE"},
    Code{402, "CUDA_ERROR_LOSSY_QUERY"},
    Code{500, "CUDA_ERROR_NOT_FOUND", false, "there is no such name"},
    Code{600, "CUDA_ERROR_NOT_READY", false, "the work is not done yet"},
    Code{700, "CUDA_ERROR_ILLEGAL_ADDRESS", true, "a kernel used an address that is not mapped"},
    Code{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", false,
         "a kernel needs more registers or shared memory than there is"},
    Code{702, "CUDA_ERROR_LAUNCH_TIMEOUT", true, "a kernel ran for longer than the system allows"},
    Code{703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
    Code{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    Code{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    Code{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    Code{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", false, "the context is gone"},
    Code{710, "CUDA_ERROR_ASSERT", true, "an assert in a kernel failed"},
    Code{711, "CUDA_ERROR_TOO_MANY_PEERS"},
    Code{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", false, "the memory is registered already"},
    Code{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", false, "the memory is not registered"},
    Code{714, "CUDA_ERROR_HARDWARE_STACK_ERROR", true, "a kernel's stack is broken"},
    Code{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", true, "a kernel executed an instruction that does not exist"},
    Code{716, "CUDA_ERROR_MISALIGNED_ADDRESS", true,
         "a kernel used an address that is not a multiple of the size of what it loads or stores"},
    Code{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", true,
         "a kernel used an address of another kind of memory than its instruction works on"},
    Code{718, "CUDA_ERROR_INVALID_PC", true, "a kernel ran out of its code"},
    Code{719, "CUDA_ERROR_LAUNCH_FAILED", true, "a kernel failed in a way that the driver does not name"},
    Code{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    Code{721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", true, "a kernel ended without giving back its tensor memory"},
    Code{800, "CUDA_ERROR_NOT_PERMITTED"},
    Code{801, "CUDA_ERROR_NOT_SUPPORTED", false, "this GPU or driver cannot do that"},
    Code{802, "CUDA_ERROR_SYSTEM_NOT_READY", false, "the system is not ready yet: is the fabric manager running?"},
    Code{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", false, "the driver is older than what this program needs"},
    Code{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", false, "the driver is too old for the libraries"},
    Code{805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    Code{806, "CUDA_ERROR_MPS_RPC_FAILURE"},
    Code{807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    Code{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    Code{809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    Code{810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", true,
         "the server that shares this GPU among processes (MPS) has ended this one's part"},
    Code{811, "CUDA_ERROR_CDP_NOT_SUPPORTED"},
    Code{812, "CUDA_ERROR_CDP_VERSION_MISMATCH"},
    Code{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    Code{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    Code{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    Code{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    Code{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    Code{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    Code{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    Code{907, "CUDA_ERROR_CAPTURED_EVENT"},
    Code{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    Code{909, "CUDA_ERROR_TIMEOUT"},
    Code{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    Code{911, "CUDA_ERROR_EXTERNAL_DEVICE", true, "another device signalled an error to what waited for it"},
    Code{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    Code{913, "CUDA_ERROR_FUNCTION_NOT_LOADED"},
    Code{914, "CUDA_ERROR_INVALID_RESOURCE_TYPE"},
    Code{915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
    Code{916, "CUDA_ERROR_KEY_ROTATION"},
    Code{999, "CUDA_ERROR_UNKNOWN", false, "the driver does not say"},
};

/// Null for a number that this version of CUDA does not have.
constexpr const Code* find_code(int number) noexcept {
  const auto* found = std::ranges::lower_bound(kCodes, number, {}, &Code::number);
  return found != kCodes.end() && found->number == number ? found : nullptr;
}

/// An unknown code counts as sticky: one worker too many costs less than an answer from a dead context.
constexpr bool is_sticky(int number) noexcept {
  for (const Code& code : kCodes)
    if (code.number == number) return code.is_sticky;
  return true;
}

/// What `call` answered, as an error: `context_poisoned` for the sticky codes, `out_of_memory`, `unsupported`, else
/// `library_error`.
Error error_of(int number, std::string_view call);

}  // namespace troupe::cuda
