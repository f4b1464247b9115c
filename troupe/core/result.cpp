#include "troupe/core/result.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace troupe::inline v0 {
namespace {

struct KindText {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array<KindText, kErrorKinds> kTexts{{
    {"invalid_argument", "an argument cannot be used"},
    {"out_of_memory", "no memory is left"},
    {"unsupported", "this is not supported here"},
    {"library_error", "a library reported an error"},
    {"buffer_stale", "the memory belongs to something that no longer exists"},
    {"buffer_tainted", "the content is unknown because an op that writes it failed or was cut off"},
    {"context_poisoned", "the accelerator context died"},
    {"worker_crashed", "the worker died"},
    {"deadline_exceeded", "the op passed its deadline"},
    {"device_lost", "the device was given up"},
    {"queue_full", "the queue is full"},
    {"mailbox_full", "the mailbox is full"},
    {"timeout", "no answer came in time"},
    {"cancelled", "the asker cancelled"},
    {"stopped", "it has stopped"},
    {"restarted", "the actor was restarted while it worked on this"},
    {"internal", "something is wrong inside"},
    {"numerical_error", "the numbers do not allow it"},
    {"over_budget", "it has cost too many workers"},
    {"handler_threw", "a handler threw"},
}};

const KindText& text(ErrorKind kind) noexcept { return kTexts[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name(ErrorKind kind) noexcept { return text(kind).name; }

Error::Error(ErrorKind kind, std::string message, ErrorOrigin origin)
    : kind_(kind), details_(std::make_shared<const Details>(Details{std::move(message), std::move(origin)})) {}

std::string_view Error::message() const noexcept {
  return details_ && !details_->message.empty() ? std::string_view(details_->message) : text(kind_).sentence;
}

const ErrorOrigin& Error::origin() const noexcept {
  static const ErrorOrigin kUnknown;
  return details_ ? details_->origin : kUnknown;
}

std::string Error::to_string() const {
  std::string line(name(kind_));
  line += ": ";
  line += message();
  const ErrorOrigin& from = origin();
  std::string details;
  const auto add = [&](std::string_view label, std::string_view what) {
    if (!details.empty()) details += ", ";
    details += label;
    details += what;
  };
  if (!from.library.empty()) add("library ", from.library);
  if (from.native_code != 0) add("code ", std::to_string(from.native_code));
  if (!from.op.empty()) add("op ", from.op);
  if (from.device >= 0) add("device ", std::to_string(from.device));
  if (from.generation >= 0) add("generation ", std::to_string(from.generation));
  if (from.where.line() != 0) add("at ", detail::place_of(from.where));
  // Below the first line there may be more, such as a backtrace.
  if (!details.empty()) line.insert(std::min(line.find('\n'), line.size()), " [" + details + "]");
  return line;
}

Error Error::at(const std::source_location& where) const noexcept {
  if (where.line() == 0 || origin().where.line() != 0) return *this;
  try {
    ErrorOrigin with_place = origin();
    with_place.where = where;
    return Error(kind_, details_ ? details_->message : std::string(), std::move(with_place));
  } catch (const std::bad_alloc&) {
    return *this;
  }
}

namespace detail {

std::string place_of(const std::source_location& where) {
  const std::string_view path = where.file_name();
  return std::string(path.substr(path.find_last_of('/') + 1)) + ":" + std::to_string(where.line());
}

Error current_exception_as_error() noexcept {
  try {
    try {
      throw;
    } catch (const Exception& exception) {
      return exception.error();
    } catch (const std::bad_alloc&) {
      return Error(ErrorKind::out_of_memory);
    } catch (const std::exception& exception) {
      return Error(ErrorKind::internal, exception.what());
    } catch (...) {
      return Error(ErrorKind::internal, "an exception that is not a std::exception");
    }
  } catch (...) {  // no memory left for the sentence
    return Error(ErrorKind::out_of_memory);
  }
}

}  // namespace detail

}  // namespace troupe::inline v0
