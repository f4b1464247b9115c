// The system's C++ compiler, for kernels that run on the CPU. What users wrote is compiled in a process of its own, the
// parent of the compiler (`troupe-worker --compile cpu`).
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/result.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::host {

/// The file of the compiler: what TROUPE_CXX names, or else the first of g++, clang++ and c++ in PATH. `unsupported`
/// when there is none.
Result<std::string> find_cxx();

/// Compiles CUDA C++ to a shared object, in an empty folder that whoever calls it makes and removes. The flags are
/// NVRTC's, the instances kernels that are templates, with tabs between them. `unsupported` names what a CPU cannot do
/// or that there is no compiler; `invalid_argument` has the compiler's log. `is_checked` is for what checked_source.hpp
/// has written. Changes the process's environment, and its current folder until it returns.
Result<wire::CompiledImage> compile_for_cpu(const wire::CompileRequest& request, const std::string& folder,
                                            bool is_checked = false);

}  // namespace troupe::host
