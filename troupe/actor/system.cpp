#include "troupe/actor/system.hpp"

namespace troupe::inline v0 {

Result<System> System::create(SystemOptions options) {
  return System(TROUPE_TRY(SystemCore::start(std::move(options))));
}

System::~System() {
  if (!core_) return;
  if (!core_->shutting_down()) (void)core_->shutdown(kShutdownAtExit);
  core_->join();
}

Result<ShutdownReport> System::shutdown(Duration deadline) {
  if (Cell::current_cell())
    return fail(ErrorKind::invalid_argument, "shutdown() inside a handler would wait for that very handler");
  return core_->shutdown(deadline);
}

std::uint64_t System::run_until_idle() {
  TROUPE_ASSERT(core_->is_virtual(), "only a deterministic system is run by hand");
  std::uint64_t turns = 0;
  while (core_->deterministic()->step()) ++turns;
  return turns;
}

}  // namespace troupe::inline v0
