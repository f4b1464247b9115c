#include "tests/chaos/culprit.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "tests/chaos/processes.hpp"

namespace troupe::chaos {
namespace {

constexpr std::size_t kMaxKept = 8;
/// A deadline may pass before the op begins, but hardly ever so often.
constexpr int kMaxTries = 100;
constexpr std::int64_t kMemoryBytes = std::int64_t{32} << 20;
constexpr std::int32_t kSpinMs = 20'000;
/// Far more than a pipe holds, or the log's queue.
constexpr std::int64_t kLines = 100'000;

std::string function_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::throws: return "throw";
    case FaultKind::spin: return "spin_ms";
    case FaultKind::write_sealed: return "scribble";
    default: return std::string(name(kind));
  }
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& number) {
  const auto its_bytes = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), its_bytes.begin(), its_bytes.end());
}

std::vector<std::byte> parameters_of(const Fault& fault, int value) {
  std::vector<std::byte> bytes;
  switch (fault.kind) {
    case FaultKind::memory:
    case FaultKind::memory_null: append(bytes, kMemoryBytes); break;
    case FaultKind::spin:
      append(bytes, kSpinMs);
      append(bytes, static_cast<float>(value));
      break;
    case FaultKind::leave_process:
      for (const char letter : name_for_left()) append(bytes, letter);
      break;
    case FaultKind::print: append(bytes, kLines); break;
    case FaultKind::write_sealed:  // which of the arrays, see `uses_of`
      append(bytes, std::int32_t{fault.touches == Touches::nothing ? 0 : 1});
      break;
    default: break;
  }
  return bytes;
}

/// A good op that says it only reads must not write; others have no business with an array.
Touches touches_of(const Fault& fault) {
  if (ends_well(fault.kind)) return Touches::nothing;
  return fault.kind == FaultKind::spin && fault.touches == Touches::reads ? Touches::nothing : fault.touches;
}

std::vector<ArrayUse> uses_of(const Crime& crime, const Array<float>& sealed) {
  std::vector<ArrayUse> uses;
  switch (crime.fault.touches) {
    case Touches::nothing: break;
    case Touches::reads: uses.push_back(reads(crime.array)); break;
    case Touches::writes: uses.push_back(writes(crime.array)); break;
    case Touches::updates: uses.push_back(updates(crime.array)); break;
  }
  if (crime.fault.kind == FaultKind::write_sealed) uses.push_back(reads(sealed));
  return uses;
}

bool takes_all_memory(FaultKind kind) { return kind == FaultKind::memory || kind == FaultKind::memory_null; }

/// Its worker was killed while it ran, and its deadline passed before it could be run again.
bool is_killed_from_outside(const Error& error) noexcept {
  return error.kind() == ErrorKind::worker_crashed && error.origin().native_code == SIGKILL;
}

/// By how it ended. A deadline that passes ends an op that was begun with what became of its worker; one that was not
/// begun with a sentence that says so. Of one whose deadline passed before its dead worker was reaped nobody knows yet;
/// nor of one that waits, and has no sentence of its own: it may wait because it was cut off, and only what never was
/// in a worker certainly was not.
Ran ran_by(const Error& error) {
  if (is_killed_from_outside(error)) return Ran::maybe;
  if (error.kind() != ErrorKind::deadline_exceeded) return Ran::yes;
  if (error.message().contains("before the op began")) return Ran::no;
  for (const char* const worker_died : {"while the worker died", "held up the worker", "could be run again"})
    if (error.message().contains(worker_died)) return Ran::maybe;
  if (error.message() != Error(ErrorKind::deadline_exceeded).message()) return Ran::yes;
  return error.origin().generation < 0 ? Ran::no : Ran::maybe;
}

}  // namespace

Crime Culprit::begin(const Fault& fault) {
  if (takes_all_memory(fault.kind)) scene_.ledger.shortage_begins();
  Crime crime{
      .fault = fault, .array = {}, .value = ++last_value_ % 1000, .past_shortages = scene_.ledger.past_shortages()};
  crime.fault.touches = touches_of(fault);
  if (crime.fault.touches == Touches::nothing) return crime;
  Result<Array<float>> array = scene_.device.array<float>({fault.edge, fault.edge});
  if (array) {
    crime.array = std::move(*array);
    (void)scene_.device.fill(crime.array, static_cast<float>(crime.value)).submit();
  } else {
    explain(crime, "allocating", array.error());
    crime.fault.touches = Touches::nothing;
  }
  return crime;
}

Call<void> Culprit::call(Crime& crime) {
  ++crime.tries;
  ++scene_.ledger.asked;
  const std::vector<std::byte> parameters = parameters_of(crime.fault, crime.value + 1);
  Call<void> call = scene_.is_done_by_kernel(crime.fault.kind)
                        ? scene_.kernels->commit(crime.fault, crime.array, scene_.sealed)
                        : scene_.device.call_plugin(scene_.plugin, function_of(crime.fault.kind),
                                                    uses_of(crime, scene_.sealed), parameters);
  if (!has_deadline(crime.fault.kind)) return std::move(call).wait_at_most(kPatience);
  // Every try has more time, in case the machine is slow.
  const Duration deadline =
      std::chrono::milliseconds(crime.fault.deadline_ms * static_cast<std::uint32_t>(crime.tries));
  return std::move(call).deadline(deadline).wait_at_most(kPatience);
}

bool Culprit::is_deserved(const Fault& fault, const Error& error) const noexcept {
  const ErrorKind kind = error.kind();
  // What works in place is not run again when others end its worker.
  if (fault.touches == Touches::updates && scene_.is_end_of_worker(kind)) return true;
  switch (fault.kind) {
    case FaultKind::memory:  // whoever in the worker asks for memory next may die of it
      return kind == ErrorKind::out_of_memory || kind == ErrorKind::worker_crashed;
    case FaultKind::error:
    case FaultKind::throws: return kind == ErrorKind::library_error;
    case FaultKind::illegal_address:
    case FaultKind::misaligned:
    case FaultKind::trap:
    case FaultKind::device_assert:
    case FaultKind::write_sealed:
      if (!scene_.is_done_by_kernel(fault.kind)) return kind == ErrorKind::worker_crashed;
      return kind == ErrorKind::context_poisoned && error.origin().native_code == code_of(fault.kind);
    case FaultKind::loop:
    case FaultKind::spin:
    case FaultKind::print_for_ever:
    case FaultKind::hang: return kind == ErrorKind::deadline_exceeded || is_killed_from_outside(error);
    case FaultKind::leave_process:  // a sandbox may allow no processes
      return scene_.is_strict && kind == ErrorKind::library_error;
    case FaultKind::print: return false;
    default: return kind == ErrorKind::worker_crashed;
  }
}

bool Culprit::committed(Crime& crime, const Result<void>& result) {
  ++scene_.ledger.answered;
  crime.ended_in = result ? "no error" : result.error().to_string();
  if (result) {
    if (!ends_well(crime.fault.kind)) complain(Complaint::blamed_wrongly, crime.fault, "it succeeded");
  } else if (result.error().kind() == ErrorKind::timeout) {
    complain(Complaint::reply_lost, crime.fault, result.error().to_string());
  } else if (crime.ran == Ran::maybe && crime.fault.touches == Touches::updates &&
             result.error().kind() == ErrorKind::buffer_tainted) {
    // An earlier try ran after all, and left the array that this one reads.
  } else if (!is_deserved(crime.fault, result.error())) {
    if (!scene_.ledger.excuses_by_scribble(result.error()))
      complain(Complaint::blamed_wrongly, crime.fault, crime.ended_in);
    crime.ran = std::max(crime.ran, Ran::maybe);
    scene_.ledger.injected(crime.fault.kind);
    return false;
  } else if (has_deadline(crime.fault.kind)) {
    const Ran ran = ran_by(result.error());
    crime.ran = std::max(crime.ran, ran);
    if (ran != Ran::yes) return crime.tries < kMaxTries && !scene_.progress.stopping();
  }
  crime.ran = Ran::yes;
  scene_.ledger.injected(crime.fault.kind);
  return false;
}

void Culprit::read_after(const Crime& crime, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  const Ran wrote = crime.fault.touches == Touches::reads ? Ran::no : crime.ran;
  const bool is_tainted = !result && result.error().kind() == ErrorKind::buffer_tainted;
  if (is_tainted && wrote != Ran::no) return;
  if (wrote == Ran::yes) {
    if (result)
      complain(Complaint::wrong_result, crime.fault,
               "the array that it wrote could be read; it had ended in " + crime.ended_in);
    else
      explain(crime, "reading what it wrote", result.error());
  } else if (!result) {
    explain(crime, "reading what it did not write", result.error());
  } else {
    compare(crime.fault, *result, static_cast<float>(crime.value));
  }
}

Call<void> Culprit::rewrite(Crime& crime) {
  ++scene_.ledger.asked;
  crime.value = -crime.value;
  return scene_.device.fill(crime.array, static_cast<float>(crime.value)).wait_at_most(kPatience);
}

void Culprit::rewritten(const Crime& crime, const Result<void>& result) {
  ++scene_.ledger.answered;
  if (!result) explain(crime, "writing the array anew", result.error());
}

void Culprit::read_again(const Crime& crime, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  if (!result) return explain(crime, "reading what was written anew", result.error());
  compare(crime.fault, *result, static_cast<float>(crime.value));
  const std::lock_guard lock(mutex_);
  kept_.push_back({.array = crime.array, .value = static_cast<float>(crime.value)});
  if (kept_.size() > kMaxKept) kept_.pop_front();
}

std::optional<Kept> Culprit::next_kept(const Crime& crime) {
  if (crime.fault.kind == FaultKind::write_sealed)
    return Kept{.array = scene_.sealed, .value = kSealedNumber, .if_changed = Complaint::sealed_changed};
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return std::nullopt;
  return kept_.front();
}

Call<HostArray<float>> Culprit::read(const Array<float>& array) {
  ++scene_.ledger.asked;
  return scene_.device.read(array).wait_at_most(kPatience);
}

void Culprit::check(const Crime& crime, const Kept& kept, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  if (!result) return explain(crime, "afterwards, reading an array put aside", result.error());
  compare(crime.fault, *result, kept.value, kept.if_changed);
}

void Culprit::over(const Crime& crime) {
  if (takes_all_memory(crime.fault.kind)) scene_.ledger.shortage_ends();
  --under_way_;
}

void Culprit::check_all_kept() {
  const Crime none{.past_shortages = scene_.ledger.past_shortages()};
  for (const Kept& kept : kept_) check(none, kept, read(kept).get());
  kept_.clear();
}

void Culprit::compare(const Fault& fault, const HostArray<float>& found, float expected, Complaint if_wrong) {
  ++scene_.ledger.arrays_checked;
  const std::vector<float> all(static_cast<std::size_t>(found.size()), expected);
  if (const std::string wrong = difference(found.span(), all); !wrong.empty()) complain(if_wrong, fault, wrong);
}

bool Culprit::is_starved(const Crime& crime, const Error& error) const noexcept {
  return error.kind() == ErrorKind::out_of_memory && scene_.ledger.was_short_since(crime.past_shortages);
}

void Culprit::explain(const Crime& crime, const char* what, const Error& error) {
  if (is_starved(crime, error)) {
    ++scene_.ledger.starved;
    return;
  }
  if (scene_.ledger.excuses_by_scribble(error)) return;
  const Fault& fault = crime.fault;
  const std::string details = std::string(what) + ": " + error.to_string();
  switch (error.kind()) {
    case ErrorKind::timeout: return complain(Complaint::reply_lost, fault, details);
    case ErrorKind::buffer_tainted: return complain(Complaint::array_lost, fault, details);
    case ErrorKind::worker_crashed:
    case ErrorKind::context_poisoned:
    case ErrorKind::deadline_exceeded: return complain(Complaint::blamed_wrongly, fault, details);
    default: return complain(Complaint::unexplained_error, fault, details);
  }
}

void Culprit::complain(Complaint complaint, const Fault& fault, const std::string& details) {
  scene_.ledger.complain(complaint, "culprit " + std::to_string(number_) + ", " + std::string(name(fault.kind)) +
                                        " that " + std::string(name(fault.touches)) + ": " + details);
}

}  // namespace troupe::chaos
