#include "troupe/op/jit.hpp"

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::uint32_t kMaxBlocksAlongX = 2147483647;
constexpr std::uint32_t kMaxBlocksAlongYZ = 65535;
constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr std::uint32_t kMaxThreadsAlongZ = 64;

std::string text(const Extents& extents) {
  return std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " + std::to_string(extents.z);
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
  return {};
}

Result<void> check_name(std::string_view what, const std::string& text) {
  if (!text.empty() && text.size() <= kMaxTextBytes) return {};
  return refuse("launch", std::string(what) + " of the kernel has " + std::to_string(text.size()) +
                              " bytes; it must have 1 to " + std::to_string(kMaxTextBytes));
}

/// Each argument is the next array, or a scalar of so many bytes; none is left over.
Result<void> check_arguments(const Launch& op) {
  if (op.order.size() > kMaxKernelArguments || op.arrays.size() >= kMaxKernelArguments)
    return refuse("launch", "there are " + std::to_string(op.order.size()) + " arguments, and " +
                                std::to_string(op.arrays.size()) +
                                " of them are arrays; a kernel takes at most 64 arguments and 63 arrays");
  std::size_t arrays = 0, scalar_bytes = 0;
  for (const std::byte size : op.order) {
    arrays += size == std::byte{0} ? 1 : 0;
    scalar_bytes += static_cast<std::size_t>(size);
  }
  if (arrays == op.arrays.size() && scalar_bytes == op.scalars.size()) return {};
  return refuse("launch", "order needs " + std::to_string(arrays) + " arrays and " + std::to_string(scalar_bytes) +
                              " bytes of scalars; there are " + std::to_string(op.arrays.size()) + " arrays and " +
                              std::to_string(op.scalars.size()) + " bytes");
}

}  // namespace

Result<void> check(const Launch& op) {
  TROUPE_TRY(check_name("the name", op.kernel));
  TROUPE_TRY(check_name("the symbol", op.symbol));
  TROUPE_TRY(check_arguments(op));
  return check_grid(op.plan);
}

extern const FamilyOps jit_ops = register_ops("jit", JitOps{});

}  // namespace troupe::inline v0::op
