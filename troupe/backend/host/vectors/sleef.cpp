#include "troupe/backend/host/vectors/sleef.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace troupe::host {
namespace {

struct Named {
  const char* function;
  const char* accuracy;
};
constexpr std::array<Named, Sleef::kFunctions> kNames{{{"exp", "u10"},
                                                       {"log", "u10"},
                                                       {"sin", "u10"},
                                                       {"cos", "u10"},
                                                       {"tan", "u10"},
                                                       {"tanh", "u10"},
                                                       {"expm1", "u10"},
                                                       {"log1p", "u10"},
                                                       {"erf", "u10"},
                                                       {"erfc", "u15"},
                                                       {"pow", "u10"}}};

/// How SLEEF spells a level: the numbers in a vector of f32, and the end of the name.
struct Spelling {
  int width;
  const char* end;
};
#ifdef __x86_64__
constexpr std::array<Spelling, kVectorLevels> kSpellings{{{4, "sse2"}, {8, "avx2"}, {16, "avx512f"}}};
#else
constexpr std::array<Spelling, 1> kSpellings{{{4, "advsimd"}}};
#endif

Result<void> resolve(void* library, const std::string& symbol, void*& function) {
  function = dlsym(library, symbol.c_str());
  if (function != nullptr) return {};
  return fail(ErrorKind::unsupported, "it has no " + symbol);
}

Result<Sleef> load(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // open for good, whether it is used or not
  if (library == nullptr) {
    const char* const text = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
    return fail(ErrorKind::unsupported, text != nullptr ? text : "the dynamic linker gives no reason");
  }
  Sleef sleef;
  sleef.file = file;
  for (std::size_t level = 0; level < kSpellings.size(); ++level)
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const auto [function, accuracy] = kNames[i];
      const auto [width, end] = kSpellings[level];
      const std::string tail = std::string("_") + accuracy + end;
      const std::string begin = std::string("Sleef_") + function;
      TROUPE_TRY(resolve(library, begin + "f" + std::to_string(width) + tail, sleef.levels[level].f32[i]));
      TROUPE_TRY(resolve(library, begin + "d" + std::to_string(width / 2) + tail, sleef.levels[level].f64[i]));
    }
  return sleef;
}

}  // namespace

Result<Sleef> load_sleef(const char* choice) {
  if (choice != nullptr && std::string_view(choice) == "none")
    return fail(ErrorKind::unsupported, "TROUPE_SLEEF=none: SLEEF is switched off");
  if (choice != nullptr && *choice != '\0') return load(choice);
  Result<Sleef> sleef = load("libsleef.so.3");
  if (sleef) return sleef;
  return fail(ErrorKind::unsupported, "SLEEF cannot be opened: " + std::string(sleef.error().message()));
}

const Sleef* sleef() noexcept {
  // Never destroyed: a lane may still compute while the process ends.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is not changed while workers run
  static const auto* const kFound = new Result<Sleef>(load_sleef(std::getenv("TROUPE_SLEEF")));
  return *kFound ? &**kFound : nullptr;
}

}  // namespace troupe::host
