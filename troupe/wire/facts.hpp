// What a worker finds on its machine, for `troupe doctor`: only workers open a driver or a library, so the doctor asks
// one. Each fact is a line with tabs between its fields, printed at once: when a worker hangs or dies, the facts before
// that are known, and so is what it was looking at.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"
#include "troupe/wire/found_library.hpp"

namespace troupe::inline v0::wire {

struct GpuFacts {
  std::string uuid;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::string capability;  // "9.0"
  bool can_export_memory = false;
  bool is_exclusive = false;
  bool operator==(const GpuFacts&) const = default;
};

struct Facts {
  std::vector<std::string> backends;  // those that the worker was built with
  FoundLibrary blas;
  std::vector<FoundLibrary> other_blas;  // those that are not used; the `problem` of one that is there says why
  FoundLibrary lapack;
  std::string cpu_threads;  // how many the host's ops share
  FoundLibrary sleef;
  FoundLibrary driver;  // its `problem` says why it does not start
  std::vector<GpuFacts> gpus;
  std::vector<FoundLibrary> libraries;
  std::string looking_at;  // the last thing it set out to look at
  bool complete = false;   // it came to its end
};

/// Reads what was printed, even when it was cut off. Skips lines of an unknown kind; `invalid_argument` for a line of a
/// known kind that cannot be read.
Result<Facts> parse_facts(std::string_view text);

/// The kinds of lines: the first word of each.
namespace fact {
inline constexpr std::string_view kBackend = "backend", kLooking = "looking", kBlas = "blas", kOtherBlas = "other_blas",
                                  kLapack = "lapack", kCpuThreads = "cpu_threads", kSleef = "sleef", kDriver = "driver",
                                  kGpu = "gpu", kLibrary = "library", kEnd = "end";
}  // namespace fact

/// One line, with its end. A tab or an end of line inside a field becomes a space.
std::string fact_line(std::string_view kind, std::initializer_list<std::string_view> fields);
std::string line_of(std::string_view kind, const FoundLibrary& library);
std::string line_of(const GpuFacts& gpu);

}  // namespace troupe::inline v0::wire
