#include "troupe/library/jit/jit.hpp"

#include <array>
#include <cstring>
#include <mutex>

#include "troupe/actor/context.hpp"
#include "troupe/actor/spawn.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/jit/compile_in_worker.hpp"
#include "troupe/library/jit/program_cache.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::inline v0 {
namespace {

/// The compute capability to compile for when there is no GPU.
constexpr int kUsualCapability = 90;

/// Waits for one compiler, which may take a second, on a thread that has nothing else to do.
class Compiler {
 public:
  struct Compile {
    using Reply = wire::CompiledImage;
    ProgramKey program;
    Duration timeout{};
    bool is_kept = false;
  };
  explicit Compiler(Context<Compiler> self) noexcept : self_(self) {}
  Result<wire::CompiledImage> on(const Compile& m) {
    self_.stop();
    const ProgramKey& program = m.program;
    wire::CompiledImage image =
        TROUPE_TRY(compile_in_worker(program.executable, program.source, program.flags, program.capability, m.timeout));
    if (m.is_kept) ProgramCache::of_user().keep(program, image);
    return image;
  }

 private:
  Context<Compiler> self_;
};

/// The thread of a system's compilers, made when it is first needed.
struct CompilerThread {
  std::mutex mutex;
  Dispatcher* dispatcher = nullptr;  // the system's
};
Result<Ref<Compiler>> compiler_of(detail::SystemCore& system) {
  CompilerThread& thread = system.extension<CompilerThread>();
  const std::lock_guard lock(thread.mutex);
  if (!thread.dispatcher) thread.dispatcher = TROUPE_TRY(system.pinned_thread("troupe-compile", std::nullopt));
  return detail::spawn_under<Compiler>(system, system.internals(), SpawnOptions{.dispatcher = thread.dispatcher});
}

std::uint64_t fnv1a(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

op::Extents as_op(const detail::GridExtents& extents) noexcept { return {extents.x, extents.y, extents.z}; }

Unexpected refuse(const std::string& why) { return fail(ErrorKind::invalid_argument, "launch: " + why); }

std::string worker_of(const std::shared_ptr<detail::DeviceState>& device, Result<std::string>& found) {
  if (!device->worker_setup().executable.empty()) return device->worker_setup().executable;
  found = find_worker_executable({});
  return found ? *found : std::string();
}

int capability_of(const Device& device) noexcept {
  return device.info().capability > 0 ? device.info().capability : kUsualCapability;
}

}  // namespace

Jit Device::jit() const { return Jit(*this); }

Result<Program> Jit::load(const Device& device, std::span<const std::byte> image, std::string log) {
  Program program;
  program.name_ = fnv1a(image);
  program.image_ = TROUPE_TRY(device.host_array<std::uint8_t>({static_cast<std::int64_t>(image.size())}));
  std::memcpy(program.image_.data(), image.data(), image.size());
  program.log_ = std::move(log);
  return program;
}

detail::TaskCall<Program> Jit::compile(std::string source, CompileOptions options) const {
  return {DeviceParts::state(device_),
          compile_on(device_, std::move(source), std::string(options.flags), options.timeout, options.cached)};
}

Task<Result<Program>> Jit::compile_on(Device device, std::string source, std::string flags, Duration timeout,
                                      bool cached) {
  Result<std::string> found;
  ProgramKey program{.executable = worker_of(DeviceParts::state(device), found),
                     .source = std::move(source),
                     .flags = std::move(flags),
                     .capability = capability_of(device)};
  if (!found) co_return fail(found.error());
  if (cached) {
    if (const std::optional<wire::CompiledImage> kept = ProgramCache::of_user().find(program))
      co_return load(device, std::as_bytes(std::span(kept->bytes)), kept->log);
  }
  const Result<Ref<Compiler>> compiler = compiler_of(DeviceParts::state(device)->system());
  if (!compiler) co_return fail(compiler.error());
  const Result<wire::CompiledImage> image =
      co_await compiler->ask<Compiler::Compile>(std::move(program), timeout, cached);
  if (!image) co_return fail(image.error());
  co_return load(device, std::as_bytes(std::span(image->bytes)), image->log);
}

Call<void> Jit::launch(const Program& program, std::string_view kernel, const Grid& grid,
                       KernelArguments arguments) const {
  if (!program.image_) return refuse("the program is empty; compile it first");
  op::Launch op{.plan = {.program = {.name = program.name_,
                                     .address = program.image_.view().address,
                                     .size_bytes = static_cast<std::uint64_t>(program.image_.size())},
                         .blocks = as_op(grid.blocks),
                         .threads = as_op(grid.threads),
                         .shared_bytes = grid.shared_bytes},
                .kernel = std::string(kernel),
                .arrays = {},
                .order = std::move(arguments.order_),
                .scalars = std::move(arguments.scalars_)};
  if (arguments.arrays_.size() >= op::kMaxKernelArguments)
    return refuse("there are " + std::to_string(arguments.arrays_.size()) + " arrays; a kernel takes at most 63");
  std::array<const AnyArray*, op::kMaxKernelArguments> used;
  std::size_t count = 0;
  op.arrays.reserve(arguments.arrays_.size());
  for (const ArrayUse& array : arguments.arrays_) {
    op.arrays.push_back({.access = array.access(), .view = array.array().view()});
    used[count++] = &array.array();
  }
  used[count++] = &program.image_;  // has no view: it is kept
  return troupe::make_call(device_, op, std::span<const AnyArray* const>(used).first(count));
}

}  // namespace troupe::inline v0
