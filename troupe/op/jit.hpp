// A kernel of the user's own, compiled at run time: the launch as data. The compiled image lies in shared memory like
// any array, so every worker that comes can load it, and none has to be told.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kJitFamily{4};

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
/// Of one program, those that were set.
inline constexpr std::size_t kMaxProgramVariables = 64;

/// How the blocks of a launch belong together: bits of `LaunchPlan::together`.
inline constexpr std::uint32_t kCooperative = 1;  // all of them are there at once, and may wait for each other
inline constexpr std::uint32_t kFillsDevice = 2;  // as many along x as the device runs at once

/// What every launch has, whatever its arguments are: sent in one piece.
struct LaunchPlan {
  ProgramImage program;
  Extents blocks;
  Extents threads;  // in each block
  Extents cluster;  // how many blocks are a cluster
  std::uint32_t together = 0;
  std::uint64_t shared_bytes = 0;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("program", self.program.name);
    v.field("address", self.program.address);
    v.field("size_bytes", self.program.size_bytes);
    v.field("blocks_x", self.blocks.x);
    v.field("blocks_y", self.blocks.y);
    v.field("blocks_z", self.blocks.z);
    v.field("threads_x", self.threads.x);
    v.field("threads_y", self.threads.y);
    v.field("threads_z", self.threads.z);
    v.field("cluster_x", self.cluster.x);
    v.field("cluster_y", self.cluster.y);
    v.field("cluster_z", self.cluster.z);
    v.field("together", self.together);
    v.field("shared_bytes", self.shared_bytes);
  }
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

struct Launch {
  static constexpr Kind kKind = kind(kJitFamily, 0);
  static constexpr std::string_view kName = "jit.launch";
  static constexpr bool kSaysWhenItBegins = true;  // what it names may not be there
  static constexpr bool kTakesInPlace = true;      // by two pointers to one array
  LaunchPlan plan;
  std::string kernel;  // its name as the user has it
  std::string symbol;  // its name in the image
  /// Those that are arguments, then those that the pointers inside of scalars point to.
  std::vector<Argument> arrays;
  /// One byte for every argument, in the kernel's order: 0 for the next of `arrays`, else the size of a scalar, whose
  /// bytes are the next in `scalars`.
  std::vector<std::byte> order;
  std::vector<std::byte> scalars;
  /// Where in `scalars` a pointer is to be written, two bytes for each (`pointer_at`).
  std::vector<std::byte> pointers;
  /// What the variables of the program hold that were set: the worker keeps only a copy of it. Each has its symbol in
  /// `symbols`, with line breaks between them. What kernels may write is updated.
  std::vector<Argument> variables;
  std::string symbols;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("plan", self.plan);
    v.field("kernel", self.kernel);
    v.field("symbol", self.symbol);
    v.arguments("arrays", self.arrays);
    v.field("order", self.order);
    v.field("scalars", self.scalars);
    v.field("pointers", self.pointers);
    v.arguments("variables", self.variables);
    v.field("symbols", self.symbols);
  }
  static constexpr std::uint64_t work() noexcept { return ~std::uint64_t{0}; }
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// A `__constant__` or `__device__` variable of a program becomes what an array has. `kept` outlives the worker: the
/// next one, whose programs are loaded anew, sets the variable from there before it launches a kernel.
struct SetVariable {
  static constexpr Kind kKind = kind(kJitFamily, 1);
  static constexpr std::string_view kName = "jit.set";
  static constexpr bool kSaysWhenItBegins = true;  // what it names may not be there
  ProgramImage program;
  std::string variable;  // its name as the user has it
  std::string symbol;    // its name in the image
  View from;
  View kept;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("program", self.program.name);
    v.field("address", self.program.address);
    v.field("size_bytes", self.program.size_bytes);
    v.field("variable", self.variable);
    v.field("symbol", self.symbol);
    v.reads("from", self.from);
    v.writes("kept", self.kept);
  }
  static constexpr std::uint64_t work() noexcept { return ~std::uint64_t{0}; }
  friend bool operator==(const SetVariable&, const SetVariable&) = default;
};

using JitOps = OpList<Launch, SetVariable>;

Result<void> check(const Launch& op);
Result<void> check(const SetVariable& op);

/// Of the pointers of a launch, number `i`: its place in `scalars`.
inline std::size_t pointer_at(const Launch& op, std::size_t i) noexcept {
  return static_cast<std::size_t>(op.pointers[2 * i]) | static_cast<std::size_t>(op.pointers[2 * i + 1]) << 8;
}

}  // namespace troupe::inline v0::op
