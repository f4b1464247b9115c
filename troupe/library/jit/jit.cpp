#include "troupe/library/jit/jit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <mutex>

#include "troupe/actor/context.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/jit/checked_launch.hpp"
#include "troupe/library/jit/compile_in_worker.hpp"
#include "troupe/library/jit/program_cache.hpp"
#include "troupe/library/jit/program_kernels.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/jit_report.hpp"

namespace troupe::inline v0 {
namespace {

/// Waits for one compiler, which may take a second, on a thread that has nothing else to do. Whoever made it stops it.
struct Compiler {
  struct Compile {
    using Reply = wire::CompiledImage;
    ProgramKey program;
    Duration timeout{};
    bool is_kept = false;
  };
  Result<wire::CompiledImage> on(const Compile& m) {
    wire::CompiledImage image = TROUPE_TRY(compile_in_worker(m.program, m.timeout));
    if (m.is_kept) ProgramCache::of_user().keep(m.program, image);
    return image;
  }
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

/// Instances as the compiler is asked for them, with tabs between them.
std::string lines_up(std::string_view instances) {
  std::string text;
  for (const std::string_view instance : detail::split_at_commas(instances)) {
    if (!text.empty()) text += '\t';
    text += instance;
  }
  return text;
}

op::Extents as_op(const detail::GridExtents& extents) noexcept { return {extents.x, extents.y, extents.z}; }

Unexpected refuse(const std::string& why) { return fail(ErrorKind::invalid_argument, "launch: " + why); }

std::string worker_of(const std::shared_ptr<detail::DeviceState>& device, Result<std::string>& found) {
  if (!device->worker_setup().executable.empty()) return device->worker_setup().executable;
  found = find_worker_executable({});
  return found ? *found : std::string();
}

/// Whether a kernel, where it is known, takes these arguments, and whether the arrays are what a pointer says.
Result<void> check_launch(const detail::ProgramKernel* kernel, std::span<const ArrayUse> arrays,
                          std::span<const std::byte> order, std::span<const detail::ArgumentKind> kinds) {
  std::array<detail::KernelArgument, op::kMaxKernelArguments> all;
  if (order.size() > all.size()) return {};  // which is refused with the op
  std::size_t next = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    all[i] = {.kind = kinds[i], .size = static_cast<std::size_t>(order[i])};
    if (kinds[i] != detail::ArgumentKind::array) continue;
    const ArrayUse& use = arrays[next++];
    if (!use.array()) continue;  // which is, too
    if (!use.array().is_contiguous())
      return refuse("argument " + std::to_string(i + 1) +
                    " is a view whose elements do not lie side by side, and a "
                    "kernel gets no strides; give it a copy, or the whole array and the strides as numbers");
    all[i].dtype = use.array().dtype();
    all[i].access = use.access();
  }
  return kernel ? detail::check_arguments(*kernel, std::span(all).first(order.size())) : Result<void>();
}

/// A GPU's is its own. The CPU's flags may name one, "-arch=sm_90", and then no longer do.
int capability_of(const Device& device, std::string& flags) {
  if (device.info().capability > 0) return device.info().capability;
  for (const std::string_view name : {"--gpu-architecture=sm_", "-arch=sm_"}) {
    const std::size_t begin = flags.find(name);
    if (begin == std::string::npos || (begin > 0 && flags[begin - 1] != ' ')) continue;
    const std::size_t digits = begin + name.size(), end = std::min(flags.find(' ', digits), flags.size());
    int capability = 0;
    const auto [read, error] = std::from_chars(flags.data() + digits, flags.data() + end, capability);
    if (error != std::errc() || read != flags.data() + end || capability <= 0) continue;
    flags.erase(begin, end - begin);
    return capability;
  }
  return kOnCpu;
}

}  // namespace

Jit Device::jit() const { return Jit(*this); }

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> signatures;
  if (kernels_)
    for (const detail::ProgramKernel& kernel : kernels_->all()) signatures.push_back(kernel.signature);
  return signatures;
}

Result<Program> Jit::load(const Device& device, const wire::CompiledImage& compiled) {
  const std::span image = std::as_bytes(std::span(compiled.bytes));
  Program program;
  program.name_ = fnv1a(image);
  program.image_ = TROUPE_TRY(device.host_array<std::uint8_t>({static_cast<std::int64_t>(image.size())}));
  std::memcpy(program.image_.data(), image.data(), image.size());
  program.kernels_ = std::make_shared<const detail::ProgramKernels>(image, compiled.instances);
  program.log_ = compiled.log;
  return program;
}

detail::TaskCall<Program> Jit::compile(std::string source, CompileOptions options) const {
  return {DeviceParts::state(device_),
          compile_on(device_, std::move(source), std::string(options.flags), lines_up(options.instances),
                     options.timeout, options.checked, options.cached)};
}

Task<Result<Program>> Jit::compile_on(Device device, std::string source, std::string flags, std::string instances,
                                      Duration timeout, bool checked, bool cached) {
  Result<std::string> found;
  const int capability = capability_of(device, flags);
  ProgramKey program{.executable = worker_of(DeviceParts::state(device), found),
                     .source = std::move(source),
                     .flags = std::move(flags),
                     .instances = std::move(instances),
                     .capability = capability,
                     .is_checked = checked};
  if (!found) co_return fail(found.error());
  if (cached) {
    if (const std::optional<wire::CompiledImage> kept = ProgramCache::of_user().find(program))
      co_return load(device, *kept);
  }
  const Result<Ref<Compiler>> compiler = compiler_of(DeviceParts::state(device)->system());
  if (!compiler) co_return fail(compiler.error());
  // When this is cut off before the compiler starts, the actor never hears of it.
  const struct Stop {
    const Ref<Compiler>& compiler;
    ~Stop() { compiler.stop(); }
  } stop{*compiler};
  const Result<wire::CompiledImage> image =
      co_await compiler->ask<Compiler::Compile>(std::move(program), timeout, cached);
  if (!image) co_return fail(image.error());
  co_return load(device, *image);
}

Call<void> Jit::launch(const Program& program, std::string_view kernel, const Grid& grid,
                       KernelArguments arguments) const {
  if (!program.image_) return refuse("the program is empty; compile it first");
  if (arguments.arrays_.size() >= op::kMaxKernelArguments)
    return refuse("there are " + std::to_string(arguments.arrays_.size()) + " arrays; a kernel takes at most 63");
  const Result<const detail::ProgramKernel*> found = program.kernels_->find(kernel);
  if (!found) return fail(found.error());
  if (const Result<void> taken = check_launch(*found, arguments.arrays_, arguments.order_, arguments.kinds_); !taken)
    return fail(taken.error());
  op::Launch op{.plan = {.program = {.name = program.name_,
                                     .address = program.image_.view().address,
                                     .size_bytes = static_cast<std::uint64_t>(program.image_.size())},
                         .blocks = as_op(grid.blocks),
                         .threads = as_op(grid.threads),
                         .shared_bytes = grid.shared_bytes},
                .kernel = std::string(kernel),
                .symbol = *found ? (*found)->symbol : std::string(kernel),
                .arrays = {},
                .order = std::move(arguments.order_),
                .scalars = std::move(arguments.scalars_)};
  std::array<const AnyArray*, op::kMaxKernelArguments> used;
  std::size_t count = 0;
  op.arrays.reserve(arguments.arrays_.size());
  for (const ArrayUse& array : arguments.arrays_) {
    op.arrays.push_back({.access = array.access(), .view = array.array().view()});
    used[count++] = &array.array();
  }
  if (!*found || !(*found)->is_checked) {
    used[count++] = &program.image_;  // has no view: it is kept
    return troupe::make_call(device_, op, std::span<const AnyArray* const>(used).first(count));
  }
  if (count + 2 > op::kMaxKernelArguments || op.order.size() + 2 > op::kMaxKernelArguments)
    return refuse("a kernel in checked mode takes at most 62 arguments");
  Result<HostArray<std::int32_t>> report = device_.host_array<std::int32_t>({op::kReportWords});
  if (!report) return fail(std::move(report).error());
  detail::begin_report(report->span(), kernel);
  detail::add_bounds(op);
  op.order.push_back(std::byte{0});
  op.arrays.push_back({.access = op::Access::write, .view = report->view()});
  used[count++] = &*report;
  used[count++] = &program.image_;
  return make_judged_call<void>(device_, {}, op, std::span<const AnyArray* const>(used).first(count), *report,
                                detail::judge_report);
}

}  // namespace troupe::inline v0
