#include "troupe/device/device_state.hpp"

#include <pthread.h>
#include <sys/eventfd.h>

#include <bit>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>

#include "troupe/actor/context.hpp"
#include "troupe/device/device_context.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/device/worker_environment.hpp"
#include "troupe/op/fences.hpp"
#include "troupe/wire/memory_info.hpp"
#include "troupe/wire/sandbox_support.hpp"

namespace troupe::inline v0::detail {
namespace {

/// A small kernel takes 5 to 50 us, and a thread that sleeps meanwhile pays as much again to wake up.
constexpr Duration kGpuSpinTime = std::chrono::microseconds(100);
/// Large copies and products take milliseconds; to wake two threads after one would add a few percent.
constexpr Duration kGpuPatience = std::chrono::milliseconds(50);

/// Below `wire::kMaxDoorbells`, because some workers may be dying while others start.
constexpr int kMaxStandbys = 8;

/// What a system keeps for its devices.
struct Devices {
  std::mutex mutex;
  ControlLoop* loop = nullptr;
  std::atomic<int> opened{0};
};

/// The system's one control loop, made when its first device is opened.
Result<ControlLoop*> control_loop_of(SystemCore& system) {
  Devices& found = system.extension<Devices>();
  const std::lock_guard lock(found.mutex);
  if (!found.loop) {
    std::unique_ptr<ControlLoop> made = TROUPE_TRY(ControlLoop::start(system.log_sink()));
    found.loop = made.get();
    system.adopt(std::move(made));
  }
  return found.loop;
}

Result<void> check_sandbox(const DeviceOptions& options) {
  if (options.sandbox && *options.sandbox > Sandbox::kLast)
    return fail(ErrorKind::invalid_argument, "sandbox is no level of a sandbox");
  if (options.readable_paths.size() > wire::kMaxSandboxPaths || options.writable_paths.size() > wire::kMaxSandboxPaths)
    return fail(ErrorKind::invalid_argument, "readable_paths and writable_paths may have at most " +
                                                 std::to_string(wire::kMaxSandboxPaths) + " paths each");
  if (options.sandbox != Sandbox::strict) return {};
  if (options.isolation == Isolation::thread)
    return fail(ErrorKind::unsupported, "Sandbox::strict needs Isolation::process: a thread may do what the app may");
  const std::string missing = wire::sandbox_support().missing_for(Sandbox::strict);
  if (!missing.empty())
    return fail(ErrorKind::unsupported, "Sandbox::strict needs " + missing + "; this machine has none");
  return {};
}

Result<void> check(const DeviceOptions& options) {
  const auto refuse = [](const std::string& why) { return fail(ErrorKind::invalid_argument, why); };
  if (options.vault_limit_bytes == 0) return refuse("vault_limit_bytes is 0; it must be positive");
  if (options.host_limit_bytes == 0) return refuse("host_limit_bytes is 0; it must be positive");
  if (!std::has_single_bit(options.ring_units) || options.ring_units < 256 || options.ring_units > (1U << 20))
    return refuse("ring_units is " + std::to_string(options.ring_units) +
                  "; it must be a power of two from 256 to 1048576");
  if (options.lanes.policy == Lanes::Policy::pool &&
      (options.lanes.count < 1 || options.lanes.count > static_cast<int>(wire::kMaxLanes)))
    return refuse("Lanes::pool has " + std::to_string(options.lanes.count) + " lanes; it must have 1 to " +
                  std::to_string(wire::kMaxLanes));
  for (std::uint32_t lane = 0; lane < options.lanes.priorities.size(); ++lane)
    if (options.lanes.policy == Lanes::Policy::by_dependency && options.lanes.priorities[lane] != 0 &&
        lane != op::lane_of(op::Family::memory))
      return refuse(
          "Lanes prefer a family other than op::Family::memory; only Lanes::per_family() gives each family a lane");
  if (options.max_restarts < 0)
    return refuse("max_restarts is " + std::to_string(options.max_restarts) + "; it must not be negative");
  if (options.restart_window.count() <= 0)
    return refuse("restart_window is " + to_string(options.restart_window) + "; it must be positive");
  if (options.standbys && (*options.standbys < 1 || *options.standbys > kMaxStandbys))
    return refuse("standbys is " + std::to_string(*options.standbys) + "; it must be 1 to " +
                  std::to_string(kMaxStandbys) + " (Standby::none is without)");
  if (options.crash_budget.deaths < 0)
    return refuse("crash_budget.deaths is " + std::to_string(options.crash_budget.deaths) +
                  "; it must not be negative");
  for (const auto& [limit, name] : {std::pair(options.crash_budget.window, "window"),
                                    std::pair(options.crash_budget.first_refusal, "first_refusal"),
                                    std::pair(options.crash_budget.longest_refusal, "longest_refusal")})
    if (limit.count() <= 0)
      return refuse("crash_budget." + std::string(name) + " is " + to_string(limit) + "; it must be positive");
  if (options.silence_limit.count() < 0)
    return refuse("silence_limit is " + to_string(options.silence_limit) + "; it must not be negative");
  if (options.start_timeout.count() <= 0)
    return refuse("start_timeout is " + to_string(options.start_timeout) + "; it must be positive");
  return check_sandbox(options);
}

/// So that the largest op fits with its fences, wherever the ring's end is.
constexpr std::uint64_t kLeastGuardedRingUnits = 1024;
static_assert(2 * op::kMaxGuardedBytes < kLeastGuardedRingUnits * wire::kUnitBytes);

std::uint64_t fence_bytes(const DeviceOptions& options) noexcept { return options.guard ? op::kFenceBytes : 0; }
static_assert(op::kFenceBytes % kVaultAlignment == 0);

std::vector<std::string> absolute(std::span<const std::string_view> paths) {
  std::vector<std::string> all;
  for (const std::string_view path : paths) all.push_back(std::filesystem::absolute(path).string());
  return all;
}

/// What a worker must know about its sandbox. The options' views are copied, because they need not outlive the call.
Result<void> set_sandbox(WorkerSetup& setup, DeviceOptions& options) {
  setup.sandbox = options.isolation == Isolation::process ? options.sandbox.value_or(Sandbox::standard) : Sandbox::none;
  setup.environment = TROUPE_TRY(worker_environment(options.worker_environment));
  setup.readable_paths = absolute(options.readable_paths);
  setup.writable_paths = absolute(options.writable_paths);
  options.worker_environment = options.readable_paths = options.writable_paths = options.worker_arguments = {};
  return {};
}

}  // namespace

DeviceState::DeviceState(SystemCore& system, ControlLoop& loop, DeviceInfo info, const DeviceOptions& options,
                         wire::SharedBells bells, wire::Descriptor nudged)
    : system_(IntrusivePtr<SystemCore>::share(&system)),
      loop_(loop),
      info_(std::move(info)),
      options_(options),
      bells_(std::move(bells)),
      nudged_(std::move(nudged)),
      chunks_(
          std::make_shared<ChunkTable>(info_.backend == "host" ? ChunkTable::Maker::app : ChunkTable::Maker::worker)),
      engine_({.ring_units = options.ring_units,
               .max_waiting = options.max_waiting,
               .device = info_.index,
               .ops_per_flag = info_.backend == "host" ? 1 : wire::kMaxOpsPerFlag,
               .can_try = !info_.is_exclusive,
               .spin = info_.backend == "host" ? kSpinTime : kGpuSpinTime,
               .lingers = info_.backend != "host",
               .patience = info_.backend == "host" ? Duration(0) : kGpuPatience,
               .crash_budget = options.crash_budget,
               .guard = options.guard},
              {.kill = [this](std::uint32_t worker, const Error& why) { ask_to_kill(worker, why, false); },
               .distrust = [this](std::uint32_t worker, const Error& why) { ask_to_kill(worker, why, true); },
               .attend = [this] { nudge(); },
               .is_over = [this] { return is_over(); }},
              bells_.app()) {}

DeviceState::~DeviceState() {
  if (system_->is_forked() && poller_.joinable()) {
    poller_.detach();  // a fork does not have that thread
    deaths_.forget();
    return;
  }
  engine_.stop_polling();
  if (poller_.joinable()) poller_.join();
}

void DeviceState::nudge() noexcept { eventfd_write(nudged_.get(), 1); }

void DeviceState::take_nudge() noexcept {
  eventfd_t times = 0;
  eventfd_read(nudged_.get(), &times);
}

void DeviceState::ask_to_kill(std::uint32_t worker, const Error& why, bool broke_the_rules) noexcept {
  {
    const std::lock_guard lock(mutex_);
    to_kill_[worker] = KillOrder{worker, why, broke_the_rules};
  }
  nudge();
}

std::optional<KillOrder> DeviceState::take_kill() noexcept {
  const std::lock_guard lock(mutex_);
  for (std::optional<KillOrder>& order : to_kill_)
    if (order) return std::exchange(order, std::nullopt);
  return std::nullopt;
}

Result<std::shared_ptr<DeviceState>> DeviceState::open(SystemCore& system, const DeviceInfo& info,
                                                       const DeviceOptions& wanted) {
  TROUPE_TRY(check(wanted));
  TROUPE_TRY(system.check_not_forked());
  DeviceOptions options = wanted;
  if (options.crash_budget.deaths == 0) options.crash_budget.deaths = std::max(options.max_restarts / 2, 1);
  if (options.guard) options.ring_units = std::max(options.ring_units, kLeastGuardedRingUnits);
  WorkerSetup setup;
  TROUPE_TRY(set_sandbox(setup, options));
  const auto say = [&](const std::string& what) { system.log(LogLevel::warning, info.name, what); };
  if (const std::string missing = wire::sandbox_support().missing_for(setup.sandbox); !missing.empty())
    say("the sandbox of the workers is incomplete: this machine has no " + missing + "; see docs/security.md");
  if (!options.standbys) options.standbys = info.backend == "host" ? 1 : 2;
  if (info.is_exclusive && options.standby != Standby::none) {
    options.standby = Standby::none;
    say("only one process at a time may use this device: there is no standby, and what a worker was doing when it died "
        "is not tried again");
  }
  if (!info.keeps_memory)
    say("this driver cannot export memory: arrays are lost with their worker, and answer buffer_stale then");
  if (system.is_virtual())
    return fail(ErrorKind::unsupported,
                "a system with deterministic_seed cannot have devices: a worker runs in real time");
  ControlLoop* loop = TROUPE_TRY(control_loop_of(system));
  wire::SharedBells bells = TROUPE_TRY(wire::SharedBells::create());
  wire::Descriptor nudged(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!nudged) return fail(wire::errno_error("no descriptor for the device", errno));
  std::shared_ptr<DeviceState> device(
      new DeviceState(system, *loop, info, options, std::move(bells), std::move(nudged)));
  const std::uint64_t half = wire::machine_memory().total_bytes / 2;
  const auto or_half = [&](std::uint64_t bytes) { return bytes == DeviceOptions::kUnset ? half : bytes; };
  setup.isolation = options.isolation;
  if (options.isolation == Isolation::process)
    setup.executable = TROUPE_TRY(find_worker_executable(options.worker_executable));
  setup.arguments.assign(wanted.worker_arguments.begin(), wanted.worker_arguments.end());
  setup.backend = info.backend;
  setup.device = info.id;
  setup.device_name = info.backend == "cuda" ? "gpu" + std::to_string(info.index) : info.backend;
  setup.ring_units = options.ring_units;
  setup.memory_limit_bytes = or_half(options.worker_memory_limit_bytes);
  setup.completion = options.completion;
  if (options.cpu_threads && info.backend != "host")
    return fail(ErrorKind::invalid_argument,
                "cpu_threads is set for " + info.name + "; only a device on the CPU takes it");
  setup.cpu_threads = options.cpu_threads;
  setup.priorities = options.lanes.priorities;
  setup.log = [core = IntrusivePtr<SystemCore>::share(&system)](const LogRecord& record) {
    core->log(record.level, record.source, record.message);
  };
  setup.printed = &loop->log();
  device->worker_setup_ = std::move(setup);
  const auto make_vault = [&](std::uint64_t limit_bytes, ChunkTable::Sight sight) {
    // Large arrays that come and go find their chunks again, up to a quarter of the limit.
    const VaultOptions vault{
        .limit_bytes = limit_bytes, .keep_empty_bytes = limit_bytes / 4, .fence_bytes = fence_bytes(options)};
    return Vault::create(vault, info.index, std::make_shared<TableChunks>(device->chunks_, sight));
  };
  const bool has_own_memory = info.backend != "host";
  const std::uint64_t vault_bytes = has_own_memory && options.vault_limit_bytes == DeviceOptions::kUnset
                                        ? info.memory_bytes / 16 * 15
                                        : or_half(options.vault_limit_bytes);
  device->vault_ = TROUPE_TRY(make_vault(vault_bytes, ChunkTable::Sight::hidden));
  device->mortal_limit_bytes_ = vault_bytes;
  device->host_vault_ = TROUPE_TRY(make_vault(or_half(options.host_limit_bytes), ChunkTable::Sight::visible));
  try {
    device->poller_ = std::thread([raw = device.get()] { raw->engine_.poll_until_stopped(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for the device's poller: ") + error.what());
  }
  pthread_setname_np(device->poller_.native_handle(), "troupe-poller");
  if (options.isolation == Isolation::process) TROUPE_TRY(device->deaths_.start());

  const bool is_thread = options.isolation == Isolation::thread;
  const std::string name = "device-" + std::to_string(system.extension<Devices>().opened.fetch_add(1));
  const SpawnOptions spawn{.name = name,
                           .supervision = {.directive = is_thread ? Directive::stop : Directive::restart,
                                           .max_restarts = std::numeric_limits<int>::max(),  // the context counts
                                           .backoff = options.backoff},
                           .dispatcher = loop};
  TROUPE_TRY(spawn_under<DeviceContext>(system, system.internals(), spawn, device, std::make_shared<Crew>()));
  std::unique_lock lock(device->mutex_);
  device->changed_.wait(lock, [&] { return device->opened_.has_value(); });
  if (!*device->opened_) return fail(device->opened_->error());
  return device;
}

void DeviceState::opened(Result<void> how) {
  const std::lock_guard lock(mutex_);
  if (!opened_) opened_ = std::move(how);
  changed_.notify_all();
}

void DeviceState::close() noexcept {
  is_to_close_.store(true, std::memory_order_release);
  nudge();
}

Error DeviceState::why_shut() {
  const std::lock_guard lock(mutex_);
  return why_shut_.value_or(Error(ErrorKind::stopped));
}

void DeviceState::shut(const Error& why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    why_shut_ = why;
  }
  chunks_->close();
  vault_->close();
  host_vault_->close();
  for (const auto memory : {wire::ChunkMemory::local, wire::ChunkMemory::managed})
    if (const IntrusivePtr<Vault> vault = mortal_vault(memory)) vault->close();
  engine_.shut(why);
  engine_.stop_polling();
  if (poller_.joinable()) poller_.join();
  deaths_.stop();
}

void DeviceState::crew_is_gone() {
  const std::lock_guard lock(mutex_);
  is_shut_ = true;
  changed_.notify_all();
}

void DeviceState::wait_until_shut() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_shut_; });
}

IntrusivePtr<Vault> DeviceState::mortal_vault(wire::ChunkMemory memory) {
  const std::lock_guard lock(mutex_);
  return memory == wire::ChunkMemory::managed ? managed_vault_ : local_vault_;
}

void DeviceState::begin_generation(wire::Socket& worker, std::int64_t generation) {
  chunks_->begin_generation(worker, generation);
  const auto make = [&](wire::ChunkMemory memory) -> IntrusivePtr<Vault> {
    const VaultOptions options{
        .limit_bytes = mortal_limit_bytes_, .generation = generation, .fence_bytes = fence_bytes(options_)};
    Result<IntrusivePtr<Vault>> vault =
        Vault::create(options, info_.index, std::make_shared<MortalChunks>(chunks_, memory, generation));
    return vault ? std::move(*vault) : IntrusivePtr<Vault>();
  };
  IntrusivePtr<Vault> local = make(wire::ChunkMemory::local);
  IntrusivePtr<Vault> managed = make(wire::ChunkMemory::managed);
  {
    const std::lock_guard lock(mutex_);
    std::swap(local_vault_, local);
    std::swap(managed_vault_, managed);
  }
  if (local) local->close();
  if (managed) managed->close();
}

std::shared_ptr<CopyTeam> DeviceState::copy_team() {
  const std::lock_guard lock(mutex_);
  if (!copy_team_) copy_team_ = std::make_shared<CopyTeam>();
  return copy_team_;
}

std::uint32_t DeviceState::lane_for(op::Kind kind) noexcept {
  switch (options_.lanes.policy) {
    case Lanes::Policy::single: return 0;
    case Lanes::Policy::pool:
      return next_lane_.fetch_add(1, std::memory_order_relaxed) % static_cast<std::uint32_t>(options_.lanes.count);
    case Lanes::Policy::per_family:
    case Lanes::Policy::by_dependency: break;
  }
  const auto family = static_cast<op::Family>(op::family_number(kind));
  if (!options_.lanes.is_apart(family)) return op::lane_of(family);
  if (info_.backend != "host") return op::kLanesApart.front();
  return op::kLanesApart[next_lane_.fetch_add(1, std::memory_order_relaxed) % op::kLanesApart.size()];
}

}  // namespace troupe::inline v0::detail
