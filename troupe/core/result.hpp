// `Result<T>` is a value or an `Error`. Functions that can fail return it; nothing in Troupe throws except `value()`.
//
//   Result<int> parse(std::string_view text);
//   Result<int> twice(std::string_view text) { return 2 * TROUPE_TRY(parse(text)); }         // in a function
//   Task<Result<int>> later(Ref<Parser> p) { co_return 2 * CO_TRY(co_await p.ask<Parse>()); }  // in a coroutine
//
// `CO_TRY` is declared beside `Task` (troupe/actor/task.hpp).
#pragma once

#include <expected>
#include <type_traits>
#include <utility>

#include "troupe/core/error.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

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
