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
#include <type_traits>

#include "troupe/core/error.hpp"

namespace troupe::inline v0::wire {

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

/// For the app, after the reap: that error, if the worker left one.
std::optional<Error> read_last_error(const LastWords& words);

/// For the app, after the reap: "SIGSEGV at address 0x0 in memory.fill (lane 1, ticket 7); backtrace: ...", in
/// printable ASCII whatever is in there. Empty when the worker left none.
std::string read_last_words(const LastWords& words);

}  // namespace troupe::inline v0::wire
