// A device about to lose its worker, on the host or on a GPU, and the ops that cost it: one that faults, one that never
// ends. Open it, let everything run once that the measurement needs, and wait until the workers are at rest. Needs to
// be the only device of this process: its workers are counted. What goes otherwise than it should is thrown.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "troupe/core/park.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench::ours {

using Clock = std::chrono::steady_clock;

inline constexpr auto kPatience = std::chrono::seconds(20);
inline constexpr auto kDeadline = std::chrono::milliseconds(50);

inline double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}
inline double ms_since(Clock::time_point begin) { return ms_between(begin, Clock::now()); }

template <class Done>
void spin_for(const char* what, const Done& done) {
  const auto until = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > until) throw std::runtime_error(std::string("no end of waiting until ") + what);
    relax_core();
  }
}

struct Doomed {
  /// On "host" or "cuda".
  explicit Doomed(const std::string& device_name, Standby with_standby = Standby::warm);
  ~Doomed() { device.close(); }
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;

  // Ops of one lane, of plugins on the host and of kernels on a GPU. Each has been loaded when `Doomed` is made.

  /// Writes to an address where nothing is.
  Call<void> fault(const ArrayUse& array) const;
  /// How it ends.
  ErrorKind fault_kind() const { return program ? ErrorKind::context_poisoned : ErrorKind::worker_crashed; }
  /// Never ends, and writes nothing.
  Call<void> hang() const;
  /// Ends well: `copied` becomes `untouched`.
  Call<void> copy() const;

  /// An op of another lane. It does not wait for ever, whatever is broken.
  void fill(const Array<float>& array) const { value(device.fill(array, 2.0F).wait_at_most(kPatience).get()); }

  /// Waits until every worker serves, or could, and nobody has anything left to do.
  void wait_until_all_rest() const;
  /// Waits until the first worker's successor serves.
  void wait_until_next_serves() const;

  const Standby standby;
  System system;
  Device device;
  std::optional<Program> program;  // of a GPU
  Array<float> untouched;          // by the ops of that lane
  Array<float> copied;
  Array<float> lost;              // for faults
  Array<std::int32_t> never_set;  // which a hung op waits for
};

/// Throws unless that is how it ended.
void expect_error(const Result<void>& end, ErrorKind kind);

}  // namespace troupe::bench::ours
