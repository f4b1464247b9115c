// What this thread is doing, for its last words: noted before an op begins and after it has ended, in a few plain
// stores to memory of the thread's own, where a signal handler can read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe::backend {

inline constexpr std::size_t kNoteBytes = 128;

/// Notes what the calling thread is at. Keeps a copy of the first 127 bytes of the name, followed, when there is a
/// detail, by a space and the detail.
void at_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name, std::string_view detail = {}) noexcept;
/// The same for a name that lives for ever, such as an op's `kName`: a few stores.
void at_static_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name) noexcept;
void at_no_op() noexcept;

struct OpNoted {
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  std::string_view name;
};
/// What the calling thread is at; false when nothing. Safe inside a signal handler.
bool op_noted(OpNoted& noted) noexcept;

}  // namespace troupe::backend
