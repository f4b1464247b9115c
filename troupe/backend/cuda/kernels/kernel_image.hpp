// The images of our own kernels that this program carries, one for each .cu file here: code for the GPUs we know, PTX
// for those to come. So a machine that runs Troupe needs no compiler.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace troupe::cuda {

/// Of `<name>.cu`. There must be one.
std::span<const std::byte> kernel_image(std::string_view name) noexcept;

}  // namespace troupe::cuda
