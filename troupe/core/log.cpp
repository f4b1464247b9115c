#include "troupe/core/log.hpp"

#include <cstdio>
#include <new>
#include <string>

namespace troupe::inline v0 {

std::string_view name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "unknown";
}

LogSink log_to_stderr(LogLevel least) {
  return [least](const LogRecord& record) {
    if (record.level < least) return;
    // One call per line, so that lines of several threads do not mix.
    try {
      std::string line = "troupe ";
      line.append(name(record.level))
          .append(" ")
          .append(record.source)
          .append(": ")
          .append(record.message)
          .append("\n");
      std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (const std::bad_alloc&) {  // in pieces, then
      std::fwrite(record.message.data(), 1, record.message.size(), stderr);
      std::fputc('\n', stderr);
    }
  };
}

LogSink log_nothing() {
  return [](const LogRecord&) {};
}

}  // namespace troupe::inline v0
