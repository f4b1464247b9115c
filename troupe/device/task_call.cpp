#include <new>

#include "troupe/core/without_memory.hpp"
#include "troupe/device/call.hpp"
#include "troupe/device/device_state.hpp"

namespace troupe::inline v0::detail {

SystemCore& system_of(DeviceState& device) noexcept { return device.system(); }

Error called_at(const Error& error, const std::source_location& where) noexcept {
  try {
    ErrorOrigin origin = error.origin();
    origin.where = where;
    return Error(error.kind(), std::string(error.message()), std::move(origin));
  } catch (const std::bad_alloc&) {
    return error;
  }
}

Error refused_get() noexcept {
  return describe(ErrorKind::invalid_argument,
                  [] { return "get() inside a handler would hold up its dispatcher: co_await the call instead"; });
}

}  // namespace troupe::inline v0::detail
