// NVIDIA's libraries by name, for `troupe doctor`: every one that is declared in a room, and those to come. Needs no
// CUDA header, so a worker without the CUDA backend can look for them, too.
#pragma once

#include <functional>
#include <string_view>

#include "troupe/backend/cuda/driver/vendor_library.hpp"
#include "troupe/wire/found_library.hpp"

namespace troupe::cuda {

/// The driver's user part, libcuda.so.1. It is opened, not initialized.
wire::FoundLibrary find_driver(const SearchPaths& paths = SearchPaths::from_environment());

/// All others: `looking` is told the name of each before it is opened, which may take
/// seconds or never end, and `found` what became of it. They stay open as long as the process lives.
void find_libraries(const std::function<void(std::string_view name)>& looking,
                    const std::function<void(const wire::FoundLibrary&)>& found,
                    const SearchPaths& paths = SearchPaths::from_environment());

}  // namespace troupe::cuda
