// What ops do to the content of blocks: which blocks become tainted, and which good again. Called in ring order, which
// is program order, so that the answer is the same as if every op had waited for the one before.
#pragma once

#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

/// Whether an op whose turn it is to go into the ring reads what is unknown and will still be: nothing in a ring writes
/// it. Such an op must not run on what it would find there.
bool reads_what_stays_unknown(const detail::OpCall& call) noexcept;
/// An op has ended. One that ended well but read what is unknown has not ended well: `result` becomes `buffer_tainted`.
/// What a failed op writes is tainted if it had begun, by the worker's word, and skipped if it reads what is unknown
/// and was held back for that.
void settle_content(detail::OpCall& call, Result<void>& result, bool had_begun) noexcept;
/// Sealed arrays apart, for an op that was refused because of them.
void taint_what_it_writes(detail::OpCall& call) noexcept;
/// The op never began: what it would have written is as it was.
void skip_what_it_writes(detail::OpCall& call) noexcept;

}  // namespace troupe::inline v0
