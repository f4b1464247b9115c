#include "troupe/wire/last_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>

#include "troupe/wire/backtrace.hpp"

namespace troupe::inline v0::wire {
namespace {

std::string signal_name(std::uint32_t signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGSYS: return "SIGSYS";
    default: return "signal " + std::to_string(signal);
  }
}

/// The text up to its zero byte, or the whole array when there is none.
template <std::size_t size>
std::string printable(const char (&place)[size]) {
  std::array<char, size> copy;
  std::memcpy(copy.data(), place, size);
  std::string text(copy.begin(), std::find(copy.begin(), copy.end(), '\0'));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

std::optional<Error> read_last_error(const LastWords& words) {
  const std::uint32_t kind = words.error_kind_plus_one;
  if (words.state.load() != LastWords::complete || kind == 0 || kind > kErrorKinds) return std::nullopt;
  return Error(static_cast<ErrorKind>(kind - 1), printable(words.text), ErrorOrigin{.native_code = words.exit_code});
}

std::optional<NamedOp> read_named_op(const LastWords& words) {
  if (words.state.load() != LastWords::complete || words.error_kind_plus_one != 0 || words.has_op == 0)
    return std::nullopt;
  return NamedOp{.lane = words.lane, .ticket = words.ticket};
}

std::string read_last_words(const LastWords& words) {
  const std::uint32_t state = words.state.load();
  if (state == LastWords::none) return {};
  const std::uint32_t signal = words.signal;
  std::string sentence;
  if (signal == 0) {
    sentence = "exit(" + std::to_string(words.exit_code) + ") called";
  } else {
    sentence = signal_name(signal);
    if (words.has_address != 0) {
      std::array<char, 16> digits = {};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), words.fault_address, 16).ptr;
      sentence += " at address 0x" + std::string(digits.data(), end);
    }
  }
  if (words.has_op != 0) {
    sentence += " in " + printable(words.op) + " (lane " + std::to_string(words.lane) + ", ticket " +
                std::to_string(words.ticket) + ")";
  } else {
    sentence += " outside of any op";
  }
  const std::string backtrace = printable(words.text);
  if (state == LastWords::being_written) sentence += "; it died before it had said all";
  if (!backtrace.empty()) sentence += readable_backtrace(backtrace);
  return sentence;
}

}  // namespace troupe::inline v0::wire
