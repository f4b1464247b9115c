#include "troupe/worker/facts.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "troupe/backend/cuda/cuda_backend.hpp"
#include "troupe/backend/cuda/known_libraries.hpp"
#include "troupe/backend/host/blas/openblas.hpp"
#include "troupe/backend/host/host_backend.hpp"
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

/// A library that `load` opens: the one that the variable names, or else the machine's. `function_of` says its version,
/// and gives a function of it, from whose address the file is known.
template <class Load, class FunctionOf>
FoundLibrary find(std::string_view name, const char* variable, std::string_view package, Load load,
                  FunctionOf function_of) {
  const char* const choice = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody changes it
  FoundLibrary found{
      .name = std::string(name), .version = {}, .path = {}, .problem = {}, .source = std::string(package)};
  const auto library = load(choice);
  if (!library) {
    if (choice && *choice != '\0') found.problem = library.error().message();
    return found;
  }
  Dl_info where{};
  found.path = dladdr(function_of(*library, found.version), &where) != 0 ? where.dli_fname : name;
  return found;
}

FoundLibrary find_open_blas() {
  return find("OpenBLAS", "TROUPE_OPENBLAS", "libopenblas0-pthread", host::load_open_blas,
              [](const host::OpenBlas& blas, std::string& version) {
                const std::string_view config = blas.config;  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
                if (const std::size_t space = config.find(' '); space != std::string_view::npos)
                  version = config.substr(space + 1, config.find(' ', space + 1) - space - 1);
                return reinterpret_cast<void*>(blas.s.gemm);
              });
}

/// As its version it has the vectors that its functions are called with.
FoundLibrary find_sleef() {
  return find("SLEEF", "TROUPE_SLEEF", "libsleef3", host::load_sleef,
              [](const host::Sleef& sleef, std::string& version) {
                version = std::string(name(host::vector_level())) + " vectors";
                return sleef.levels[0].f32[0];
              });
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
  print(out, fact_line(fact::kLooking, {"OpenBLAS"}));
  print(out, line_of(fact::kOpenBlas, find_open_blas()));
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
