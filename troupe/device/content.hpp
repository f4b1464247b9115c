// What ops do to the content of blocks: which blocks become tainted, and which good again. Called in ring order, which
// is program order, so that the answer is the same as if every op had waited for the one before.
#pragma once

#include "troupe/device/op_call.hpp"

namespace troupe {

/// An op is about to be submitted: tainted blocks that it writes whole are good for the ops after it.
void announce_rewrites(OpCall& call) noexcept;
/// It will not run after all.
void forget_rewrites(OpCall& call) noexcept;
/// An op has ended. One that ended well but read what is unknown has not ended well: `result` becomes `buffer_tainted`.
/// What a failed op writes is tainted, unless it never began (`cancelled`, `invalid_argument`).
void settle_content(OpCall& call, Result<void>& result) noexcept;
void taint_what_it_writes(OpCall& call) noexcept;

}  // namespace troupe
