// Moving and setting memory on the CPU: the ops of troupe/op/memory.hpp. The app and the worker have checked an op
// before it comes here; what could corrupt memory is checked once more and answers `invalid_argument`. Callable from
// any thread, one call at a time per output; views without elements are left alone. A team helps with large ones.
#pragma once

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/view.hpp"

namespace troupe::host {

/// Every element of `out` becomes `value`, converted to its type.
Result<void> fill(const HostView& out, const op::Scalar& value, Team& team = Team::of_one());

/// `out` becomes `in`: one shape and type, any strides (0 repeats an element of `in`), no overlap. Bytes are copied, so
/// a bool that is neither 0 nor 1 stays what it is.
Result<void> copy(const HostView& in, const HostView& out, Team& team = Team::of_one());

/// `out` becomes `in`, converted by the rules of `convert`: one shape, any types and strides, no overlap.
Result<void> cast(const HostView& in, const HostView& out, Team& team = Team::of_one());

}  // namespace troupe::host
