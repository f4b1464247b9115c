// What a worker finds out for `troupe doctor`: only workers open a driver or a library. wire/facts.hpp has the format
// of its lines.
#pragma once

#include <cstdio>

namespace troupe::worker {

/// Finds out, and prints. Takes seconds, or for ever where a driver hangs; the process should end afterwards.
void print_facts(std::FILE* out);

}  // namespace troupe::worker
