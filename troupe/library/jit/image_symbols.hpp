// The symbols of a compiled program: its kernels and its variables, and whether it prints. Read from the image, which
// is not believed: what cannot be read has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace troupe::inline v0::detail {

/// A `__constant__` or `__device__` variable.
struct VariableSymbol {
  std::string symbol;
  std::uint64_t size_bytes = 0;
  bool is_constant = false;
};

struct ImageSymbols {
  bool is_readable = false;
  bool is_for_gpu = false;
  std::vector<std::string> kernels;
  std::vector<VariableSymbol> variables;
};

/// An ELF image's, in its order: for a GPU, or for the CPU as its compiler has marked them (kernel_image.hpp).
ImageSymbols symbols_in(std::span<const std::byte> image);

/// As C++ spells it; empty when the symbol is no name of C++.
std::string demangled(const std::string& symbol);

}  // namespace troupe::inline v0::detail
