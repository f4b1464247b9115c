// NVIDIA's libraries by name: the files they come in, how each tells its version, and what to install to have it. One
// table, for `troupe doctor`; no CUDA header is needed, so a worker without the CUDA backend can look for them, too.
#pragma once

#include <functional>
#include <string_view>

#include "troupe/backend/cuda/library.hpp"
#include "troupe/backend/found_library.hpp"

namespace troupe::cuda {

/// The driver's user part, libcuda.so.1. It is opened, not initialized.
backend::FoundLibrary find_driver(const Places& places = Places::from_environment());

/// All others, in the order of the table: `looking` is told the name of each before it is opened, which may take
/// seconds or never end, and `found` what became of it. They stay open as long as the process lives.
void find_libraries(const std::function<void(std::string_view name)>& looking,
                    const std::function<void(const backend::FoundLibrary&)>& found,
                    const Places& places = Places::from_environment());

}  // namespace troupe::cuda
