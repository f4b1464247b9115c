// The headers that kernels for a CPU are compiled with, as text: the worker has them in itself, so that it needs no
// files beside it.
#pragma once

#include <span>
#include <string_view>

namespace troupe::host {

struct KernelHeader {
  std::string_view name;  // as it is included
  std::string_view text;
};

std::span<const KernelHeader> kernel_headers() noexcept;

}  // namespace troupe::host
