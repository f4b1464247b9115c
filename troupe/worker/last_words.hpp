// What a dying worker leaves behind: the signal, the address, the op that the thread was at, and a backtrace, written
// into memory that the app shares and so still has when the worker is gone. Without it all the app would know is an
// exit status. The essentials are written first and with nothing that could fail; the backtrace is an attempt, bounded
// by an alarm. Whatever happens, the process ends, and with the signal that it crashed with.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "troupe/core/error.hpp"

namespace troupe::worker {

/// Lives in memory shared by app and worker; the app makes it, empty. The worker's fields are plain: read them when the
/// process has been reaped, and trust none of them, because what killed the worker may have written here too.
struct LastWords {
  enum State : std::uint32_t { none = 0, being_written = 1, complete = 2 };
  static constexpr std::size_t kOpBytes = 128;
  static constexpr std::size_t kTextBytes = 3928;

  std::atomic<std::uint32_t> state{none};
  std::uint32_t signal = 0;    // 0 when it called exit()
  std::int32_t exit_code = 0;  // or, when it ended itself, the native code
  std::uint32_t has_address = 0;
  std::uint64_t fault_address = 0;
  std::uint32_t has_op = 0;
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  std::uint32_t error_kind_plus_one = 0;  // 0 when it crashed; else it ended itself, and `text` says why
  char op[kOpBytes] = {};
  char text[kTextBytes] = {};  // the backtrace, innermost frame first
};
static_assert(sizeof(LastWords) == 4096 && std::is_standard_layout_v<LastWords> &&
              std::is_trivially_destructible_v<LastWords> && std::atomic<std::uint32_t>::is_always_lock_free);

/// From now on a crash of this process leaves its last words in `words`, which must stay mapped for ever. Gives the
/// calling thread an alternate stack. Not in effect for processes that this one forks. Call it before there are
/// threads.
void install_last_words(LastWords& words);

/// An `exit()` by a thread that is at an op leaves last words too, and ends the process at once, with the same code:
/// other threads are at work on what static destructors would destroy. Needs `install_last_words`. The C library runs
/// first what was registered last, so code that is loaded later may get in before: call it again after loading any.
void install_exit_words();

/// Gives the calling thread a stack for signal handlers until it ends, so that it can report even the overflow of its
/// own. A thread that has one (a sanitizer's, say) keeps that. Without memory for it the thread goes without.
void use_alternate_stack() noexcept;

/// Ends this process because of an error that nothing in it can cure, and leaves the error behind.
[[noreturn]] void die_with_words(const Error& why) noexcept;
/// For the app, after the reap: that error, if the worker left one.
std::optional<Error> read_last_error(const LastWords& words);

/// For the app, after the reap: "SIGSEGV at address 0x0 in memory.fill (lane 1, ticket 7); backtrace: ...", in
/// printable ASCII whatever is in there. Empty when the worker left none.
std::string read_last_words(const LastWords& words);

}  // namespace troupe::worker
