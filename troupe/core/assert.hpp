// The assert that stays on. A broken invariant inside Troupe ends the process at the line that noticed it, in release
// builds too: a service that goes on with a broken invariant answers garbage. Bad input from a user is never an
// assert, it is an `Error`.
#pragma once

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// Prints the condition, the sentence and the place to standard error, and aborts.
[[noreturn]] void assert_failed(const char* condition, const char* sentence, const char* file, int line) noexcept;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop

/// `TROUPE_ASSERT(head != nullptr, "a queue always has a head")`: the sentence says what must hold, not what went
/// wrong.
#define TROUPE_ASSERT(condition, sentence)                                       \
  do {                                                                           \
    if (!(condition)) [[unlikely]]                                               \
      ::troupe::detail::assert_failed(#condition, sentence, __FILE__, __LINE__); \
  } while (false)
