// A kernel of the user's own, compiled at run time: the launch as data. The compiled image lies in shared memory like
// any array, so every worker that comes can load it, and none has to be told.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::op {

/// How many blocks, or how many threads in each, along three axes.
struct Extents {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  friend bool operator==(const Extents&, const Extents&) = default;
};

/// What was compiled. A worker that has loaded it knows it by its name and needs nothing else. It is no view: no op
/// ever writes it, so that there is nothing to order.
struct ProgramImage {
  std::uint64_t name = 0;  // made of its content
  Address address = 0;
  std::uint64_t size_bytes = 0;
  friend bool operator==(const ProgramImage&, const ProgramImage&) = default;
};

inline constexpr std::size_t kMaxKernelArguments = 64;

/// What every launch has, whatever its arguments are: sent in one piece.
struct LaunchPlan {
  ProgramImage program;
  Extents blocks;
  Extents threads;  // in each block
  std::uint64_t shared_bytes = 0;
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

struct Launch {
  static constexpr Kind kKind = kind(Family::jit, 0);
  static constexpr std::string_view kName = "jit.launch";
  LaunchPlan plan;
  std::string kernel;
  std::vector<Argument> arrays;
  /// One byte for every argument, in the kernel's order: 0 for the next of `arrays`, else the size of a scalar, whose
  /// bytes are the next in `scalars`.
  std::vector<std::byte> order;
  std::vector<std::byte> scalars;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field(self.plan);
    v.field(self.kernel);
    v.arguments(self.arrays);
    v.field(self.order);
    v.field(self.scalars);
  }
  static constexpr std::uint64_t work() noexcept { return ~std::uint64_t{0}; }
  friend bool operator==(const Launch&, const Launch&) = default;
};

using JitOps = OpList<Launch>;

}  // namespace troupe::op
