// What went wrong, as a value: a kind that programs branch on, a sentence for people, and where it came from.
// Errors are copied to every caller they concern, so the text is shared and immutable: copying one is cheap, and
// an error without details costs no allocation at all.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What went wrong, for programs to branch on.
enum class ErrorKind : std::uint8_t {
  invalid_argument,   // the caller asked for something impossible; nothing was started
  out_of_memory,      // a limit or the machine's memory is exhausted
  unsupported,        // a missing component, type or feature; the message names it
  library_error,      // a library answered with an error that leaves its context usable
  buffer_stale,       // the memory belongs to something that no longer exists
  buffer_tainted,     // the content is unknown because an op that writes it was cut off
  context_poisoned,   // the accelerator context died under this op
  worker_crashed,     // the worker process died under this op
  deadline_exceeded,  // the op passed its deadline and was stopped
  device_lost,        // the device was given up after too many failures
  queue_full,         // the device's queue is at its limit
  mailbox_full,       // the actor's mailbox is at its limit
  timeout,            // the asker waited as long as it said it would
  cancelled,          // the asker changed its mind
  stopped,            // the actor or the system stopped before it answered
  restarted,          // the actor was restarted while it worked on this message
  internal,           // Troupe itself is wrong
  numerical_error,    // the numbers do not allow it: a singular matrix, no convergence; the message says where
  over_budget,        // the caller, or the op itself, has cost too many workers; the message says for how long
  handler_threw,      // an actor's handler threw; the message has the actor, the message and the exception
};

/// How many kinds of errors there are.
inline constexpr int kErrorKinds = 20;

/// The name of a kind of error, spelled as its enumerator.
std::string_view name(ErrorKind kind) noexcept;

/// Where an error came from. Empty or negative fields are unknown or do not apply.
struct ErrorOrigin {
  std::string library = {};      // "cublas", "actor", ...
  std::int64_t native_code = 0;  // the library's own code; 0 when there is none
  std::string op = {};           // the op or message under way
  int device = -1;               // its number
  std::int64_t generation = -1;  // of the device's workers
};

/// What went wrong, as a value: a kind for programs, a sentence for people, and where it came from.
class [[nodiscard]] Error {
 public:
  /// An error with its kind's default sentence. Never allocates.
  explicit Error(ErrorKind kind) noexcept : kind_(kind) {}
  Error(ErrorKind kind, std::string message) : Error(kind, std::move(message), ErrorOrigin{}) {}
  Error(ErrorKind kind, std::string message, ErrorOrigin origin);

  ErrorKind kind() const noexcept { return kind_; }
  /// A sentence for people; the kind's default sentence when none was given.
  std::string_view message() const noexcept;
  /// Where it came from; all fields are empty when nobody said.
  const ErrorOrigin& origin() const noexcept;

  /// Kind, sentence and origin in one line, for logs. Where the message has more lines, such as a backtrace, they
  /// follow.
  std::string to_string() const;

 private:
  struct Details {
    std::string message;
    ErrorOrigin origin;
  };

  ErrorKind kind_;
  std::shared_ptr<const Details> details_;  // shared: one error may end many asks
};

/// What `value()` throws, for those who prefer exceptions. Throwing it from a handler fails the actor with that error.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.to_string()), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

namespace detail {

/// The error that the exception in flight stands for: the one an `Exception` carries, `out_of_memory` for
/// `std::bad_alloc`, else `internal` with `what()`; also for exceptions that are no `std::exception`.
/// Call it inside a `catch` block.
Error current_exception_as_error() noexcept;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
