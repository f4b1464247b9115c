// What a dying worker leaves behind: the signal, the address, the op that the thread was running, and a backtrace. It
// stands in memory shared with the app, which still has it when the worker is gone. Without it the app would know only
// an exit status.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

/// Lives in memory shared by app and worker; the app makes it, empty. Its fields are plain: read them when the process
/// has been reaped, and trust none of them, because what killed the worker may have written here too.
struct LastWords {
  enum State : std::uint32_t { none = 0, being_written = 1, complete = 2 };
  static constexpr std::size_t kOpBytes = 128;
  static constexpr std::size_t kTextBytes = 3928;

  std::atomic<std::uint32_t> state{none};
  std::uint32_t signal = 0;    // 0 when it called exit()
  std::int32_t exit_code = 0;  // the native code when it ended itself because of an error
  std::uint32_t has_address = 0;
  std::uint64_t fault_address = 0;
  std::uint32_t has_op = 0;
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  std::uint32_t error_kind_plus_one = 0;  // 0 when it crashed; otherwise it ended itself, and `text` says why
  char op[kOpBytes] = {};
  char text[kTextBytes] = {};  // the backtrace, innermost frame first; see backtrace.hpp
};
static_assert(sizeof(LastWords) == 4096 && std::is_standard_layout_v<LastWords> &&
              std::is_trivially_destructible_v<LastWords> && std::atomic<std::uint32_t>::is_always_lock_free);

/// For the app, after the reap: the error because of which the worker ended itself, if it did.
std::optional<Error> read_last_error(const LastWords& words);

/// For the app, after the reap: "SIGSEGV at address 0x0 in memory.fill (lane 1, ticket 7)", and a line below it for
/// each frame of the backtrace; always in printable ASCII. Empty when the worker left none.
std::string read_last_words(const LastWords& words);

/// Which op a crash happened in, as the worker says.
struct NamedOp {
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  bool operator==(const NamedOp&) const = default;
};
/// For the app, after the reap. It is a hint, and decides nothing but words.
std::optional<NamedOp> read_named_op(const LastWords& words);

}  // namespace troupe::inline v0::wire
