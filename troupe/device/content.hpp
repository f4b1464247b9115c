// What ops do to the content of blocks: which blocks become tainted, and which whole again. Called in ring order, which
// is program order, so that the answer is the same as if every op had waited for the one before.
#pragma once

#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

/// Whether an op that is about to enter the ring reads something unknown that will stay unknown, because nothing in a
/// ring writes it. Such an op must not run.
bool reads_what_stays_unknown(const detail::OpCall& call) noexcept;
/// How an op has ended: as its worker says, unless only the app can know. It is `buffer_tainted` if it read something
/// unknown.
Result<void> how_it_ended(detail::OpCall& call) noexcept;
/// The op has ended in `result`. What a failed op writes is tainted if the worker says that it had begun. It is skipped
/// if the op was held back because it reads something unknown, or failed before it began and nobody waits for it.
void settle_content(detail::OpCall& call, const Result<void>& result, bool had_begun) noexcept;
/// All but the sealed arrays of an op that was refused because of them.
void taint_what_it_writes(detail::OpCall& call, const Error& why) noexcept;
/// The op never began: what it would have written is as it was.
void skip_what_it_writes(detail::OpCall& call, const Error& why) noexcept;
/// `buffer_tainted`, with the array that the op reads and what has left it so.
Error reads_unknown(const detail::OpCall& call) noexcept;
/// Where it began: the error of the op that has left unknown what this one reads.
Error root_of(const detail::OpCall& call, const Error& its_own) noexcept;

}  // namespace troupe::inline v0
