// The image of kernels.cu that this program carries: code for the GPUs we know, PTX for those to come. So a machine
// that runs Troupe needs no compiler.
#pragma once

#include <cstddef>
#include <span>

namespace troupe::cuda {

std::span<const std::byte> kernel_image() noexcept;

}  // namespace troupe::cuda
