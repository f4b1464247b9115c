// What is known of the ops of a dead worker, from the last words of its lanes: which were done, which had begun, and
// which can be run again. `ghosts` are all that it had not been seen to end, in ring order.
#pragma once

#include <vector>

#include "troupe/device/op_call.hpp"
#include "troupe/device/session.hpp"

namespace troupe::inline v0 {

/// It began just when it was asked back (`WorkerSession::withdraw_unbegun`), so its worker let it be.
bool was_let_be(const detail::OpCall& call) noexcept;
/// Which of a dead worker's ops, in ring order, are done, but have read what an op was to write that is not: that one
/// may have failed, and nobody knows, or it was let be and will run again. So whatever came of them is unknown.
std::vector<bool> who_is_in_doubt(const std::vector<detail::OpCall*>& ghosts);
/// Which of a dead worker's ops, in ring order, may have begun. An op that had to wait for one that had not begun, or
/// was behind it in its lane, had not begun either, so a suspect never depends on an op that is not one. Where the last
/// word of a lane cannot be true, every op that had begun there may be done.
std::vector<bool> who_had_begun(const std::vector<detail::OpCall*>& ghosts, const std::vector<bool>& in_doubt,
                                const WorkerSession& session);
/// Which of a dead worker's ops that may have begun, in ring order, cannot be run again. Usually those that work in
/// place. Where nobody knows whether an op was done, or what came of it, a later one may have run, too. The earlier op
/// is lost if the later one has written what it would read again, or if it would overwrite what the later one has left,
/// whole or unknown.
std::vector<bool> who_is_lost(const std::vector<detail::OpCall*>& ghosts, const std::vector<bool>& in_doubt,
                              const std::vector<bool>& had_begun, const WorkerSession& session);

}  // namespace troupe::inline v0
