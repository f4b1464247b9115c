// Guard mode, on the app's side: which fences an op must leave whole, and the app's own look at those that it can see.
// A worker compares them, too, and is the only one who can where memory is the accelerator's own.
#pragma once

#include <functional>
#include <optional>

#include "troupe/device/op_call.hpp"
#include "troupe/wire/ring.hpp"

namespace troupe::inline v0 {

/// How many bytes the op's record has, with what it says about fences; never less than `commit_guarded` writes.
std::size_t guarded_bytes(const detail::OpCall& call) noexcept;
/// Writes that record into a slot for `guarded_bytes`. Sealed arrays have no fences: nothing in a worker can write
/// there.
void commit_guarded(wire::Ring& ring, const wire::RingSlot& slot, const detail::OpCall& call,
                    wire::RecordTraits traits) noexcept;
/// What an op that has ended, and was the only one under way, has written outside its arrays, as far as the app can
/// see. None for an op that has not begun, and for one whose worker says it already. `stopped` when `is_over` and there
/// is no memory to look: nobody knows it then.
std::optional<Error> overrun_by(const detail::OpCall& call, const Result<void>& end,
                                const std::function<bool()>& is_over) noexcept;

}  // namespace troupe::inline v0
