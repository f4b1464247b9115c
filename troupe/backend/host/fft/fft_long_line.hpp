// A line that no cache holds: a matrix in memory, of which a few columns at a time are transformed, by a team, and then
// a few rows. Those that have no stages become two such lines and a product.
#pragma once

#include "troupe/backend/host/fft/fft_move.hpp"
#include "troupe/backend/host/fft/fft_plan.hpp"
#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

/// Needs a plan of lines in parts. `out` may be `in`.
template <class T>
Result<void> transform_long_line(const Spread& in, const Spread& out, const FftPlan<T>& plan, bool is_inverse, T factor,
                                 Team& team);

}  // namespace troupe::host
