#include "tests/chaos/conductor.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "tests/chaos/processes.hpp"
#include "tests/scribbler/scribbler.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::chaos {
namespace {

using namespace std::chrono_literals;

/// Bad ops at a time. More would only wait for each other.
constexpr int kMaxUnderWay = 6;
/// How often to look for somebody to strike, and how long: a device is never so long without a spare worker.
constexpr auto kLookAgain = 500us;
constexpr auto kPatienceForSpare = 30s;
/// How often to look whether the device is over the last fault. A plan that is behind this pace does not wait for it:
/// so waiting costs no run more than this for each fault.
constexpr auto kLookForCalm = 5ms;
constexpr auto kPace = 1s;
/// Less than the device waits for a sign of life.
constexpr std::uint32_t kLongestPauseMs = 500;
/// For the one that is started in the place of a spare that was killed.
constexpr int kLooksForNew = 1000;
/// How long there are no descriptors, at most, and how often those are taken that others have closed meanwhile.
constexpr std::uint32_t kLongestWithoutMs = 80;
constexpr auto kTakeAgain = 1ms;

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

}  // namespace

void Conductor::run() {
  auto in_time = now();
  for (const Fault& fault : scene_.plan.faults()) {
    in_time += kPace;
    if (!scene_.progress.wait_for(scene_.progress.steps() + fault.after_steps)) return;
    if (fault.waits_for_calm && !wait_for_calm(in_time)) return;
    if (!scene_.progress.wait_for(std::chrono::microseconds(fault.delay_us))) return;
    if (!carry_out(fault)) return;
  }
}

bool Conductor::wait_for_calm(std::chrono::steady_clock::time_point until) {
  while (now() < until && (hands_.under_way() > 0 || find_spare(0) == 0))
    if (!scene_.progress.wait_for(kLookForCalm)) return false;
  return true;
}

bool Conductor::carry_out(const Fault& fault) {
  if (!is_from_outside(fault.kind)) {
    while (hands_.under_way() >= kMaxUnderWay)
      if (!scene_.progress.wait_for(kLookAgain)) return false;
    hands_.commit(fault);
    return true;
  }
  for (const auto until = now() + kPatienceForSpare; now() < until;) {
    if (strike(fault)) {
      scene_.ledger.injected(fault.kind);
      return true;
    }
    if (!scene_.progress.wait_for(kLookAgain)) return false;
  }
  scene_.ledger.complain(Complaint::unexplained_error, "there is no worker that it could happen to");
  return true;
}

bool Conductor::strike(const Fault& fault) {
  if (fault.kind == FaultKind::no_descriptors) return take_descriptors(fault), true;
  if (fault.kind == FaultKind::kill_starting) return kill_one_that_starts(fault);
  if (is_scribble(fault.kind)) return scribble(fault);
  return is_stop(fault.kind) ? stop(fault) : kill(fault);
}

int Conductor::find_spare(std::uint32_t pick) const {
  std::vector<int> workers = live_workers();
  std::erase(workers, scene_.device.worker_pid());
  return workers.empty() ? 0 : workers[pick % workers.size()];
}

bool Conductor::kill(const Fault& fault) {
  const int pid = fault.kind == FaultKind::kill_active ? scene_.device.worker_pid() : find_spare(fault.pick);
  return pid > 0 && kill_worker(pid);
}

bool Conductor::stop(const Fault& fault) {
  const int pid = fault.kind == FaultKind::stop_spare ? find_spare(fault.pick) : scene_.device.worker_pid();
  if (pid <= 0 || !signal_worker(pid, SIGSTOP)) return false;
  if (fault.kind != FaultKind::pause_active) return true;
  (void)scene_.progress.wait_for(std::chrono::milliseconds(fault.pick % kLongestPauseMs));
  signal_worker(pid, SIGCONT);  // if it was not replaced meanwhile
  return true;
}

bool Conductor::kill_one_that_starts(const Fault& fault) {
  // Whoever is killed is replaced, and the one to replace it is new.
  const std::vector<int> before = live_workers();
  const int spare = find_spare(fault.pick);
  if (spare == 0 || !kill_worker(spare)) return false;
  for (int look = 0; look < kLooksForNew; ++look) {
    for (const int pid : live_workers())
      if (std::ranges::find(before, pid) == before.end() && kill_worker(pid)) return true;
    if (!scene_.progress.wait_for(std::chrono::microseconds(fault.pick % 500))) return false;
  }
  return false;
}

bool Conductor::scribble(const Fault& fault) {
  const bool on_spare = fault.kind == FaultKind::scribble_spare;
  const int pid = on_spare ? find_spare(fault.pick) : scene_.device.worker_pid();
  if (pid <= 0) return false;
  // An op that is tried alone would be to blame: nobody can know that it was somebody else.
  scene_.ledger.will_scribble();
  const auto nobody_is_tried = [&] { return !on_spare || scene_.device.stats().waiting == 0; };
  return scribbling::Scribbler(fault.pick).scribble_on(pid, nobody_is_tried);
}

void Conductor::take_descriptors(const Fault& fault) {
  scene_.ledger.shortage_begins();
  std::vector<wire::Descriptor> taken;
  const auto until = now() + std::chrono::milliseconds(fault.pick % kLongestWithoutMs);
  do {
    while (wire::Descriptor one{open("/dev/null", O_RDONLY | O_CLOEXEC)}) taken.push_back(std::move(one));
  } while (now() < until && scene_.progress.wait_for(kTakeAgain));
  taken.clear();
  scene_.ledger.shortage_ends();
}

}  // namespace troupe::chaos
