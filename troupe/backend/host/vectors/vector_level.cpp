#include "troupe/backend/host/vectors/vector_level.hpp"

#include <array>
#include <cstdlib>

namespace troupe::host {
namespace {

constexpr std::array<std::string_view, kVectorLevels> kLevelNames{"basic", "avx2", "avx512"};

}  // namespace

std::string_view name(VectorLevel level) noexcept { return kLevelNames[static_cast<std::size_t>(level)]; }

bool has(VectorLevel level) noexcept {
  if (level == VectorLevel::basic) return true;
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (level == VectorLevel::avx2) return has_avx2;
  return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

VectorLevel best_level(const char* limit) noexcept {
  auto best = VectorLevel::kLast;
  for (std::size_t i = 0; i < kLevelNames.size(); ++i)
    if (limit != nullptr && kLevelNames[i] == limit) best = static_cast<VectorLevel>(i);
  while (!has(best)) best = static_cast<VectorLevel>(static_cast<int>(best) - 1);
  return best;
}

VectorLevel vector_level() noexcept {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is not changed while workers run
  static const VectorLevel kLevel = best_level(std::getenv("TROUPE_VECTORS"));
  return kLevel;
}

}  // namespace troupe::host
