// Does work whose result is known, and looks whether it is that: whatever happens to workers, an op that ends well has
// run, and an array that can be read holds what was put there.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "troupe/troupe.hpp"

namespace troupe::adversary {

/// What all callers have seen.
struct Findings {
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> values{0};  // results that were what they must be
  std::atomic<std::uint64_t> errors{0};  // typed ones
  std::atomic<std::uint64_t> wrong{0};

  /// Something that must not be; printed at once.
  void complain(const std::string& what);
  void count(ErrorKind kind);
  std::map<std::string, std::uint64_t> by_kind();

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> by_kind_;
};

class Caller {
 public:
  Caller(Device device, std::string plugin, std::uint64_t seed, Findings& findings);
  /// A few ops on its own arrays, in several lanes, and what must have come of them.
  void step();
  /// Nothing is changed any more: everything must work.
  void last_step();

 private:
  Result<void> copy_through_lanes(float number);
  void check_copies(float number);
  void check_failure();
  void check_update();
  /// What an array holds now, for a complaint.
  std::string first_of(const Array<float>& array) const;
  bool matches(const HostArray<float>& read, float number) const;

  const Device device_;
  const std::string plugin_;
  std::mt19937_64 random_;
  Findings& findings_;
  Array<float> first_, second_, third_, updated_;
  float next_ = 1;
  float updated_to_ = 0;  // what `updated_` holds, if it is known
  bool is_known_ = false;
};

}  // namespace troupe::adversary
