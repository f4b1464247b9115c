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
#include "troupe/core/result.hpp"

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
  sealed_changed,  // an array that nobody can write
};
inline constexpr int kComplaints = 10;
std::string_view name(Complaint complaint) noexcept;

class Ledger {
 public:
  void complain(Complaint complaint, const std::string& details, std::uint64_t times = 1);
  std::uint64_t count(Complaint complaint) const noexcept { return complaints_[index(complaint)].load(); }
  bool is_clean() const noexcept;

  void injected(FaultKind kind) noexcept { ++faults_[static_cast<std::size_t>(kind)]; }
  std::uint64_t injected_of(FaultKind kind) const noexcept { return faults_[static_cast<std::size_t>(kind)].load(); }
  std::uint64_t injected_in_all() const noexcept;

  // While there is a shortage, of memory in a worker or of descriptors in the app, an op may end in `out_of_memory`.

  void shortage_begins() noexcept { ++shortages_; }
  void shortage_ends() noexcept {
    ++past_shortages_;  // first, so that no look finds neither
    --shortages_;
  }
  std::uint64_t past_shortages() const noexcept { return past_shortages_.load(); }
  /// Whether there is one, or was one since that number of them was over.
  bool was_short_since(std::uint64_t past_shortages) const noexcept {
    return shortages_.load() != 0 || past_shortages_.load() != past_shortages;
  }

  /// Before a worker's memory is scribbled on.
  void will_scribble() noexcept { ++scribbles_; }
  /// Whether a scribble may have cost an op that ends so. Where nobody knows whether an op was done, it may be lost,
  /// in place or not; and if nobody waits for it, that shows in its array. It is rare: each scribble excuses one.
  bool excuses_by_scribble(const Error& error) noexcept;

  // What is allowed, and shown.
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> asked{0};     // ops that somebody waited for
  std::atomic<std::uint64_t> answered{0};  // and got an answer, good or bad
  std::atomic<std::uint64_t> arrays_checked{0};
  std::atomic<std::uint64_t> steps_committed{0};  // of those who train
  std::atomic<std::uint64_t> cut_off_in_place{0};
  std::atomic<std::uint64_t> read_what_was_cut_off{0};
  std::atomic<std::uint64_t> starved{0};           // ended in `out_of_memory` during a shortage
  std::atomic<std::uint64_t> lost_to_scribble{0};  // nobody knew whether it was done

 private:
  static constexpr std::size_t index(Complaint complaint) noexcept { return static_cast<std::size_t>(complaint); }

  std::array<std::atomic<std::uint64_t>, kComplaints> complaints_{};
  std::array<std::atomic<std::uint64_t>, kFaultKinds> faults_{};
  std::atomic<int> shortages_{0};
  std::atomic<std::uint64_t> past_shortages_{0};
  std::atomic<std::uint64_t> scribbles_{0};
  std::mutex mutex_;
  int printed_ = 0;
};

/// Prints everything to standard output.
void print(const Ledger& ledger, std::uint64_t faults_planned, Target target);

}  // namespace troupe::chaos
