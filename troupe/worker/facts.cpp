#include "troupe/worker/facts.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "troupe/backend/cuda/cuda_backend.hpp"
#include "troupe/backend/cuda/known_libraries.hpp"
#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/host_backend.hpp"
#include "troupe/backend/host/team/team_size.hpp"
#include "troupe/backend/host/vectors/sleef.hpp"
#include "troupe/wire/facts.hpp"

namespace troupe::worker {
namespace {

using wire::fact_line;
using wire::FoundLibrary;
using wire::GpuFacts;
using wire::line_of;
namespace fact = wire::fact;

void print(std::FILE* out, const std::string& text) {
  std::fputs(text.c_str(), out);
  std::fflush(out);  // the next step may be the last
}

FoundLibrary found_as(const host::MathLibrary& library) {
  return {.name = std::string(library.name()),
          .version = library.version,
          .path = library.file,
          .problem = {},
          .source = std::string(library.kind ? library.kind->source : "")};
}

/// Looks at every BLAS that is known, and says which is used.
void print_blas(std::FILE* out) {
  constexpr std::string_view kSource = "libopenblas0-pthread";
  const char* const choice = std::getenv("TROUPE_BLAS");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  std::vector<host::PassedOver> passed;
  const Result<host::BlasLibrary> used = host::load_blas(choice, &passed);
  const auto missing = [&](std::string_view name, std::string_view problem) {
    return FoundLibrary{.name = std::string(name),
                        .version = {},
                        .path = {},
                        .problem = std::string(problem),
                        .source = std::string(kSource)};
  };
  print(out, line_of(fact::kBlas, used ? found_as(*used->library) : missing("BLAS", used.error().message())));
  print(out, line_of(fact::kLapack, used && used->lapack ? found_as(*used->lapack)
                                                         : missing("LAPACK", used ? used->lapack_problem : "")));
  for (const host::KnownLibrary& known : host::known_libraries()) {
    if (used && used->library->kind == &known) continue;
    std::vector<host::PassedOver> why;
    const Result<host::BlasLibrary> other = host::load_blas(known.word.data(), &why);
    FoundLibrary found = other ? found_as(*other->library) : missing(known.name, {});
    if (other) found.problem = "It works, too; TROUPE_BLAS=" + std::string(known.word) + " uses it";
    if (!other && !why.empty() && why[0].reason != "not found") found.problem = why[0].reason;
    print(out, line_of(fact::kOtherBlas, found));
  }
  print(out, fact_line(fact::kCpuThreads, {std::to_string(host::team_size_limit())}));
}

/// As its version it has the vectors that its functions are called with.
FoundLibrary find_sleef() {
  const char* const choice = std::getenv("TROUPE_SLEEF");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  FoundLibrary found{.name = "SLEEF", .version = {}, .path = {}, .problem = {}, .source = "libsleef3"};
  const Result<host::Sleef> sleef = host::load_sleef(choice);
  if (!sleef) {
    if (choice && *choice != '\0') found.problem = sleef.error().message();
    return found;
  }
  Dl_info where{};
  found.path = dladdr(sleef->levels[0].f32[0], &where) != 0 ? where.dli_fname : found.name;
  found.version = std::string(name(host::vector_level())) + " vectors";
  return found;
}

#if TROUPE_CUDA_BACKEND
/// The GPUs, or none and why the driver does not work. A driver that sees no GPU works.
std::vector<GpuFacts> find_gpus(std::string& problem) {
  constexpr int kNoDevice = 100;
  const Result<const cuda::Driver*> driver = cuda::Driver::load();
  const Result<std::vector<cuda::GpuInfo>> gpus = driver ? cuda::list_gpus(**driver) : fail(driver.error());
  std::vector<GpuFacts> found;
  if (!gpus && gpus.error().origin().native_code != kNoDevice) problem = gpus.error().message();
  if (!gpus) return found;
  for (const cuda::GpuInfo& gpu : *gpus)
    found.push_back({.uuid = gpu.uuid,
                     .name = gpu.name,
                     .memory_bytes = gpu.memory_bytes,
                     .capability = std::to_string(gpu.capability_major) + "." + std::to_string(gpu.capability_minor),
                     .can_export_memory = gpu.can_export_memory,
                     .is_exclusive = gpu.is_exclusive});
  return found;
}
constexpr bool kHasCuda = true;
#else
std::vector<GpuFacts> find_gpus(std::string&) { return {}; }
constexpr bool kHasCuda = false;
#endif

}  // namespace

void print_facts(std::FILE* out) {
  print(out, fact_line(fact::kBackend, {host::HostBackend::kName}));
  if (kHasCuda) print(out, fact_line(fact::kBackend, {"cuda"}));
  print(out, fact_line(fact::kLooking, {"the BLAS"}));
  print_blas(out);
  print(out, line_of(fact::kSleef, find_sleef()));

  print(out, fact_line(fact::kLooking, {"the NVIDIA driver"}));
  FoundLibrary driver = cuda::find_driver();
  if (driver.usable() && driver.version.empty())
    driver.problem =
        driver.path + " is not the driver: it gives no version. Such a file comes with the toolkit, to link against";
  std::vector<GpuFacts> gpus;
  if (driver.usable()) gpus = find_gpus(driver.problem);
  print(out, line_of(fact::kDriver, driver));
  for (const GpuFacts& gpu : gpus) print(out, line_of(gpu));

  cuda::find_libraries([&](std::string_view name) { print(out, fact_line(fact::kLooking, {name})); },
                       [&](const FoundLibrary& found) { print(out, line_of(fact::kLibrary, found)); });
  print(out, fact_line(fact::kEnd, {}));
}

}  // namespace troupe::worker
