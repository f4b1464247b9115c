// The seed for tests that draw random numbers: the same in every run, so that a failure can be reproduced, unless
// TROUPE_TEST_SEED sets another. A test prints its seed with a failure.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace troupe {

inline constexpr std::uint64_t kDefaultTestSeed = 20260101;

/// TROUPE_TEST_SEED, or the default. Throws when it is set to something that is not a number.
inline std::uint64_t test_seed() {
  const char* const text = std::getenv("TROUPE_TEST_SEED");  // NOLINT(concurrency-mt-unsafe): nobody sets it meanwhile
  if (text == nullptr || *text == '\0') return kDefaultTestSeed;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t seed = std::strtoull(text, &end, 10);
  if (*end != '\0' || errno != 0 || *text == '-')
    throw std::invalid_argument("TROUPE_TEST_SEED must be a number from 0 to 2^64 - 1, and is \"" + std::string(text) +
                                "\"");
  return seed;
}

}  // namespace troupe
