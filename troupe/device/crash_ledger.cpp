#include "troupe/device/crash_ledger.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "troupe/actor/cell.hpp"
#include "troupe/core/without_memory.hpp"
#include "troupe/op/fields.hpp"
#include "troupe/wire/backtrace.hpp"

namespace troupe::inline v0 {
namespace {

// Accounts are numbers: those of names and of actors have a bit set, those of threads are the kernel's ids.
constexpr std::uint64_t kNamed = std::uint64_t{1} << 63;
constexpr std::uint64_t kActor = std::uint64_t{1} << 62;

/// What the op does, wherever its arrays are; 0 when its bytes cannot be decoded.
std::uint64_t content_of(const detail::OpCall& call) {
  op::AnyOp op;
  return op.decode(call.bytes.bytes()) ? op::digest(op) : 0;
}

template <class Entries, class Last>
void make_room(Entries& entries, const Last& last) {
  if (entries.size() < kMaxLedgerEntries) return;
  entries.erase(std::ranges::min_element(entries, {}, last));
}

}  // namespace

std::uint64_t CrashLedger::account_of(std::string_view name) {
  const std::uint64_t account = kNamed | std::hash<std::string_view>()(name);
  const std::lock_guard lock(mutex_);
  if (names_.size() < kMaxLedgerEntries) names_.try_emplace(account, name);
  return account;
}

std::uint64_t CrashLedger::account_of_caller() noexcept {
  if (const detail::Cell* const actor = detail::Cell::current_cell()) return kActor | actor->id();
  static thread_local const auto kThread = static_cast<std::uint64_t>(gettid());
  return kThread;
}

std::string CrashLedger::name_of(std::uint64_t account) const {
  if (account & kNamed) {
    const auto found = names_.find(account);
    return found == names_.end() ? "an account whose name is forgotten" : "the account \"" + found->second + "\"";
  }
  if (account & kActor) return "the actor " + std::to_string(account & ~kActor);
  return "the thread " + std::to_string(account);
}

Result<bool> CrashLedger::must_run_alone(const detail::OpCall& call, TimePoint now) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    forget_old(now);
    if (const auto found = accounts_.find(call.account); found != accounts_.end())
      TROUPE_TRY(refuse(found->second, now));
    // The op's content is computed only when it can matter: that takes longer than to submit the op.
    const bool may_be_marked = std::ranges::any_of(
        marks_, [&](const Mark& mark) { return mark.account == call.account && mark.kind == call.kind; });
    const bool may_be_refused = std::ranges::any_of(contents_, [&](const auto& entry) {
      return entry.second.kind == call.kind && entry.second.refused_until > now;
    });
    if (!may_be_marked && !may_be_refused) return false;
    const std::uint64_t content = content_of(call);
    if (const auto found = contents_.find(content); found != contents_.end()) TROUPE_TRY(refuse(found->second, now));
    return std::ranges::any_of(
        marks_, [&](const Mark& mark) { return mark.account == call.account && mark.content == content; });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Result<void> CrashLedger::refuse(const Tally& tally, TimePoint now) {
  if (tally.refused_until <= now) return {};
  return fail(ErrorKind::over_budget, tally.reason + "; try again in " + to_string(tally.refused_until - now));
}

void CrashLedger::suspect(const detail::OpCall& call, TimePoint now) noexcept {
  try {
    const std::uint64_t content = content_of(call);
    const std::lock_guard lock(mutex_);
    mark(call, content, 1, now);
  } catch (const std::bad_alloc&) {  // then it is not marked
  }
}

void CrashLedger::charge(const detail::OpCall& call, Charged what, const Error& why, TimePoint now) noexcept {
  try {
    const std::uint64_t content = content_of(call);
    const std::lock_guard lock(mutex_);
    add_death(accounts_, call.account, name_of(call.account), call, why, now);
    mark(call, content, kCleanRunsAfterCrash, now);
    if (what == Charged::account || content == 0) return;
    add_death(contents_, content, "this very op", call, why, now);
  } catch (const std::bad_alloc&) {  // then it is charged less than it cost
  }
}

void CrashLedger::mark(const detail::OpCall& call, std::uint64_t content, int clean_runs, TimePoint now) {
  const auto is_its = [&](const Mark& mark) { return mark.account == call.account && mark.content == content; };
  const auto found = std::ranges::find_if(marks_, is_its);
  const int before = found == marks_.end() ? 0 : found->clean_runs_left;
  std::erase_if(marks_, is_its);
  make_room(marks_, &Mark::until);
  marks_.push_back({call.account, content, call.kind, std::max(clean_runs, before), now + budget_.window});
  known_.fetch_or(bit_of(call.kind), std::memory_order_relaxed);
}

void CrashLedger::add_death(Tallies& tallies, std::uint64_t key, const std::string& whose, const detail::OpCall& call,
                            const Error& why, TimePoint now) {
  if (!tallies.contains(key)) make_room(tallies, [](const auto& entry) { return entry.second.last; });
  Tally& tally = tallies[key];
  tally.kind = call.kind;
  if (tally.deaths == 0 || now - tally.window_began > budget_.window) {
    tally.deaths = 0;
    tally.window_began = now;
  }
  ++tally.deaths;
  tally.last = now;
  // Whoever was refused before has no budget left: the next death is one too many.
  if (tally.refusals == 0 && tally.deaths <= budget_.deaths) return;
  Duration length = budget_.first_refusal;
  for (int i = 0; i < tally.refusals && length < budget_.longest_refusal; ++i) length *= 2;
  length = std::min(length, budget_.longest_refusal);
  ++tally.refusals;
  tally.refused_until = now + length;
  tally.reason = whose + " has cost " + std::to_string(tally.deaths) + " workers within " + to_string(budget_.window) +
                 ", the last by " + call.name() + " (" +
                 std::string(wire::without_backtrace(why.message()).substr(0, 200)) + ")";
  known_.fetch_or(bit_of(key) | bit_of(call.kind), std::memory_order_relaxed);
  if (news_.size() < kMaxLedgerEntries) news_.push_back("refused for " + to_string(length) + ": " + tally.reason);
}

void CrashLedger::acquit(const detail::OpCall& call) noexcept {
  try {
    const std::uint64_t content = content_of(call);
    const std::lock_guard lock(mutex_);
    std::erase_if(marks_, [&](Mark& mark) {
      return mark.account == call.account && mark.content == content && --mark.clean_runs_left <= 0;
    });
  } catch (const std::bad_alloc&) {  // then it runs alone once more
  }
}

/// Also sets `known_` for those that remain.
void CrashLedger::forget_old(TimePoint now) noexcept {
  std::erase_if(marks_, [&](const Mark& mark) { return mark.until <= now; });
  std::uint64_t known = 0;
  for (const Mark& mark : marks_) known |= bit_of(mark.kind);
  for (Tallies* tallies : {&accounts_, &contents_}) {
    // After a long time without a death it starts afresh.
    std::erase_if(*tallies, [&](const auto& entry) {
      return now - std::max(entry.second.last, entry.second.refused_until) >
             std::max(budget_.window, budget_.longest_refusal);
    });
    for (const auto& [key, tally] : *tallies)
      if (tally.refused_until > now) known |= tallies == &accounts_ ? bit_of(key) : bit_of(tally.kind);
  }
  known_.store(known, std::memory_order_relaxed);
}

std::vector<std::string> CrashLedger::take_news() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace troupe::inline v0
