// Who pays for the workers that died. A death whose culprit is known is charged twice: to the account of the op's
// caller, and to the op's content, which is what the op does. Past the budget either is refused at submission, for a
// time that grows. An op that was under way when a worker died, and could not be tried again to see whether it was the
// cause, runs alone the next time, where it harms nobody; so does an op that was convicted.
//
// Any thread. While there is nothing to remember, an op costs one load of one word.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/device/device_options.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

/// How many accounts, contents and marks are remembered, each; the oldest are forgotten. Names are kept up to this
/// many.
inline constexpr std::size_t kMaxLedgerEntries = 1024;
/// How often a convicted op must end well, alone, before it may run among others again.
inline constexpr int kCleanRunsAfterCrash = 8;

class CrashLedger {
 public:
  explicit CrashLedger(const CrashBudget& budget) noexcept : budget_(budget) {}

  /// The account of a name: the same one for the same name.
  std::uint64_t account_of(std::string_view name);
  /// The account of a caller without a name: the actor whose turn it is, or this thread.
  static std::uint64_t account_of_caller() noexcept;

  /// Whether the op must be looked up at all.
  bool may_know(const detail::OpCall& call) const noexcept {
    const std::uint64_t known = known_.load(std::memory_order_relaxed);
    return known != 0 && (known & (bit_of(call.account) | bit_of(call.kind))) != 0;
  }
  /// Whether it must run alone; an error when it may not run at all.
  Result<bool> must_run_alone(const detail::OpCall& call, TimePoint now) noexcept;

  /// The op was under way when a worker died, and nobody will know whether it was the cause.
  void suspect(const detail::OpCall& call, TimePoint now) noexcept;
  enum class Charged : std::uint8_t {
    account,              // it ran past its deadline; with a longer one the same op may be good
    account_and_content,  // it crashed
  };
  void charge(const detail::OpCall& call, Charged what, const Error& why, TimePoint now) noexcept;
  /// The op has run alone, and its worker lives.
  void acquit(const detail::OpCall& call) noexcept;
  /// A line for each refusal since the last call.
  std::vector<std::string> take_news() noexcept;

 private:
  /// What one account has cost, or all ops with the same content.
  struct Tally {
    op::Kind kind = 0;  // of a content
    int deaths = 0;     // in the window
    TimePoint window_began{};
    TimePoint last{};
    int refusals = 0;  // so far; each makes the next one longer
    TimePoint refused_until{};
    std::string reason;  // of the last refusal
  };
  /// An op of an account that runs alone until it has ended well that often, or until the time is over.
  struct Mark {
    std::uint64_t account = 0;
    std::uint64_t content = 0;
    op::Kind kind = 0;
    int clean_runs_left = 1;
    TimePoint until{};
  };
  using Tallies = std::map<std::uint64_t, Tally>;

  static std::uint64_t bit_of(std::uint64_t number) noexcept {
    return std::uint64_t{1} << (number * 0x9e3779b97f4a7c15 >> 58);
  }
  void mark(const detail::OpCall& call, std::uint64_t content, int clean_runs, TimePoint now);
  void add_death(Tallies& tallies, std::uint64_t key, const std::string& whose, const detail::OpCall& call,
                 const Error& why, TimePoint now);
  static Result<void> refuse(const Tally& tally, TimePoint now);
  void forget_old(TimePoint now) noexcept;
  std::string name_of(std::uint64_t account) const;

  const CrashBudget budget_;
  /// A bit for the account or the kind of each op that must be looked up.
  std::atomic<std::uint64_t> known_{0};
  std::mutex mutex_;  // of what follows
  Tallies accounts_;
  Tallies contents_;
  std::vector<Mark> marks_;
  std::map<std::uint64_t, std::string> names_;
  std::vector<std::string> news_;
};

}  // namespace troupe::inline v0
