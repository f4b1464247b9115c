#include "troupe/backend/host/jit/kernel_programs.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "troupe/backend/host/jit/kernel_image.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::host {
namespace {

/// A file without a name that has these bytes.
Result<wire::Descriptor> file_of(std::span<const std::byte> bytes) {
  wire::Descriptor file(::memfd_create("troupe-kernels", MFD_CLOEXEC));
  if (!file) return fail(wire::errno_error("no memory for kernels", errno));
  while (!bytes.empty()) {
    const ssize_t size = ::write(file.get(), bytes.data(), bytes.size());
    if (size <= 0) return fail(wire::errno_error("no memory for kernels", errno));
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return file;
}

/// A path that was never given before. The loader takes a path that it knows for what it has loaded from there, and
/// the descriptor of another program may have had the same number.
std::string path_of(const wire::Descriptor& file) {
  static std::atomic<std::uint32_t> paths{0};
  std::string path = "/proc/self/fd/";
  for (std::uint32_t bits = ++paths; bits != 0; bits /= 2) path += bits % 2 != 0 ? "./" : "/";
  return path + std::to_string(file.get());
}

std::string loader_error() {
  const char* const text = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc and musl
  return text ? text : "the loader does not say why";
}

}  // namespace

Result<std::shared_ptr<const KernelProgram>> KernelProgram::load(std::span<const std::byte> image) {
  if (!is_cpu_image(image))
    return fail(ErrorKind::unsupported,
                "the program was compiled for a GPU; compile it by the device that is to run it, without -arch");
  const wire::Descriptor file = TROUPE_TRY(file_of(image));
  const std::shared_ptr<KernelProgram> program(new KernelProgram);
  program->handle_ = dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!program->handle_)
    return fail(ErrorKind::invalid_argument, "the compiled kernels cannot be loaded: " + loader_error());
  link_map* place = nullptr;
  program->run_blocks_ = reinterpret_cast<troupe_run_blocks_function>(dlsym(program->handle_, "troupe_run_blocks"));
  if (!program->run_blocks_ || dlinfo(program->handle_, RTLD_DI_LINKMAP, &place) != 0)
    return fail(ErrorKind::invalid_argument, "the compiled kernels are not Troupe's");
  for (KernelInImage& kernel : kernels_in(image))
    program->kernels_.emplace(std::move(kernel.symbol),
                              reinterpret_cast<const troupe_kernel_record*>(place->l_addr + kernel.record));
  for (VariableInImage& variable : variables_in(image))
    program->variables_.emplace(std::move(variable.symbol),
                                reinterpret_cast<const troupe_variable_record*>(place->l_addr + variable.record));
  return program;
}

KernelProgram::~KernelProgram() {
  if (handle_) dlclose(handle_);
}

const troupe_kernel_record* KernelProgram::find(const std::string& symbol) const {
  const auto found = kernels_.find(symbol);
  return found == kernels_.end() ? nullptr : found->second;
}

Result<void> KernelProgram::set(std::string_view call, std::string_view name, const std::string& symbol,
                                std::span<const std::byte> kept) const {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::invalid_argument, std::string(call) + ": " + why);
  };
  const auto found = variables_.find(symbol);
  if (found == variables_.end()) return refuse("the program has no variable " + std::string(name));
  const troupe_variable_record& variable = *found->second;
  if (variable.size_bytes != kept.size())
    return refuse(std::string(name) + " has " + std::to_string(variable.size_bytes) + " bytes, and the array has " +
                  std::to_string(kept.size()));
  std::memcpy(variable.address, kept.data(), kept.size());
  const std::lock_guard lock(mutex_);
  are_set_.insert(symbol);
  return {};
}

Result<void> KernelProgram::set_once(std::string_view name, const std::string& symbol,
                                     std::span<const std::byte> kept) const {
  const std::lock_guard setting(setting_);  // launches that only read it may come from several lanes
  {
    const std::lock_guard lock(mutex_);
    if (are_set_.contains(symbol)) return {};
  }
  return set("launch", name, symbol, kept);
}

void KernelProgram::read_back(const std::string& symbol, std::span<std::byte> kept) const {
  const auto found = variables_.find(symbol);
  if (found != variables_.end() && found->second->size_bytes == kept.size())
    std::memcpy(kept.data(), found->second->address, kept.size());
}

Result<std::shared_ptr<const KernelProgram>> KernelPrograms::find(const op::ProgramImage& image) {
  const std::lock_guard lock(mutex_);
  if (const auto found = programs_.find(image.name); found != programs_.end()) return found->second;
  const op::View view{image.address, DType::u8, {static_cast<std::int64_t>(image.size_bytes)}, {1}};
  const op::Range range = TROUPE_TRY(op::range_of(view));
  if (range.empty() || !memory_.contains(range)) return fail(ErrorKind::invalid_argument, "the op names no program");
  std::shared_ptr<const KernelProgram> program =
      TROUPE_TRY(KernelProgram::load({memory_.at(image.address), static_cast<std::size_t>(image.size_bytes)}));
  after_loading_();
  if (programs_.size() >= kMaxPrograms) programs_.clear();
  programs_.emplace(image.name, program);
  return program;
}

void KernelPrograms::print(std::string_view kernel, std::string_view text) const {
  if (!log_) return;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string message = std::string(kernel) + ": " + std::string(line);
    log_({.level = LogLevel::info, .time = std::chrono::steady_clock::now(), .source = "kernel", .message = message});
  }
}

}  // namespace troupe::host
