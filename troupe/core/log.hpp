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

namespace troupe::inline v0 {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

std::string_view name(LogLevel level) noexcept;

struct LogRecord {
  LogLevel level;
  TimePoint time;
  std::string_view source;   // an actor's path, or the part that speaks: "pool", "worker-3"
  std::string_view message;  // one sentence, without a line end
};

/// Called from any thread, several at once. Must not throw; must not call back into what it logs for.
using LogSink = std::function<void(const LogRecord&)>;

/// Writes records of at least `least` to standard error, one line each.
LogSink log_to_stderr(LogLevel least = LogLevel::warning);

/// Drops everything.
LogSink log_nothing();

}  // namespace troupe::inline v0
