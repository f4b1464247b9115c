// The shared object that kernels for a CPU are compiled to: where its kernels and variables are. Each has a record in a
// section of its own (include/kernel_abi.h); what stands in the record is known before anything of the object has run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace troupe::host {

struct KernelInImage {
  std::string symbol;
  std::uint64_t record = 0;  // its address, when the object lies at 0
  int instance = 0;          // 1, 2, ... of those that were wanted
};

/// Whether it is an object for this machine's CPU; one for a GPU is not.
bool is_cpu_image(std::span<const std::byte> image);

/// Empty for what is no such object, or a damaged one.
std::vector<KernelInImage> kernels_in(std::span<const std::byte> image);

struct VariableInImage {
  std::string symbol;
  std::uint64_t record = 0;  // its address, when the object lies at 0
};
/// The same of variables that can be set.
std::vector<VariableInImage> variables_in(std::span<const std::byte> image);

/// Says of the symbols of kernels that they are kernels, in the way that images for GPUs do, and the same of variables
/// that can be set (library/jit/image_symbols.cpp reads it).
void mark_symbols(std::span<std::byte> image);

}  // namespace troupe::host
