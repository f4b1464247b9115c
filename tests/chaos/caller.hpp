// An innocent caller: does the steps of its plan on arrays of its own, and knows at every moment what must be in them.
// It says which op comes next and judges how it ended; who waits for the op, a coroutine or a thread, is not its
// business (see run.hpp).
//
// What it must never see: an op of its own that fails for what others did, unless the op works in place and was cut
// off while it ran. Then the array is tainted, and the caller writes it anew and goes on.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/chaos/scene.hpp"

namespace troupe::chaos {

/// An array and what must be in it.
struct Slot {
  enum class State : std::uint8_t {
    good,
    doubtful,  // an op in place was submitted, and nobody has waited for its end
    broken,    // it was cut off
  };
  AnyArray array;
  std::vector<float> expected = {};
  double bound = 0;  // no number is larger, so that all stay integers
  State state = State::broken;
  bool reads_as_tainted = false;  // it must
  /// How many shortages were past when the first op began that its content comes from. An op that nobody waits for and
  /// that found no memory has left it as it was, and it says so when it is read.
  std::uint64_t past_shortages = 0;
};

struct Job {
  enum class How : std::uint8_t { submit, wait, read };
  Step step;
  How how = How::wait;
  Duration patience = kPatience;
  bool is_repair = false;      // of an array that was cut off
  bool expects_taint = false;  // and before that: reading it must fail
  bool reads_good = true;      // nothing that it reads may have been cut off
  const Slot* kept = nullptr;  // what is read, if not `step.from`
};

class Caller {
 public:
  Caller(Scene& scene, std::uint32_t number);

  /// The next op; none when the run has ended and all arrays were checked once more.
  std::optional<Job> next();
  /// The op of a job, for `How::wait` and `How::submit`.
  Call<void> call(const Job& job);
  void submit(const Job& job);
  /// The op of a job for `How::read`.
  Call<HostArray<float>> read_call(const Job& job);

  // How it ended. Exactly once for each job that somebody waits for.
  void ended(const Job& job, const Result<void>& result);
  void ended(const Job& job, const Result<HostArray<float>>& result);

  /// For whoever wonders why nothing moves.
  std::string where() const;

 private:
  Call<void> call_own_code(const Step& step) const;
  Call<void> convolve(const AnyArray& from, const AnyArray& to) const;
  const Slot& slot(int index) const;
  Slot& own(int index) { return slots_[static_cast<std::size_t>(index)]; }
  std::optional<Job> next_check();
  Job repair(int index);
  Job as_job(Step step);
  Job prepared(Job job);
  /// False when there is no memory, and the array is the one that it was.
  bool renew(Slot& renewed);

  // What an op does to what must be in the arrays.
  void foresee(const Step& step);
  double bound_after(const Step& step) const;
  bool reads_only_good(const Step& step) const;

  void answered(const Job& job);
  void explain(const Job& job, const Error& error);
  bool is_starved(const Error& error) const noexcept;
  bool read_what_starved(const Job& job, const Error& error) const noexcept;
  void check_host_arrays(const Job& job);
  /// Remembers what was done last, to be told when an array is wrong.
  void remember(const Job& job, const std::string& what);
  void complain(Complaint complaint, const Job& job, const std::string& details);

  Scene& scene_;
  const std::uint32_t number_;
  const std::uint32_t edge_;
  const Matrices& shared_;
  std::vector<Slot> slots_;       // own arrays, then the shared ones
  std::vector<Slot> kept_;        // put aside
  std::size_t next_kept_ = 0;     // to be checked, or to be replaced
  HostArray<float> host_in_;      // what is read lands here
  HostArray<float> host_out_;     // what is written starts here
  HostArray<double> host_total_;  // a plugin's sum
  AnyArray throwaway_;
  std::deque<std::string> history_;
  std::uint64_t step_ = 0;
  std::optional<Step> pending_;  // waits for a repair
  std::optional<int> final_check_;
  std::uint64_t past_shortages_ = 0;  // when the op under way began
  std::atomic<int> waits_{0};
  std::atomic<Deed> doing_{Deed::nop};
};

}  // namespace troupe::chaos
