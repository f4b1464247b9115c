// Ops that seal or unseal: they wait until nothing uses their block, and hold it until all workers have done it.
#include "troupe/core/without_memory.hpp"
#include "troupe/device/content.hpp"
#include "troupe/device/engine.hpp"

namespace troupe::inline v0 {
namespace {

Error passed_before_its_turn() noexcept {
  return detail::describe(ErrorKind::deadline_exceeded,
                          [] { return "the deadline passed while other ops used the array"; });
}

}  // namespace

detail::IntrusivePtr<detail::OpCall> Engine::take_exclusive() {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  for (detail::OpCall* call = first_waiting_; call;) {
    detail::OpCall* const next = call->next;
    if (call->stage == OpStage::exclusive && !waits_for_others(*call)) {
      const bool is_late = call->deadline <= std::chrono::steady_clock::now();
      if (!is_late && !reads_what_stays_unknown(*call)) {
        set_stage(*call, OpStage::holding);
        return detail::IntrusivePtr<detail::OpCall>::share(call);
      }
      remove(*call);
      end(*call, fail(about(is_late ? passed_before_its_turn() : reads_unknown(*call), *call)));
    }
    call = next;
  }
  release_ready();
  return nullptr;
}

void Engine::end_exclusive(detail::OpCall& call, Result<void> result) noexcept {
  const auto watch = take_watch();
  const std::lock_guard lock(mutex_);
  if (call.stage != OpStage::holding) return;
  remove(call);
  end(call, result ? std::move(result) : fail(about(result.error(), call)));
  release_ready();
}

}  // namespace troupe::inline v0
