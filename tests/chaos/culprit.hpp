// A caller whose ops are bad. Each has an array of its own, and must fail, in the way it deserves; then its array is
// written anew and must hold what was written, now and later: a worker that was killed may not write any more.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "tests/chaos/scene.hpp"

namespace troupe::chaos {

/// Whether a bad op was begun before it ended.
enum class Ran : std::uint8_t { no, maybe, yes };

/// One bad op and its array.
struct Crime {
  Fault fault = {};
  Array<float> array = {};  // empty when it touches nothing
  int value = 0;            // what the array is filled with
  int tries = 0;
  Ran ran = Ran::no;                 // as far as is known of all its tries
  std::string ended_in = {};         // what is known of the last one
  std::uint64_t past_shortages = 0;  // when it began
};

/// An array that nobody touches any more.
struct Kept {
  Array<float> array;
  float value = 0;
  Complaint if_changed = Complaint::wrong_result;
};

/// Any number of crimes at a time, from any thread.
class Culprit {
 public:
  Culprit(Scene& scene, std::uint32_t number) noexcept : scene_(scene), number_(number) {}

  /// A crime is ordered; `over` ends what begins here.
  void expect() noexcept { ++under_way_; }

  // In this order; each op is awaited before the next is made.

  Crime begin(const Fault& fault);
  Call<void> call(Crime& crime);
  /// True when its deadline passed before it could do any harm: then once more.
  bool committed(Crime& crime, const Result<void>& result);
  /// What it read is as it was; what it wrote cannot be read.
  void read_after(const Crime& crime, const Result<HostArray<float>>& result);
  Call<void> rewrite(Crime& crime);
  void rewritten(const Crime& crime, const Result<void>& result);
  void read_again(const Crime& crime, const Result<HostArray<float>>& result);
  Call<HostArray<float>> read(const Crime& crime) { return read(crime.array); }
  /// One of the arrays that were put aside; the sealed one after a crime against it.
  std::optional<Kept> next_kept(const Crime& crime);
  Call<HostArray<float>> read(const Kept& kept) { return read(kept.array); }
  void check(const Crime& crime, const Kept& kept, const Result<HostArray<float>>& result);
  void over(const Crime& crime);

  /// How many crimes were ordered and are not over.
  int under_way() const noexcept { return under_way_.load(); }
  /// In the calling thread: all arrays that were put aside.
  void check_all_kept();

 private:
  Call<HostArray<float>> read(const Array<float>& array);
  bool is_deserved(const Fault& fault, const Error& error) const noexcept;
  bool is_starved(const Crime& crime, const Error& error) const noexcept;
  void complain(Complaint complaint, const Fault& fault, const std::string& details);
  void explain(const Crime& crime, const char* what, const Error& error);
  void compare(const Fault& fault, const HostArray<float>& found, float expected,
               Complaint if_wrong = Complaint::wrong_result);

  Scene& scene_;
  const std::uint32_t number_;
  std::atomic<int> under_way_{0};
  std::atomic<int> last_value_{0};
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

}  // namespace troupe::chaos
