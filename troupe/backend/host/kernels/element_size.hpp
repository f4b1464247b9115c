// Kernels that move elements depend on their size alone: 1, 2, 4, 8 or 16 bytes. So there is one kernel for each size
// and not for each type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace troupe::host {

/// Calls `f` with the size as a constant.
template <class F>
decltype(auto) with_size(std::int64_t size, F&& f) {
  switch (size) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    default: return f(std::integral_constant<std::size_t, 16>{});
  }
}

}  // namespace troupe::host
