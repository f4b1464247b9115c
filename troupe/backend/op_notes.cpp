#include "troupe/backend/op_notes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace troupe::backend {
namespace {

struct Note {
  std::atomic<bool> at_op{false};  // the rest holds while this does
  std::uint32_t lane = 0;
  std::uint32_t ticket = 0;
  const char* name = nullptr;
  std::size_t name_bytes = 0;
  char copy[kNoteBytes] = {};
};
constinit thread_local Note note;

/// Changes this thread's note so that a signal in between sees none. A handler runs on the thread itself: the compiler
/// must keep the order, the processor does anyway.
template <class Change>
void change_note(Change change) noexcept {
  note.at_op.store(false, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  change();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  note.at_op.store(true, std::memory_order_relaxed);
}

}  // namespace

void at_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name, std::string_view detail) noexcept {
  change_note([&] {
    std::size_t used = 0;
    for (const std::string_view part : {name, std::string_view(detail.empty() ? "" : " "), detail}) {
      const std::size_t size = std::min(part.size(), kNoteBytes - 1 - used);
      std::memcpy(note.copy + used, part.data(), size);
      used += size;
    }
    note.lane = lane;
    note.ticket = ticket;
    note.name = note.copy;
    note.name_bytes = used;
  });
}

void at_static_op(std::uint32_t lane, std::uint32_t ticket, std::string_view name) noexcept {
  change_note([&] {
    note.lane = lane;
    note.ticket = ticket;
    note.name = name.data();
    note.name_bytes = name.size();
  });
}

void at_no_op() noexcept { note.at_op.store(false, std::memory_order_relaxed); }

bool op_noted(OpNoted& noted) noexcept {
  if (!note.at_op.load(std::memory_order_relaxed)) return false;
  noted = {.lane = note.lane, .ticket = note.ticket, .name = {note.name, note.name_bytes}};
  return true;
}

}  // namespace troupe::backend
