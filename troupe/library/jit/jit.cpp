#include "troupe/library/jit/jit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>

#include "troupe/actor/context.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/jit/checked_launch.hpp"
#include "troupe/library/jit/compile_in_worker.hpp"
#include "troupe/library/jit/image_symbols.hpp"
#include "troupe/library/jit/program_cache.hpp"
#include "troupe/library/jit/program_data.hpp"
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

/// For the names of programs that have something of their own.
struct ProgramNumbers {
  std::atomic<std::uint64_t> next{0};
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

std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = 0xcbf29ce484222325) noexcept {
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

/// How far into PTX its version may stand, behind comments.
constexpr std::size_t kPtxHeader = 4096;

/// The arrays of a launch, in the order of its views.
class LaunchArrays {
 public:
  void add(std::vector<op::Argument>& arguments, op::Access access, const AnyArray& array) {
    arguments.push_back({.access = access, .view = array.view()});
    keep(array);
  }
  /// It has no view.
  void keep(const AnyArray& array) { all_[count_++] = &array; }
  std::span<const AnyArray* const> all() const noexcept { return std::span(all_).first(count_); }

 private:
  std::array<const AnyArray*, op::kMaxKernelArguments + op::kMaxProgramVariables + 2> all_;
  std::size_t count_ = 0;
};

/// Without its arguments.
op::Launch launch_of(const detail::ProgramData& program, const detail::ProgramKernel* found, std::string_view kernel,
                     const Grid& grid) {
  return {.plan = {.program = program.as_op(),
                   .blocks = as_op(grid.blocks),
                   .threads = as_op(grid.threads),
                   .cluster = as_op(grid.cluster),
                   .together = (grid.cooperative ? op::kCooperative : 0) | (grid.fills_device ? op::kFillsDevice : 0),
                   .shared_bytes = grid.shared_bytes},
          .kernel = std::string(kernel),
          .symbol = found ? found->symbol : std::string(kernel),
          .arrays = {},
          .order = {},
          .scalars = {},
          .pointers = {},
          .variables = {},
          .symbols = {}};
}

Unexpected refuse(const std::string& why) { return fail(ErrorKind::invalid_argument, "launch: " + why); }

/// The worker that compiles: the device's own, unless that is an interpreter, or a thread.
std::string worker_of(const std::shared_ptr<detail::DeviceState>& device, Result<std::string>& found) {
  const WorkerSetup& setup = device->worker_setup();
  if (!setup.executable.empty() && setup.arguments.empty()) return setup.executable;
  found = find_worker_executable({});
  return found ? *found : std::string();
}

/// Whether a pointer may point to the array.
Result<void> check_contiguous(const AnyArray& array, const std::string& what) {
  if (!array || array.is_contiguous()) return {};  // an empty handle is refused with the op
  return refuse(
      what +
      " is a view whose elements do not lie side by side, and a kernel gets no strides; give it a copy, or the "
      "whole array and the strides as numbers");
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
    TROUPE_TRY(check_contiguous(use.array(), "argument " + std::to_string(i + 1)));
    all[i].dtype = use.array().dtype();
    all[i].access = use.access();
  }
  return kernel ? detail::check_arguments("launch", *kernel, std::span(all).first(order.size())) : Result<void>();
}

/// The same of the pointers inside of structs.
Result<void> check_pointers(std::span<const detail::StructPointer> pointers) {
  for (const detail::StructPointer& pointer : pointers) {
    const AnyArray& array = pointer.array.array();
    if (!pointer.is_inside) return refuse("a pointer of a struct is declared beyond the end of its array of pointers");
    TROUPE_TRY(check_contiguous(array, "what a pointer of a struct points to"));
    if (array && !pointer.type.is_any && array.dtype() != pointer.type.dtype)
      return refuse("a pointer of a struct points to " + std::string(name(pointer.type.dtype)) + "; an array of " +
                    std::string(name(array.dtype())) + " was given");
    if (pointer.type.access == op::Access::read && pointer.array.access() != op::Access::read)
      return refuse("a pointer of a struct is const; say reads(array)");
  }
  return {};
}

/// What this device cannot run, whatever the kernel is.
Result<void> check_grid(const Grid& grid, const DeviceInfo& device) {
  const auto [x, y, z] = grid.cluster;
  const bool is_clustered = x != 1 || y != 1 || z != 1;
  if (device.capability == 0 && (grid.cooperative || is_clustered))
    return fail(ErrorKind::unsupported,
                std::string("launch: a CPU runs no ") +
                    (grid.cooperative ? "cooperative grid: its blocks are not there at once" : "clusters of blocks"));
  if (device.capability < 90 && is_clustered)
    return fail(ErrorKind::unsupported, "launch: clusters of blocks need compute capability 9.0, and this GPU has " +
                                            std::to_string(device.capability / 10) + "." +
                                            std::to_string(device.capability % 10));
  return {};
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

Result<Program> Jit::program_of(const Device& device, const wire::CompiledImage& compiled) {
  const std::span image = std::as_bytes(std::span(compiled.bytes));
  const auto data = std::make_shared<detail::ProgramData>(image, compiled.instances, compiled.log);
  data->image = TROUPE_TRY(device.host_array<std::uint8_t>({static_cast<std::int64_t>(image.size())}));
  std::memcpy(data->image.data(), image.data(), image.size());
  data->name = fnv1a(image);
  // Workers know a program by its name. One with variables is loaded for itself: another one of the same source may set
  // them to something else.
  if (!data->kernels.is_readable() || !data->kernels.variables().empty()) {
    const std::uint64_t number = DeviceParts::state(device)->system().extension<ProgramNumbers>().next++;
    data->name = fnv1a(std::as_bytes(std::span(&number, 1)), data->name);
  }
  Program program;
  program.data_ = data;
  return program;
}

Result<Program> Jit::load(std::span<const std::byte> image) const {
  constexpr std::array<std::byte, 4> kFatbin{std::byte{0x50}, std::byte{0xed}, std::byte{0x55}, std::byte{0xba}};
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  const detail::ImageSymbols symbols = detail::symbols_in(image);
  const bool is_of_gpu = symbols.is_for_gpu || text.starts_with(".version") || text.find("\n.version") < kPtxHeader ||
                         std::ranges::equal(image.first(std::min(image.size(), kFatbin.size())), kFatbin);
  const bool is_gpu = device_.info().capability > 0;
  if (!is_of_gpu && !symbols.is_readable)
    return fail(ErrorKind::invalid_argument, "load: " + std::to_string(image.size()) +
                                                 " bytes are no cubin, no fatbin, no PTX and no image of a Program");
  if (is_of_gpu != is_gpu)
    return fail(ErrorKind::unsupported, std::string("load: the image is for a ") + (is_of_gpu ? "GPU" : "CPU") +
                                            ", and this device is a " + (is_gpu ? "GPU" : "CPU"));
  // The driver reads PTX to its end, which is a zero.
  return program_of(device_, {.bytes = std::string(text) + std::string(symbols.is_readable ? 0 : 1, '\0')});
}

detail::TaskCall<Program> Jit::compile(std::string source, CompileOptions options) const {
  return compile(KernelSource(std::move(source)), options);
}

detail::TaskCall<Program> Jit::compile(KernelSource source, CompileOptions options) const {
  return {DeviceParts::state(device_),
          compile_on(device_, std::move(source), std::string(options.flags), lines_up(options.instances),
                     options.timeout, options.checked, options.cached)};
}

Task<Result<Program>> Jit::compile_on(Device device, KernelSource source, std::string flags, std::string instances,
                                      Duration timeout, bool checked, bool cached) {
  if (!source.flags_.empty()) flags += (flags.empty() ? "" : " ") + source.flags_;
  Result<std::string> found;
  const int capability = capability_of(device, flags);
  ProgramKey program{.executable = worker_of(DeviceParts::state(device), found),
                     .source = std::move(source.text_),
                     .flags = std::move(flags),
                     .instances = std::move(instances),
                     .headers = {},
                     .capability = capability,
                     .is_checked = checked};
  for (auto& [name, text] : source.headers_) program.headers.push_back({std::move(name), std::move(text)});
  if (!found) co_return fail(found.error());
  if (cached) {
    if (const std::optional<wire::CompiledImage> kept = ProgramCache::of_user().find(program))
      co_return program_of(device, *kept);
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
  co_return program_of(device, *image);
}

Call<void> Jit::launch(const Program& program, std::string_view kernel, const Grid& grid,
                       KernelArguments arguments) const {
  if (!program.data_) return refuse("the program is empty; compile it first");
  const Result<const detail::ProgramKernel*> found = program.data_->kernels.find("launch", kernel);
  if (!found) return fail(found.error());
  return launch_found(*program.data_, *found, kernel, grid, std::move(arguments));
}

Call<void> Jit::launch(const AnyKernel& kernel, const Grid& grid, KernelArguments arguments) const {
  if (!kernel.program_) return refuse("the kernel is an empty handle; take one from a program");
  return launch_found(*kernel.program_, kernel.found_, kernel.name_, grid, std::move(arguments));
}

Call<void> Jit::launch_found(const detail::ProgramData& program, const detail::ProgramKernel* found,
                             std::string_view kernel, const Grid& grid, KernelArguments arguments) const {
  if (const Result<void> taken = check_grid(grid, device_.info()); !taken) return fail(taken.error());
  if (arguments.arrays_.size() + arguments.pointers_.size() >= op::kMaxKernelArguments)
    return refuse("there are " + std::to_string(arguments.arrays_.size() + arguments.pointers_.size()) +
                  " arrays; a kernel takes at most 63");
  if (const Result<void> taken = check_launch(found, arguments.arrays_, arguments.order_, arguments.kinds_); !taken)
    return fail(taken.error());
  if (const Result<void> taken = check_pointers(arguments.pointers_); !taken) return fail(taken.error());
  const std::vector<detail::KeptVariable> variables = program.set_variables();
  LaunchArrays used;
  op::Launch op = launch_of(program, found, kernel, grid);
  op.order = std::move(arguments.order_);
  op.scalars = std::move(arguments.scalars_);
  for (const ArrayUse& array : arguments.arrays_) used.add(op.arrays, array.access(), array.array());
  Result<HostArray<std::int32_t>> report;
  const bool is_checked = found && found->is_checked;
  if (is_checked) {
    if (op.order.size() + 2 > op::kMaxKernelArguments)
      return refuse("a kernel in checked mode takes at most 62 arguments");
    report = device_.host_array<std::int32_t>({op::kReportWords});
    if (!report) return fail(std::move(report).error());
    detail::begin_report(report->span(), kernel);
    detail::add_bounds(op);
    op.order.push_back(std::byte{0});
    used.add(op.arrays, op::Access::write, *report);
  }
  for (const detail::StructPointer& pointer : arguments.pointers_) {
    op.pointers.push_back(static_cast<std::byte>(pointer.offset & 255));
    op.pointers.push_back(static_cast<std::byte>(pointer.offset >> 8));
    used.add(op.arrays, pointer.array.access(), pointer.array.array());
  }
  for (const detail::KeptVariable& variable : variables) {
    op.symbols += (op.symbols.empty() ? "" : "\n") + variable.symbol;
    used.add(op.variables, variable.is_constant ? op::Access::read : op::Access::update, variable.bytes);
  }
  used.keep(program.image);
  if (!is_checked) return troupe::make_call(device_, op, used.all());
  return make_judged_call<void>(device_, {}, op, used.all(), *report, detail::judge_report);
}

}  // namespace troupe::inline v0
