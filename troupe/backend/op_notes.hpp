// The op that this thread is running, for its last words. It is noted before an op begins and after it has ended, with
// a few plain stores to the thread's own memory, where a signal handler can read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe::backend {

inline constexpr std::size_t kNoteBytes = 128;

/// Notes the op that the calling thread runs. Keeps a copy of the first 127 bytes of the name, followed, when there is
/// a detail, by a space and the detail.
void at_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name, std::string_view detail = {}) noexcept;
/// The same for a name that lives for ever, such as an op's `kName`: a few stores.
void at_static_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name) noexcept;
void at_no_op() noexcept;

struct OpNoted {
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  std::string_view name;
};
/// The op that the calling thread runs; false when none. Safe inside a signal handler.
bool op_noted(OpNoted& noted) noexcept;

}  // namespace troupe::backend
