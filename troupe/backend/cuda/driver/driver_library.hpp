// The user part of NVIDIA's driver: what it is, without a CUDA header. Its functions are in driver.hpp: it has its own
// way to give them.
#pragma once

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

/// Its version is that of the newest CUDA that it can do; all older ones it can do as well.
inline constexpr VendorDeclaration kDriver{.name = "driver",
                                           .files = {"libcuda.so.1"},
                                           .versions = {.oldest = {12, 0}},
                                           .version_symbol = "cuDriverGetVersion",
                                           .read_version = version_by_cuda_number,
                                           .install = "the NVIDIA driver"};

}  // namespace troupe::cuda
