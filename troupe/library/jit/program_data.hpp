// What all copies of a program share: its image, what is known of it, and what its variables were set to. Workers have
// only copies of it: one that is lost takes nothing with it.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "troupe/device/array.hpp"
#include "troupe/library/jit/program_kernels.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::inline v0::detail {

/// A variable that was set. What it holds is in memory that outlives workers.
struct KeptVariable {
  std::string name;    // as the user has it
  std::string symbol;  // in the image
  bool is_constant = false;
  AnyArray bytes;
};

struct ProgramData {
  ProgramData(std::span<const std::byte> of_image, std::string_view instances, std::string of_compiler)
      : kernels(of_image, instances), log(std::move(of_compiler)) {}

  std::uint64_t name = 0;
  HostArray<std::uint8_t> image;
  ProgramKernels kernels;
  std::string log;

  op::ProgramImage as_op() const {
    return {.name = name, .address = image.view().address, .size_bytes = static_cast<std::uint64_t>(image.size())};
  }
  /// Those that an op has written, or is about to.
  std::vector<KeptVariable> set_variables() const;
  /// The one of that symbol, made when it is not there. `out_of_memory`, or `unsupported` when there are too many.
  Result<KeptVariable> keep(const Device& device, KeptVariable variable, std::int64_t size_bytes);
  /// Null when it was never set.
  std::optional<KeptVariable> find_kept(std::string_view symbol) const;

 private:
  mutable std::mutex mutex_;
  std::vector<KeptVariable> kept_;
};

}  // namespace troupe::inline v0::detail
