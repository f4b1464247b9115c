// Transforms of all lines of an array along one axis, by a team. Lines are brought into planes, one or several at a
// time, transformed there, and written where they belong.
#pragma once

#include "troupe/backend/host/fft/fft_plans.hpp"
#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/team/team.hpp"

namespace troupe::host {

/// What a line is before and after.
enum class FftLine : std::uint8_t {
  complex,    // complex numbers, both
  to_half,    // real numbers become half a spectrum
  from_half,  // and back
};

struct FftPass {
  HostView in;
  HostView out;  // may be `in` where both are complex
  int axis = 0;
  FftLine line = FftLine::complex;
  bool is_inverse = false;
  double factor = 1;

  /// How many numbers are transformed.
  std::int64_t length() const noexcept { return (line == FftLine::to_half ? in : out).shape[axis]; }
};

/// `out_of_memory` when there is no room for a line. Needs views without a length of 0 along the axis.
Result<void> transform_lines(const FftPass& pass, FftPlans& plans, Team& team);

}  // namespace troupe::host
