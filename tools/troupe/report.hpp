// The doctor's judgement: findings in, lines out, each with what to do where something is not as it should be. A pure
// function, so that the report of any machine can be tested on any other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/troupe/findings.hpp"

namespace troupe::tool {

enum class State : std::uint8_t {
  ok,
  note,     // works, and one may want to know
  missing,  // not there; programs do without it
  broken,   // programs, or all GPUs, do not work until something is done
};

std::string_view name(State state) noexcept;

struct Line {
  State state = State::ok;
  std::string thing;
  std::string found;
  std::string advice = {};  // a sentence or two; empty when there is nothing to do
};

struct Section {
  std::string title;
  std::vector<Line> lines;
};

struct Report {
  std::string version;
  std::vector<Section> sections;
  std::string conclusion;

  /// Nothing is broken: a GPU can be used, or there is none and the host device works.
  bool works() const noexcept;
};

Report judge(const Findings& findings);

}  // namespace troupe::tool
