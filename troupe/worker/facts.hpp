// What a worker finds on its machine, for `troupe doctor`: only workers open a driver or a library, so one is asked. A
// line each, with tabs between its fields, printed as soon as it is known: from a worker that hangs or dies while it
// looks, everything up to there is known, and what it was looking at.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/backend/found_library.hpp"
#include "troupe/core/result.hpp"

namespace troupe::worker {

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
  std::vector<std::string> backends;  // those it was built with
  backend::FoundLibrary openblas;
  backend::FoundLibrary driver;  // its `problem` says why it does not start
  std::vector<GpuFacts> gpus;
  std::vector<backend::FoundLibrary> libraries;
  std::string looking_at;  // the last thing it set out to look at
  bool complete = false;   // it came to its end
};

/// Finds out, and prints. Takes seconds, or for ever where a driver hangs; the process should end afterwards.
void print_facts(std::FILE* out);

/// What was printed, also when it was cut off. Lines that it does not know are passed over; `invalid_argument` for one
/// that it knows and cannot read.
Result<Facts> parse_facts(std::string_view text);

/// The lines themselves, with their ends. A tab or an end of line inside a field becomes a space.
std::string line_of(std::string_view kind, const backend::FoundLibrary& library);
std::string line_of(const GpuFacts& gpu);

}  // namespace troupe::worker
