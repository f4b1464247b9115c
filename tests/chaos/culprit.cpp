#include "tests/chaos/culprit.hpp"

#include <cstring>

namespace troupe::chaos {
namespace {

constexpr std::size_t kMaxKept = 8;
/// A deadline may pass before the op begins, but hardly ever so often.
constexpr int kMaxTries = 100;
constexpr std::int64_t kMemoryBytes = std::int64_t{32} << 20;
constexpr std::int32_t kSpinMs = 20'000;

std::string function_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::throws: return "throw";
    case FaultKind::spin: return "spin_ms";
    default: return std::string(name(kind));
  }
}

std::vector<std::byte> parameters_of(const Fault& fault, int value) {
  std::vector<std::byte> bytes(8);
  if (fault.kind == FaultKind::memory || fault.kind == FaultKind::memory_null) {
    std::memcpy(bytes.data(), &kMemoryBytes, 8);
  } else if (fault.kind == FaultKind::spin) {
    const auto number = static_cast<float>(value);
    std::memcpy(bytes.data(), &kSpinMs, 4);
    std::memcpy(bytes.data() + 4, &number, 4);
  } else {
    bytes.clear();
  }
  return bytes;
}

/// A good op that says it only reads must not write.
Touches touches_of(const Fault& fault) {
  return fault.kind == FaultKind::spin && fault.touches == Touches::reads ? Touches::nothing : fault.touches;
}

}  // namespace

Crime Culprit::begin(const Fault& fault) {
  if (fault.kind == FaultKind::memory || fault.kind == FaultKind::memory_null) ++scene_.ledger.hungry;
  Crime crime{.fault = fault, .array = {}, .value = ++last_value_ % 1000};
  crime.fault.touches = touches_of(fault);
  if (crime.fault.touches == Touches::nothing) return crime;
  Result<Array<float>> array = scene_.device.array<float>({fault.edge, fault.edge});
  if (array) {
    crime.array = std::move(*array);
    (void)scene_.device.fill(crime.array, static_cast<float>(crime.value)).submit();
  } else {
    complain(Complaint::unexplained_error, fault, array.error().to_string());
    crime.fault.touches = Touches::nothing;
  }
  return crime;
}

Call<void> Culprit::call(Crime& crime) {
  ++crime.tries;
  ++scene_.ledger.asked;
  std::vector<ArrayUse> arrays;
  if (crime.fault.touches == Touches::reads) arrays.push_back(reads(crime.array));
  if (crime.fault.touches == Touches::writes) arrays.push_back(writes(crime.array));
  if (crime.fault.touches == Touches::updates) arrays.push_back(updates(crime.array));
  const std::vector<std::byte> parameters = parameters_of(crime.fault, crime.value + 1);
  Call<void> call =
      scene_.device.call_plugin(scene_.plugin, function_of(crime.fault.kind), std::move(arrays), parameters);
  if (!has_deadline(crime.fault.kind)) return std::move(call).within(kPatience);
  // Every try has more time, in case the machine is slow.
  const Duration deadline =
      std::chrono::milliseconds(crime.fault.deadline_ms * static_cast<std::uint32_t>(crime.tries));
  return std::move(call).deadline(deadline).within(kPatience);
}

bool Culprit::is_deserved(const Fault& fault, ErrorKind kind) const noexcept {
  // What works in place is not run again when others end its worker.
  if (fault.touches == Touches::updates && kind == ErrorKind::worker_crashed) return true;
  switch (fault.kind) {
    case FaultKind::memory:  // whoever in the worker asks for memory next may die of it
      return kind == ErrorKind::out_of_memory || kind == ErrorKind::worker_crashed;
    case FaultKind::error:
    case FaultKind::throws: return kind == ErrorKind::library_error;
    case FaultKind::loop:
    case FaultKind::spin: return kind == ErrorKind::deadline_exceeded;
    default: return kind == ErrorKind::worker_crashed;
  }
}

bool Culprit::committed(Crime& crime, const Result<void>& result) {
  ++scene_.ledger.answered;
  if (result) {
    complain(Complaint::blamed_wrongly, crime.fault, "it succeeded");
  } else if (result.error().kind() == ErrorKind::timeout) {
    complain(Complaint::reply_lost, crime.fault, result.error().to_string());
  } else if (!is_deserved(crime.fault, result.error().kind())) {
    complain(Complaint::blamed_wrongly, crime.fault, result.error().to_string());
  } else if (has_deadline(crime.fault.kind)) {
    const std::string_view message = result.error().message();
    crime.was_run = message.contains("ran past its deadline") || message.contains("was killed by");
    if (!crime.was_run && crime.tries < kMaxTries && !scene_.progress.stopping()) return true;
    if (!crime.was_run) return false;
  }
  scene_.ledger.injected(crime.fault.kind);
  return false;
}

void Culprit::read_after(const Crime& crime, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  const bool is_tainted = crime.was_run && crime.fault.touches != Touches::reads;
  if (is_tainted) {
    if (result)
      complain(Complaint::wrong_result, crime.fault, "the array that it wrote could be read");
    else if (result.error().kind() != ErrorKind::buffer_tainted)
      explain(crime.fault, "reading what it wrote", result.error());
  } else if (!result) {
    explain(crime.fault, "reading what it did not write", result.error());
  } else {
    compare(crime.fault, *result, static_cast<float>(crime.value));
  }
}

Call<void> Culprit::rewrite(Crime& crime) {
  ++scene_.ledger.asked;
  crime.value = -crime.value;
  return scene_.device.fill(crime.array, static_cast<float>(crime.value)).within(kPatience);
}

void Culprit::rewritten(const Crime& crime, const Result<void>& result) {
  ++scene_.ledger.answered;
  if (!result) explain(crime.fault, "writing the array anew", result.error());
}

void Culprit::read_again(const Crime& crime, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  if (!result) return explain(crime.fault, "reading what was written anew", result.error());
  compare(crime.fault, *result, static_cast<float>(crime.value));
  const std::lock_guard lock(mutex_);
  kept_.push_back({crime.array, static_cast<float>(crime.value)});
  if (kept_.size() > kMaxKept) kept_.pop_front();
}

std::optional<Kept> Culprit::next_kept() {
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return std::nullopt;
  return kept_.front();
}

Call<HostArray<float>> Culprit::read(const Array<float>& array) {
  ++scene_.ledger.asked;
  return scene_.device.read(array).within(kPatience);
}

void Culprit::check(const Kept& kept, const Result<HostArray<float>>& result) {
  ++scene_.ledger.answered;
  if (!result) return explain({}, "reading an array put aside", result.error());
  compare({}, *result, kept.value);
}

void Culprit::over(const Crime& crime) {
  if (crime.fault.kind == FaultKind::memory || crime.fault.kind == FaultKind::memory_null) --scene_.ledger.hungry;
  --under_way_;
}

void Culprit::check_all_kept() {
  for (const Kept& kept : kept_) check(kept, read(kept).get());
  kept_.clear();
}

void Culprit::compare(const Fault& fault, const HostArray<float>& found, float expected) {
  ++scene_.ledger.arrays_checked;
  const std::vector<float> all(static_cast<std::size_t>(found.size()), expected);
  if (const std::string wrong = difference(found.span(), all); !wrong.empty())
    complain(Complaint::wrong_result, fault, wrong);
}

void Culprit::explain(const Fault& fault, const char* what, const Error& error) {
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
