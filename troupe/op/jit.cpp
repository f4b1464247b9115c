#include "troupe/op/jit.hpp"

#include <algorithm>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::uint32_t kMaxBlocksAlongX = 2147483647;
constexpr std::uint32_t kMaxBlocksAlongYZ = 65535;
constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr std::uint32_t kMaxThreadsAlongZ = 64;
constexpr std::uint32_t kMaxBlocksOfCluster = 16;

constexpr std::size_t kPointerBytes = 2;  // what says where one stands

std::string text(const Extents& extents) {
  return std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " + std::to_string(extents.z);
}

Result<void> check_cluster(const LaunchPlan& plan) {
  const auto [x, y, z] = plan.cluster;
  const std::uint64_t together = std::uint64_t{x} * y * z;
  if (together == 0 || together > kMaxBlocksOfCluster || x > kMaxBlocksOfCluster || y > kMaxBlocksOfCluster)
    return refuse("launch", "grid.cluster is " + text(plan.cluster) + "; the product must be 1 to 16");
  // Blocks that fill a device come in whole clusters by themselves.
  const bool is_whole = ((plan.together & kFillsDevice) != 0 || plan.blocks.x % x == 0) && plan.blocks.y % y == 0 &&
                        plan.blocks.z % z == 0;
  if (!is_whole)
    return refuse("launch", "grid.blocks is " + text(plan.blocks) + " and grid.cluster is " + text(plan.cluster) +
                                "; there must be whole clusters along each axis");
  if (plan.together > (kCooperative | kFillsDevice))
    return refuse("launch", "there is no launch of the kind " + std::to_string(plan.together));
  return {};
}

Result<void> check_grid(const LaunchPlan& plan) {
  const auto [x, y, z] = plan.blocks;
  if (x == 0 || y == 0 || z == 0 || x > kMaxBlocksAlongX || y > kMaxBlocksAlongYZ || z > kMaxBlocksAlongYZ)
    return refuse("launch",
                  "grid.blocks is " + text(plan.blocks) + "; x must be 1 to 2147483647, y and z must be 1 to 65535");
  const Extents& threads = plan.threads;
  const std::uint64_t together = std::uint64_t{threads.x} * threads.y * threads.z;
  if (together == 0 || threads.x > kMaxThreadsPerBlock || threads.y > kMaxThreadsPerBlock ||
      threads.z > kMaxThreadsAlongZ || together > kMaxThreadsPerBlock)
    return refuse("launch",
                  "grid.threads is " + text(threads) + "; the product must be 1 to 1024, and z must be at most 64");
  return check_cluster(plan);
}

Result<void> check_name(std::string_view call, std::string_view what, const std::string& text) {
  if (!text.empty() && text.size() <= kMaxTextBytes) return {};
  return refuse(call, std::string(what) + " has " + std::to_string(text.size()) + " bytes; it must have 1 to " +
                          std::to_string(kMaxTextBytes));
}

/// Each argument is the next array, or a scalar of so many bytes; none is left over.
Result<void> check_arguments(const Launch& op) {
  if (op.order.size() > kMaxKernelArguments || op.arrays.size() >= kMaxKernelArguments)
    return refuse("launch", "there are " + std::to_string(op.order.size()) + " arguments, and " +
                                std::to_string(op.arrays.size()) +
                                " of them are arrays; a kernel takes at most 64 arguments and 63 arrays");
  std::size_t arrays = op.pointers.size() / kPointerBytes, scalar_bytes = 0;
  for (const std::byte size : op.order) {
    arrays += size == std::byte{0} ? 1 : 0;
    scalar_bytes += static_cast<std::size_t>(size);
  }
  if (arrays != op.arrays.size() || scalar_bytes != op.scalars.size())
    return refuse("launch", "order and pointers need " + std::to_string(arrays) + " arrays and " +
                                std::to_string(scalar_bytes) + " bytes of scalars; there are " +
                                std::to_string(op.arrays.size()) + " arrays and " + std::to_string(op.scalars.size()) +
                                " bytes");
  for (std::size_t i = 0; i < op.pointers.size() / kPointerBytes; ++i)
    if (pointer_at(op, i) + sizeof(Address) > op.scalars.size())
      return refuse("launch", "a pointer is at byte " + std::to_string(pointer_at(op, i)) + " of " +
                                  std::to_string(op.scalars.size()) + " bytes of scalars");
  return op.pointers.size() % kPointerBytes == 0 ? Result<void>() : refuse("launch", "half of a pointer is missing");
}

Result<void> check_variables(const Launch& op) {
  if (op.variables.size() > kMaxProgramVariables)
    return refuse("launch", "there are " + std::to_string(op.variables.size()) + " variables of the program; " +
                                std::to_string(kMaxProgramVariables) + " is the most");
  const auto lines = static_cast<std::size_t>(std::ranges::count(op.symbols, '\n')) + (op.symbols.empty() ? 0 : 1);
  if (lines != op.variables.size() || op.symbols.size() > kMaxTextBytes)
    return refuse("launch", "there are " + std::to_string(op.variables.size()) + " variables of the program and " +
                                std::to_string(lines) + " symbols of " + std::to_string(op.symbols.size()) + " bytes");
  return {};
}

}  // namespace

Result<void> check(const Launch& op) {
  TROUPE_TRY(check_name("launch", "the name of the kernel", op.kernel));
  TROUPE_TRY(check_name("launch", "the symbol of the kernel", op.symbol));
  TROUPE_TRY(check_arguments(op));
  TROUPE_TRY(check_variables(op));
  return check_grid(op.plan);
}

Result<void> check(const SetVariable& op) {
  TROUPE_TRY(check_name("set", "the name of the variable", op.variable));
  TROUPE_TRY(check_name("set", "the symbol of the variable", op.symbol));
  if (op.from.shape != op.kept.shape || op.from.dtype != op.kept.dtype)
    return refuse("set", "what is kept must have the shape and type of what is set");
  if (!is_contiguous(op.from.shape, op.from.strides) || !is_contiguous(op.kept.shape, op.kept.strides))
    return refuse("set", "the elements of the array do not lie side by side; give it a copy");
  return {};
}

extern const FamilyOps jit_ops = register_ops("jit", JitOps{});

}  // namespace troupe::inline v0::op
