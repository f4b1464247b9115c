#include "troupe/actor/system.hpp"

#include "troupe/actor/deterministic.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/testkit.hpp"

namespace troupe::inline v0 {

Result<System> System::create(SystemOptions options) {
  return System(TROUPE_TRY(detail::SystemCore::start(std::move(options))));
}

System::System(SystemOptions options) : System(value(create(std::move(options)))) {}
System::System(System&& other) noexcept = default;
System::System(detail::IntrusivePtr<detail::SystemCore> core) noexcept : core_(std::move(core)) {}

System::~System() {
  if (!core_) return;
  if (core_->is_forked()) {
    detail::leave_in_fork(core_.leak());
    return;
  }
  if (!core_->shutting_down()) (void)core_->shutdown(kShutdownAtExit);
  core_->join();
}

detail::IntrusivePtr<detail::Cell> System::user() const noexcept { return core_->user(); }
detail::IntrusivePtr<detail::Cell> System::find_cell(std::string_view path) { return core_->find(path); }
Result<Dispatcher*> System::pinned_thread(std::string name, std::optional<int> core) {
  return core_->pinned_thread(std::move(name), core);
}
Dispatcher* System::adopt(std::unique_ptr<Dispatcher> dispatcher) { return core_->adopt(std::move(dispatcher)); }
EventStream& System::events() noexcept { return core_->events(); }
SystemStats System::stats() { return core_->stats(); }
void System::advance(Duration by) { core_->advance(by); }
std::uint64_t System::fingerprint() const noexcept { return core_->deterministic()->fingerprint(); }
TimePoint System::now() const noexcept { return core_->now(); }

Result<ShutdownReport> System::shutdown(Duration deadline) {
  if (detail::Cell::current_cell())
    return fail(ErrorKind::invalid_argument, "shutdown() inside a handler would wait for that very handler");
  TROUPE_TRY(core_->check_not_forked());
  return core_->shutdown(deadline);
}

std::uint64_t System::run_until_idle() {
  TROUPE_ASSERT(core_->is_virtual(), "only a deterministic system is run by hand");
  std::uint64_t turns = 0;
  while (core_->deterministic()->step()) ++turns;
  return turns;
}

// ---- for probes (testkit.hpp) ----

namespace detail {

bool is_virtual(SystemCore& core) noexcept { return core.is_virtual(); }

void drive_until(SystemCore& core, Duration limit, const std::function<bool()>& done) {
  const TimePoint until = core.now() + limit;
  core.drive_until([&] { return done() || core.now() >= until; });
}

}  // namespace detail

}  // namespace troupe::inline v0
