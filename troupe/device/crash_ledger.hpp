// Who pays for the workers that died. A death whose culprit is known is charged to the culprit's account, which is its
// caller's, and to what it does. Past the budget both are refused at submission, for a time that grows. An op that was
// under way when a worker died, and could not be tried again to see whether it did it, runs alone the next time, where
// it can harm nobody; so does one that was convicted.
//
// Any thread. As long as there is nothing to remember, an op costs one look at one word.
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

/// Accounts, contents and names that are remembered, of each kind; the oldest are forgotten.
inline constexpr std::size_t kMaxLedgerEntries = 1024;
/// How often an op that was convicted must end well, alone, before it may run among others again.
inline constexpr int kCleanRunsAfterCrash = 8;

class CrashLedger {
 public:
  explicit CrashLedger(const CrashBudget& budget) noexcept : budget_(budget) {}

  /// The account of a name: the same one for the same name.
  std::uint64_t account_of(std::string_view name);
  /// The account of whoever submits without a name: of the actor whose turn it is, or of this thread.
  static std::uint64_t account_of_caller() noexcept;

  /// Whether the op has to be looked up at all.
  bool may_know(const detail::OpCall& call) const noexcept {
    const std::uint64_t known = known_.load(std::memory_order_relaxed);
    return known != 0 && (known & (bit_of(call.account) | bit_of(call.kind))) != 0;
  }
  /// Whether it must run alone; an error when it may not run at all.
  Result<bool> must_run_alone(const detail::OpCall& call, TimePoint now) noexcept;

  /// It was under way when a worker died, and nobody will know whether it did it.
  void suspect(const detail::OpCall& call, TimePoint now) noexcept;
  enum class Charged : std::uint8_t {
    account,              // a deadline was too short, or the op too long: what it does may be good with another one
    account_and_content,  // it crashed
  };
  void charge(const detail::OpCall& call, Charged what, const Error& why, TimePoint now) noexcept;
  /// It has run alone, and its worker lives.
  void acquit(const detail::OpCall& call) noexcept;
  /// A line for each that was refused since the last call.
  std::vector<std::string> take_news() noexcept;

 private:
  /// What one account has cost, or ops that do the same.
  struct Tally {
    op::Kind kind = 0;  // of a content
    int deaths = 0;     // in the window
    TimePoint window_began{};
    TimePoint last{};
    int refusals = 0;  // so far; the more there were, the longer is the next
    TimePoint refused_until{};
    std::string reason;  // of the last refusal
  };
  /// An op of an account that runs alone until it has ended well so often, or the time is over.
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
  /// A bit for the account or the kind of each op that has to be looked up.
  std::atomic<std::uint64_t> known_{0};
  std::mutex mutex_;  // of what follows
  Tallies accounts_;
  Tallies contents_;
  std::vector<Mark> marks_;
  std::map<std::uint64_t, std::string> names_;
  std::vector<std::string> news_;
};

}  // namespace troupe::inline v0
