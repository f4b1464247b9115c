// NVRTC, the compiler for CUDA C++ as a library: opened when it is first needed and never linked. It needs no GPU. What
// users wrote it compiles in a process of its own (`troupe-worker --compile`): that takes long and much memory, and
// compilers crash. What we wrote, the worker's own thread has it compile (compiled_expressions.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/backend/cuda/jit/source_headers.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

struct CompiledCode {
  std::string image;     // code for one kind of GPU
  std::string log;       // warnings
  std::string compiler;  // NVRTC's file
  /// Two lines for each instance: as it was written, and its symbol.
  std::string instances;
};

/// Compiles for GPUs of that compute capability (90 is 9.0), with `flags` for the compiler, spaces between them; what
/// is in quotation marks is one flag. `instances` are kernels that are templates, with tabs between them.
/// `invalid_argument` with the compiler's log when it does not take the source, and when the flags ask for anything but
/// code for a GPU; `unsupported` when there is no NVRTC or it does not know such GPUs. It finds `headers`, by their
/// names, before all others.
Result<CompiledCode> compile(const std::string& source, std::string_view flags, int capability,
                             std::span<const SourceHeader> headers = {}, std::string_view instances = {});

}  // namespace troupe::cuda
