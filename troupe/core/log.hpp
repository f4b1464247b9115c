// Where Troupe's own sentences go. There is no global logger: whoever creates a `System` says where its log goes,
// and every part is handed the sink by its constructor.
//
//   SystemOptions options;
//   options.log = [](const LogRecord& record) { my_logger.write(record.message); };
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "troupe/core/clock.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// How much a sentence in the log matters.
enum class LogLevel : std::uint8_t { debug, info, warning, error };

/// The name of a level, spelled as its enumerator.
std::string_view name(LogLevel level) noexcept;

/// A sentence for the log, who said it, and when.
struct LogRecord {
  LogLevel level;            // how much it matters
  TimePoint time;            // when it was said
  std::string_view source;   // an actor's path, or the part that speaks: "pool", "worker-3"
  std::string_view message;  // one sentence, without a line end
};

/// A function that takes what is logged. Called from any thread, several at once. Must not throw; must not call back
/// into what it logs for.
using LogSink = std::function<void(const LogRecord&)>;

/// A sink that writes records of at least `least` to standard error, one line each.
LogSink log_to_stderr(LogLevel least = LogLevel::warning);

/// A sink that drops everything.
LogSink log_nothing();

}  // namespace troupe::inline v0
#pragma GCC visibility pop
