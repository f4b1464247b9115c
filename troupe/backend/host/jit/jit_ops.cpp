#include <array>
#include <atomic>
#include <cstring>

#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/jit/kernel_programs.hpp"
#include "troupe/backend/host/jit/kernel_stacks.hpp"
#include "troupe/backend/op_notes.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::host {
namespace {

/// The memory of a view whose elements lie side by side.
std::span<std::byte> bytes_of(const op::View& view, const HostTools& tools) {
  const auto size = static_cast<std::size_t>(op::element_count(view) * size_bytes(view.dtype));
  return {static_cast<std::byte*>(tools(view).data), size};
}

/// What a block costs at least, for the team: a few microseconds, so that a large grid is shared and a small one is
/// not.
constexpr double kNsOfThread = 20;

Unexpected refuse(const op::Launch& op, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "the kernel " + op.kernel + " " + why);
}

Result<void> check_arguments(const op::Launch& op, const troupe_kernel_record& kernel) {
  if (op.order.size() > op::kMaxKernelArguments)
    return refuse(op, "was given more than " + std::to_string(op::kMaxKernelArguments) + " arguments");
  if (op.order.size() != kernel.count)
    return refuse(
        op, "takes " + std::to_string(kernel.count) + " arguments and was given " + std::to_string(op.order.size()));
  for (std::size_t i = 0; i < op.order.size(); ++i) {
    const bool is_array = op.order[i] == std::byte{0};
    const std::size_t given = is_array ? sizeof(void*) : static_cast<std::size_t>(op.order[i]);
    if (given != kernel.sizes[i])
      return refuse(op, "takes " + std::to_string(kernel.sizes[i]) + " bytes as argument " + std::to_string(i + 1) +
                            " and was given " + (is_array ? "an array" : std::to_string(given)));
  }
  if (op.plan.shared_bytes > TROUPE_KERNEL_MAX_SHARED_BYTES)
    return refuse(op, "cannot have " + std::to_string(op.plan.shared_bytes) + " bytes of shared memory; " +
                          std::to_string(TROUPE_KERNEL_MAX_SHARED_BYTES) + " is the most");
  return {};
}

/// The scalars, with the addresses of the arrays that pointers inside of them point to.
std::vector<std::byte> with_pointers(const op::Launch& op, const HostTools& tools) {
  std::vector<std::byte> scalars = op.scalars;
  const std::size_t count = op.pointers.size() / 2, first = op.arrays.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    void* const pointer = tools(op.arrays[first + i].view).data;
    std::memcpy(scalars.data() + op::pointer_at(op, i), &pointer, sizeof pointer);
  }
  return scalars;
}

/// `do_it(symbol, bytes, access)` for each variable that is set.
template <class Do>
Result<void> for_variables(const op::Launch& op, const HostTools& tools, const Do& do_it) {
  std::string_view symbols = op.symbols;
  for (const op::Argument& variable : op.variables) {
    const std::string symbol(symbols.substr(0, symbols.find('\n')));
    symbols.remove_prefix(std::min(symbol.size() + 1, symbols.size()));
    TROUPE_TRY(do_it(symbol, bytes_of(variable.view, tools), variable.access));
  }
  return {};
}

/// Where a kernel reads its arguments from.
class Arguments {
 public:
  Arguments(const op::Launch& op, const HostTools& tools) {
    std::size_t arrays = 0, scalar = 0;
    const std::vector<std::byte> scalars = with_pointers(op, tools);
    for (std::size_t i = 0; i < op.order.size(); ++i) {
      const auto size = static_cast<std::size_t>(op.order[i]);
      addresses_[i] = values_[i].bytes;
      if (size == 0) {
        void* const pointer = tools(op.arrays[arrays++].view).data;
        std::memcpy(values_[i].bytes, &pointer, sizeof pointer);
      } else {
        std::memcpy(values_[i].bytes, scalars.data() + scalar, size);
        scalar += size;
      }
    }
  }
  void** addresses() noexcept { return addresses_.data(); }

 private:
  struct alignas(64) Value {
    std::byte bytes[256];
  };
  std::array<Value, op::kMaxKernelArguments> values_;
  std::array<void*, op::kMaxKernelArguments> addresses_{};
};

/// What the blocks of one launch have in common in this worker.
struct LaunchUnderWay {
  const op::Launch& op;
  const KernelPrograms& programs;
  std::atomic<bool> has_failed{false};
  std::mutex mutex;
  std::string why;  // of the first failure

  void fail(const char* message) {
    const std::lock_guard lock(mutex);
    if (!has_failed) why = message;
    has_failed = true;
  }
  static LaunchUnderWay& of(void* worker) noexcept { return *static_cast<LaunchUnderWay*>(worker); }
};

troupe_kernel_launch launch_of(const op::LaunchPlan& plan, const troupe_kernel_record& kernel, Arguments& arguments,
                               LaunchUnderWay& under_way) {
  const auto [blocks_x, blocks_y, blocks_z] = plan.blocks;
  const auto [threads_x, threads_y, threads_z] = plan.threads;
  return {
      .kernel = &kernel,
      .arguments = arguments.addresses(),
      .blocks = {blocks_x, blocks_y, blocks_z},
      .threads = {threads_x, threads_y, threads_z},
      .shared_bytes = plan.shared_bytes,
      .worker = &under_way,
      .stack = [](void*, std::uint32_t number) { return KernelStacks::of_this_thread()->stack(number); },
      .shared = [](void*) { return KernelStacks::of_this_thread()->shared(); },
      .print =
          [](void* worker, const char* text, std::uint64_t size) {
            const LaunchUnderWay& self = LaunchUnderWay::of(worker);
            self.programs.print(self.op.kernel, {text, static_cast<std::size_t>(size)});
          },
      .fail = [](void* worker, const char* message) { LaunchUnderWay::of(worker).fail(message); },
      .has_failed = [](void* worker) { return static_cast<int>(LaunchUnderWay::of(worker).has_failed.load()); },
  };
}

}  // namespace

Result<void> run_op(const op::Launch& op, const HostTools& tools) {
  backend::at_op(tools.work().lane, tools.work().ticket, op::Launch::kName, op.kernel);
  const std::shared_ptr<const KernelProgram> program = TROUPE_TRY(tools.programs().find(op.plan.program));
  const troupe_kernel_record* const kernel = program->find(op.symbol);
  if (!kernel) return refuse(op, "is not in the program; is it a __global__ function?");
  TROUPE_TRY(check_arguments(op, *kernel));
  TROUPE_TRY(for_variables(op, tools, [&](const std::string& symbol, std::span<std::byte> kept, op::Access) {
    return program->set_once(symbol, symbol, kept);
  }));
  Arguments arguments(op, tools);
  LaunchUnderWay under_way{.op = op, .programs = tools.programs(), .has_failed = {}, .mutex = {}, .why = {}};
  op::LaunchPlan plan = op.plan;
  if ((plan.together & op::kFillsDevice) != 0) plan.blocks.x = static_cast<std::uint32_t>(tools.team().size());
  const troupe_kernel_launch launch = launch_of(plan, *kernel, arguments, under_way);
  const double threads = static_cast<double>(plan.threads.x) * plan.threads.y * plan.threads.z;
  const auto blocks = static_cast<std::int64_t>(std::uint64_t{plan.blocks.x} * plan.blocks.y * plan.blocks.z);
  tools.begin();
  tools.team().run(blocks, Grain::of_ns(threads * kNsOfThread), [&](std::int64_t begin, std::int64_t end) noexcept {
    if (!KernelStacks::of_this_thread()) return under_way.fail("there is no address space for the stacks of threads");
    program->run_blocks()(&launch, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
  });
  if (under_way.has_failed) return refuse(op, "was stopped in " + under_way.why);
  return for_variables(op, tools, [&](const std::string& symbol, std::span<std::byte> kept, op::Access access) {
    if (access != op::Access::read) program->read_back(symbol, kept);
    return Result<void>();
  });
}

Result<void> run_op(const op::SetVariable& op, const HostTools& tools) {
  const std::shared_ptr<const KernelProgram> program = TROUPE_TRY(tools.programs().find(op.program));
  const std::span<std::byte> from = bytes_of(op.from, tools), kept = bytes_of(op.kept, tools);
  TROUPE_TRY(program->set("set", op.variable, op.symbol, from));
  tools.begin();
  if (!from.empty()) std::memcpy(kept.data(), from.data(), from.size());
  return {};
}

void add_jit(RunTable& table) { table.add(op::JitOps{}); }

}  // namespace troupe::host
