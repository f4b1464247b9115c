// What workers say, or that they say nothing: their messages, hang-ups and signs of life, and their answers to seals.
#include <utility>

#include "troupe/core/without_memory.hpp"
#include "troupe/device/device_context.hpp"

namespace troupe::inline v0 {
namespace {

/// How long a worker may take to end after it has said that it ends, or has hung up.
constexpr Duration kHangUpPatience = std::chrono::seconds(1);
/// A process that ends lets go of its life line first, then closes its socket. If it is not reaped this soon after
/// that, the driver of a GPU is tearing it down, which can take a tenth of a second: the standby need not wait for
/// that.
constexpr Duration kReapGrace = std::chrono::milliseconds(2);
/// How often workers are looked at for signs of life.
constexpr Duration kLookPeriod = std::chrono::milliseconds(250);
/// A process is loaded and greeted before its first sign of life: it may take so many times the limit for that.
constexpr int kTimesUntilFirstBeat = 2;

}  // namespace

// ---- messages ----

void DeviceContext::listen_to(std::uint32_t worker) {
  device_->loop().listen_again(crew_->members.at(worker).link->socket().descriptor());
}

void DeviceContext::spoke(Spoke message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end()) return;
  CrewMember& member = found->second;
  Result<std::optional<wire::Message>> received = member.link->socket().try_receive();
  if (!received && received.error().kind() == ErrorKind::stopped) {
    // It has hung up. A process will be reaped soon, or is killed; a thread has ended with this.
    if (member.link->pid() == 0) return reaped(message.worker, {});
    (void)self_.after(kHangUpPatience, HungUp{message.worker, member.link->pid()});
    if (member.role == Role::active) (void)self_.after(kReapGrace, Gone{message.worker, member.link->pid(), false});
    return;
  }
  listen_to(message.worker);
  if (!received) {
    // Without a free descriptor its message is lost; whoever waits for it is told.
    if (received.error().kind() == ErrorKind::out_of_memory)
      return device_->chunks().answer_lost(member.link->socket(), received.error());
    member.broke_the_rules = true;
    return kill_member(member, detail::describe(ErrorKind::worker_crashed, [&] {
                         return "the worker's message cannot be received: " + received.error().to_string();
                       }));
  }
  if (!*received) return;
  const std::optional<Error> wrong = hear(message.worker, member, **received);
  if (!wrong) return;
  member.broke_the_rules = true;
  kill_member(member, *wrong);
}

std::optional<Error> DeviceContext::hear(std::uint32_t worker, CrewMember& member, wire::Message& message) {
  Result<wire::ToApp> decoded = fail(ErrorKind::internal);
  std::string our_version;
  const auto decode = [&] {
    our_version = wire::protocol_version();
    decoded = wire::decode_to_app(message.bytes);
  };
  // It is not said twice.
  if (!detail::await_memory_unless(decode, [&] { return device_->is_over(); })) return std::nullopt;
  if (!decoded && member.role != Role::starting)
    return detail::describe(ErrorKind::worker_crashed, [] { return "the worker said something that cannot be read"; });
  if (!decoded)
    return detail::describe(ErrorKind::unsupported,
                            [] { return "the worker's answer cannot be read: is it of another version?"; });
  if (const auto* ready = std::get_if<wire::Ready>(&*decoded)) {
    if (ready->version != our_version)
      return detail::describe(ErrorKind::unsupported, [&] {
        return "the worker is of another version: it is " + ready->version + ", this program is " + our_version;
      });
    if (member.role != Role::starting)
      return detail::describe(ErrorKind::worker_crashed, [] { return "the worker says twice that it is ready"; });
    became_ready(worker);
  } else if (const auto* refused = std::get_if<wire::Refused>(&*decoded)) {
    return detail::describe(refused->kind, [&] { return refused->message; });
  } else if (const auto* poisoned = std::get_if<wire::Poisoned>(&*decoded)) {
    (void)self_.after(kHangUpPatience, HungUp{worker, member.link->pid()});  // it ends by itself, or is killed
    serving_worker_dies(member, report_of(poisoned->kind, poisoned->message, poisoned->native_code),
                        TimePoint(TimePoint::duration(poisoned->noticed)));
  } else if (const auto* none = std::get_if<wire::NoMemory>(&*decoded)) {
    device_->chunks().made(member.link->socket(), fail(detail::describe(none->kind, [&] { return none->message; })));
  } else if (const auto* done = std::get_if<wire::ChunkProtected>(&*decoded)) {
    crew_->seal.answered(member.link->socket(), done->id, done->read_only);
    attend_seals();
  } else if (message.descriptors.size() <= 1) {
    device_->chunks().made(member.link->socket(),
                           message.descriptors.empty() ? wire::Descriptor() : std::move(message.descriptors[0]));
  } else {
    return detail::describe(ErrorKind::worker_crashed,
                            [] { return "the worker sent descriptors that nobody asked for"; });
  }
  return std::nullopt;
}

void DeviceContext::hung_up(HungUp message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end() || found->second.link->pid() != message.pid) return;
  found->second.broke_the_rules = true;
  kill_member(found->second, detail::describe(ErrorKind::worker_crashed, [] { return "the worker hung up"; }));
}

void DeviceContext::died(std::int64_t generation) {
  if (!crew_->active) return;
  const CrewMember& member = crew_->members.at(*crew_->active);
  if (member.generation == generation) (void)self_.after(kReapGrace, Gone{*crew_->active, member.link->pid(), true});
}

void DeviceContext::gone(Gone message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end() || found->second.link->pid() != message.pid) return;
  found->second.has_hung_up = true;
  serving_worker_dies(found->second,
                      detail::describe(ErrorKind::worker_crashed,
                                       [&] { return "worker " + std::to_string(message.pid) + " has hung up"; }),
                      std::chrono::steady_clock::now(), message.takes_no_more);
}

// ---- silence ----

void DeviceContext::look() {
  crew_->will_look = false;
  look_again();
  const Duration limit = device_->options().silence_limit;
  for (auto& [number, member] : crew_->members) {
    const std::uint32_t heartbeat = member.link->channel().status().heartbeat.load(std::memory_order_relaxed);
    if (member.link->pid() == 0 || member.role == Role::dying) continue;
    const bool is_silent = std::exchange(member.heartbeat, heartbeat) == heartbeat;
    member.silent_looks = is_silent ? member.silent_looks + 1 : 0;
    // Counted in looks, not by the clock: if this process was stopped, too, nobody is to blame.
    const Duration its_limit = heartbeat == 0 ? kTimesUntilFirstBeat * limit : limit;
    if (member.silent_looks * kLookPeriod < its_limit) continue;
    member.silent_looks = 0;
    return kill_member(member, detail::describe(ErrorKind::worker_crashed, [&] {
                         return "worker " + std::to_string(member.link->pid()) + " gave no sign of life for " +
                                to_string(its_limit) + ": it was stopped, or the machine stands still";
                       }));
  }
}

void DeviceContext::look_again() {
  if (crew_->will_look || device_->options().silence_limit.count() == 0) return;
  crew_->will_look = self_.after(kLookPeriod, Look{}).has_value();
}

// ---- sealing ----

void DeviceContext::attend_seals() {
  const std::uint64_t before = crew_->seal.number();
  crew_->seal.attend(device_->engine(), device_->chunks());
  if (const std::uint64_t now = crew_->seal.number(); now != 0 && now != before)
    (void)self_.after(kSealPatience, SealIsLate{now});
}

void DeviceContext::seal_is_late(SealIsLate message) {
  if (crew_->seal.number() != message.which) return;
  const Error why(ErrorKind::timeout, "the worker did not seal or unseal memory within " + to_string(kSealPatience));
  CrewMember* serving = nullptr;
  for (auto& [number, member] : crew_->members) {
    if (member.role == Role::dying || !crew_->seal.waits_for(member.link->socket())) continue;
    if (member.role == Role::active)
      serving = &member;
    else
      kill_member(member, why);
  }
  (void)self_.after(kSealPatience, SealIsLate{message.which});  // for those that are dying now
  if (serving) kill_member(*serving, why);                      // last, because another instance goes on from there
}

}  // namespace troupe::inline v0
