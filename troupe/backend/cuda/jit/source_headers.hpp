// The headers of ours that kernels made at run time include, as text: those that nvcc compiled into the worker's own
// kernels, taken in when the worker was built. With what they need of the C++ library, of which NVRTC has nothing.
#pragma once

#include <span>

namespace troupe::cuda {

struct SourceHeader {
  const char* name;  // as it is included
  const char* text;
};

/// In no order. For ever.
std::span<const SourceHeader> source_headers() noexcept;

/// What kernels of users include of the C library and of <limits>, which NVRTC does not have either. For ever.
std::span<const SourceHeader> c_headers() noexcept;

}  // namespace troupe::cuda
