#include "tests/chaos/ledger.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace troupe::chaos {
namespace {

constexpr int kMaxPrinted = 40;

constexpr std::array<std::string_view, kComplaints> kNames = {
    "replies lost",       "replies doubled",    "wrong results", "arrays lost",    "culprits blamed wrongly",
    "errors unexplained", "descriptors leaked", "bytes leaked",  "processes left", "sealed arrays changed"};

void print_count(std::string_view name, std::uint64_t count) {
  std::printf("%-28.*s %10" PRIu64 "\n", static_cast<int>(name.size()), name.data(), count);
}

}  // namespace

std::string_view name(Complaint complaint) noexcept { return kNames[static_cast<std::size_t>(complaint)]; }

void Ledger::complain(Complaint complaint, const std::string& details, std::uint64_t times) {
  complaints_[index(complaint)] += times;
  const std::lock_guard lock(mutex_);
  if (printed_++ >= kMaxPrinted) return;
  const std::string_view what = name(complaint);
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(what.size()), what.data(), details.c_str());
}

bool Ledger::excuses_by_scribble(const Error& error) noexcept {
  const bool is_possible =
      error.kind() == ErrorKind::buffer_tainted ||
      (error.kind() == ErrorKind::worker_crashed && error.message().contains("memory was overwritten"));
  if (!is_possible || scribbles_.load() == lost_to_scribble.load()) return false;
  ++lost_to_scribble;
  return true;
}

bool Ledger::is_clean() const noexcept {
  return std::ranges::all_of(complaints_, [](const auto& count) { return count.load() == 0; });
}

std::uint64_t Ledger::injected_in_all() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& count : faults_) sum += count.load();
  return sum;
}

void print(const Ledger& ledger, std::uint64_t faults_planned, Target target) {
  std::printf("%-28s %10" PRIu64 " of %" PRIu64 "\n", "faults injected", ledger.injected_in_all(), faults_planned);
  for (int i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (can_happen(kind, target)) print_count("  " + std::string(name(kind)), ledger.injected_of(kind));
  }
  print_count("steps", ledger.steps);
  print_count("ops awaited", ledger.asked);
  print_count("replies", ledger.answered);
  print_count("arrays checked", ledger.arrays_checked);
  print_count("scopes committed", ledger.steps_committed);
  print_count("cut off in place (allowed)", ledger.cut_off_in_place);
  print_count("  ops that read those", ledger.read_what_was_cut_off);
  print_count("starved (allowed)", ledger.starved);
  print_count("lost to scribbles (allowed)", ledger.lost_to_scribble);
  for (int i = 0; i < kComplaints; ++i) {
    const auto complaint = static_cast<Complaint>(i);
    print_count(name(complaint), ledger.count(complaint));
  }
}

}  // namespace troupe::chaos
