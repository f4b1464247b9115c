// What a run counts, from any thread. Whatever must not happen is a complaint: it is counted, and the first ones are
// printed with who it was and what it got.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/chaos/plan.hpp"

namespace troupe::chaos {

/// What must be 0 at the end.
enum class Complaint : std::uint8_t {
  reply_lost,         // an awaited op that did not end
  reply_doubled,      // or ended twice
  wrong_result,       // content that is not what the ops which succeeded must have made
  array_lost,         // an array that no failed op touched and that cannot be read
  blamed_wrongly,     // an op that failed for what another one did, or a bad one that did not
  unexplained_error,  // any other error
  descriptor_leaked,
  byte_leaked,
  process_left,
};
inline constexpr int kComplaints = 9;
std::string_view name(Complaint complaint) noexcept;

class Ledger {
 public:
  void complain(Complaint complaint, const std::string& details, std::uint64_t times = 1);
  std::uint64_t count(Complaint complaint) const noexcept { return complaints_[index(complaint)].load(); }
  bool is_clean() const noexcept;

  void injected(FaultKind kind) noexcept { ++faults_[static_cast<std::size_t>(kind)]; }
  std::uint64_t injected_of(FaultKind kind) const noexcept { return faults_[static_cast<std::size_t>(kind)].load(); }
  std::uint64_t injected_in_all() const noexcept;

  /// An op that takes all memory of its worker is under way, or was until just now.
  bool memory_is_scarce() const noexcept { return hungry.load() != 0; }
  std::atomic<int> hungry{0};

  // What is allowed, and shown.
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> asked{0};     // ops that somebody waited for
  std::atomic<std::uint64_t> answered{0};  // and got an answer, good or bad
  std::atomic<std::uint64_t> arrays_checked{0};
  std::atomic<std::uint64_t> cut_off_in_place{0};
  std::atomic<std::uint64_t> read_what_was_cut_off{0};
  std::atomic<std::uint64_t> starved{0};  // ran out of memory beside an op that took it all

 private:
  static constexpr std::size_t index(Complaint complaint) noexcept { return static_cast<std::size_t>(complaint); }

  std::array<std::atomic<std::uint64_t>, kComplaints> complaints_{};
  std::array<std::atomic<std::uint64_t>, kFaultKinds> faults_{};
  std::mutex mutex_;
  int printed_ = 0;
};

/// Prints everything to standard output.
void print(const Ledger& ledger, std::uint64_t faults_planned, Target target);

}  // namespace troupe::chaos
