#include "troupe/worker/facts.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <initializer_list>

#include "troupe/backend/cuda/cuda_backend.hpp"
#include "troupe/backend/cuda/known_libraries.hpp"
#include "troupe/backend/host/host_backend.hpp"
#include "troupe/backend/host/openblas.hpp"

namespace troupe::worker {
namespace {

constexpr std::string_view kBackend = "backend", kLooking = "looking", kOpenBlas = "openblas", kDriver = "driver",
                           kGpu = "gpu", kLibrary = "library", kEnd = "end";

std::string line(std::string_view kind, std::initializer_list<std::string_view> fields) {
  std::string text(kind);
  for (const std::string_view field : fields) {
    text += '\t';
    for (const char c : field) text += c == '\t' || c == '\n' ? ' ' : c;
  }
  return text + '\n';
}

void print(std::FILE* out, const std::string& text) {
  std::fputs(text.c_str(), out);
  std::fflush(out);  // the next step may be the last
}

backend::FoundLibrary find_open_blas() {
  const char* const choice = std::getenv("TROUPE_OPENBLAS");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  backend::FoundLibrary found{
      .name = "OpenBLAS", .version = {}, .path = {}, .problem = {}, .source = "libopenblas0-pthread"};
  const Result<host::OpenBlas> blas = host::load_open_blas(choice);
  if (!blas) {
    if (choice && *choice != '\0') found.problem = blas.error().message();
    return found;
  }
  const std::string_view config = blas->config;  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  if (const std::size_t space = config.find(' '); space != std::string_view::npos)
    found.version = config.substr(space + 1, config.find(' ', space + 1) - space - 1);
  Dl_info where{};
  found.path = dladdr(reinterpret_cast<void*>(blas->s.gemm), &where) != 0 ? where.dli_fname : "libopenblas.so.0";
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

using Fields = std::vector<std::string_view>;

Fields split(std::string_view text, char at) {
  Fields parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool read(const Fields& fields, backend::FoundLibrary& library) {
  if (fields.size() != 6) return false;
  library = {.name = std::string(fields[1]),
             .version = std::string(fields[2]),
             .path = std::string(fields[3]),
             .problem = std::string(fields[4]),
             .source = std::string(fields[5])};
  return true;
}

bool read(const Fields& fields, GpuFacts& gpu) {
  if (fields.size() != 7) return false;
  gpu = {.uuid = std::string(fields[1]),
         .name = std::string(fields[2]),
         .memory_bytes = 0,
         .capability = std::string(fields[4]),
         .can_export_memory = fields[5] == "exports",
         .is_exclusive = fields[6] == "exclusive"};
  const std::string_view bytes = fields[3];
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), gpu.memory_bytes);
  return error == std::errc() && end == bytes.data() + bytes.size();
}

/// A text after its kind.
bool read(const Fields& fields, std::string& text) {
  if (fields.size() != 2) return false;
  text = fields[1];
  return true;
}

/// False for a line that cannot be read.
bool add(Facts& facts, const Fields& fields) {
  const std::string_view kind = fields[0];
  if (kind == kEnd) facts.complete = true;
  if (kind == kLooking) return read(fields, facts.looking_at);
  if (kind == kOpenBlas) return read(fields, facts.openblas);
  if (kind == kDriver) return read(fields, facts.driver);
  if (kind == kBackend) return read(fields, facts.backends.emplace_back());
  if (kind == kGpu) return read(fields, facts.gpus.emplace_back());
  if (kind == kLibrary) return read(fields, facts.libraries.emplace_back());
  return true;
}

}  // namespace

std::string line_of(std::string_view kind, const backend::FoundLibrary& library) {
  return line(kind, {library.name, library.version, library.path, library.problem, library.source});
}

std::string line_of(const GpuFacts& gpu) {
  return line(kGpu, {gpu.uuid, gpu.name, std::to_string(gpu.memory_bytes), gpu.capability,
                     gpu.can_export_memory ? "exports" : "private", gpu.is_exclusive ? "exclusive" : "shared"});
}

void print_facts(std::FILE* out) {
  print(out, line(kBackend, {host::HostBackend::kName}));
  if (kHasCuda) print(out, line(kBackend, {"cuda"}));
  print(out, line(kLooking, {"OpenBLAS"}));
  print(out, line_of(kOpenBlas, find_open_blas()));

  print(out, line(kLooking, {"the NVIDIA driver"}));
  backend::FoundLibrary driver = cuda::find_driver();
  if (driver.usable() && driver.version.empty())
    driver.problem =
        driver.path + " is no driver: it does not tell its version, as the stub does that programs link with";
  std::vector<GpuFacts> gpus;
  if (driver.usable()) gpus = find_gpus(driver.problem);
  print(out, line_of(kDriver, driver));
  for (const GpuFacts& gpu : gpus) print(out, line_of(gpu));

  cuda::find_libraries([&](std::string_view name) { print(out, line(kLooking, {name})); },
                       [&](const backend::FoundLibrary& found) { print(out, line_of(kLibrary, found)); });
  print(out, line(kEnd, {}));
}

Result<Facts> parse_facts(std::string_view text) {
  Facts facts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off inside a line
    const std::string_view one = text.substr(0, end);
    if (!add(facts, split(one, '\t')))
      return fail(ErrorKind::invalid_argument, "the worker's line \"" + std::string(one) + "\" cannot be read");
    text.remove_prefix(end + 1);
  }
  return facts;
}

}  // namespace troupe::worker
