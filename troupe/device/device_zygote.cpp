// Whether new workers are forked: the zygote's beginning, its word, and its end.
#include <utility>

#include "troupe/device/device_context.hpp"

namespace troupe::inline v0 {
namespace {

/// So many zygotes may end by themselves, and their workers with them. After that workers are spawned.
constexpr int kMaxZygotesLost = 3;

}  // namespace

bool DeviceContext::may_start_now() {
  if (crew_->forks_no_more || !device_->worker_setup().can_fork()) return true;
  if (!crew_->active) return true;  // somebody waits: if there is no zygote yet, spawned
  if (!crew_->zygote) start_zygote();
  return !crew_->zygote || crew_->zygote_is_ready;
}

void DeviceContext::start_zygote() {
  Result<wire::Zygote> started = WorkerLink::start_zygote(device_->worker_setup());
  if (!started) return lose_zygote(started.error());
  crew_->zygote.emplace(std::move(*started));
  crew_->zygote_is_ready = false;
  const int pid = crew_->zygote->pid();
  const Result<void> watched = device_->loop().when_readable(
      crew_->zygote->descriptor(), [ref = self_.ref(), pid] { (void)ref.tell(ZygoteSpoke{pid}); });
  if (!watched) return lose_zygote(watched.error());
  (void)self_.after(device_->options().start_timeout, ZygoteIsLate{pid});
}

void DeviceContext::zygote_spoke(ZygoteSpoke message) {
  if (!crew_->zygote || crew_->zygote->pid() != message.pid) return;
  device_->loop().listen_again(crew_->zygote->descriptor());
  const Result<wire::Zygote::State> state = crew_->zygote->look();
  if (!state) return lose_zygote(state.error()), attend();
  if (*state == wire::Zygote::State::refused) {
    self_.log(LogLevel::info, "new workers are spawned and not forked, which takes longer: " + crew_->zygote->why());
    crew_->forks_no_more = true;
    end_zygote();
  }
  crew_->zygote_is_ready = *state == wire::Zygote::State::ready;
  attend();
}

void DeviceContext::zygote_is_late(ZygoteIsLate message) {
  if (!crew_->zygote || crew_->zygote_is_ready || crew_->zygote->pid() != message.pid) return;
  lose_zygote(Error(ErrorKind::timeout, "its imports took longer than " + to_string(device_->options().start_timeout)));
  attend();
}

void DeviceContext::lose_zygote(const Error& why) {
  const bool has_begun = std::exchange(crew_->zygote_is_ready, false);
  if (!has_begun || ++crew_->zygotes_lost >= kMaxZygotesLost) crew_->forks_no_more = true;
  self_.log(LogLevel::warning, "the process that forks workers is lost, " +
                                   std::string(crew_->forks_no_more ? "and they are spawned from now on: "
                                                                    : "and a new one is started: ") +
                                   why.to_string());
  end_zygote();
}

void DeviceContext::end_zygote() {
  if (!crew_->zygote) return;
  device_->loop().forget(crew_->zygote->descriptor());
  crew_->zygote.reset();
  crew_->zygote_is_ready = false;
}

}  // namespace troupe::inline v0
