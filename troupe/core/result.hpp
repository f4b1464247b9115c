// `Result<T>` is a value or an `Error`. Functions that can fail return it; nothing in Troupe throws except `value()`.
//
//   Result<int> parse(std::string_view text);
//   Result<int> twice(std::string_view text) { return 2 * TROUPE_TRY(parse(text)); }         // in a function
//   Task<Result<int>> later(Ref<Parser> p) { co_return 2 * CO_TRY(co_await p.ask<Parse>()); }  // in a coroutine
//
// `CO_TRY` is declared beside `Task` (troupe/actor/task.hpp).
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// What went wrong, as a value: a kind that programs branch on, a sentence for people, and where it came from.
// Errors are copied to every caller they concern, so the text is shared and immutable: copying one is cheap, and
// an error without details costs no allocation at all.

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What went wrong, for programs to branch on.
enum class ErrorKind : std::uint8_t {
  invalid_argument,   // the caller asked for something impossible; nothing was started
  out_of_memory,      // a limit or the machine's memory is exhausted
  unsupported,        // a missing component, type or feature; the message names it
  library_error,      // a library answered with an error that leaves its context usable
  buffer_stale,       // the memory belongs to something that no longer exists
  buffer_tainted,     // the content is unknown: an op that writes it failed or was cut off; the message says which
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
  /// The line of the program that submitted the op; line 0 when it is unknown.
  std::source_location where = {};
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

  /// The same error, with the place in the program if none is known.
  Error at(const std::source_location& where) const noexcept;

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

/// "service.cpp:42": without folders, which differ from machine to machine.
std::string place_of(const std::source_location& where);

/// The error that the exception in flight stands for: the one an `Exception` carries, `out_of_memory` for
/// `std::bad_alloc`, else `internal` with `what()`; also for exceptions that are no `std::exception`.
/// Call it inside a `catch` block.
Error current_exception_as_error() noexcept;

}  // namespace detail

/// A value, or an error in its place.
template <class T>
using Result = std::expected<T, Error>;

/// What a function that returns a `Result` returns when it fails.
using Unexpected = std::unexpected<Error>;

/// Makes the error to return: `return fail(ErrorKind::timeout, "no answer within 5 ms");`
inline Unexpected fail(ErrorKind kind) { return Unexpected(Error(kind)); }
inline Unexpected fail(ErrorKind kind, std::string message) { return Unexpected(Error(kind, std::move(message))); }
inline Unexpected fail(Error error) { return Unexpected(std::move(error)); }

/// The value, or a thrown `Exception` with the error. For tests, mains and those who prefer exceptions.
template <class T>
T value(Result<T> result) {
  if (!result) throw Exception(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

namespace detail {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<std::expected<T, Error>> = true;

/// `Result<T>` for a plain `T`; a `Result` stays as it is. So nobody ever sees a result of a result.
template <class T>
struct FlatResult {
  using type = Result<T>;
};
template <class T>
struct FlatResult<std::expected<T, Error>> {
  using type = Result<T>;
};
template <class T>
using flat_result_t = typename FlatResult<T>::type;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop

/// The value of a `Result`; an error is returned from the enclosing function. Uses may be nested: each has a variable
/// with a number of its own.
#define TROUPE_TRY(...) TROUPE_TRY_EXPAND(__COUNTER__, __VA_ARGS__)
#define TROUPE_TRY_EXPAND(number, ...) TROUPE_TRY_NUMBERED(number, __VA_ARGS__)
#define TROUPE_TRY_NUMBERED(number, ...) TROUPE_TRY_NAMED(troupe_result_##number, __VA_ARGS__)
#define TROUPE_TRY_NAMED(result, ...)                              \
  (__extension__({                                                 \
    auto result = (__VA_ARGS__);                                   \
    if (!result) return ::troupe::fail(std::move(result).error()); \
    std::move(result);                                             \
  })).value()
