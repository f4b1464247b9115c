// The number of an activation, when a call leaves it out: ops always carry one, so that a rerun needs to know no
// defaults.
#pragma once

#include <optional>

#include "troupe/core/dnn_kinds.hpp"

namespace troupe::inline v0::detail {

constexpr double alpha_of(DnnActivation function, std::optional<double> given) noexcept {
  if (given) return *given;
  if (function == DnnActivation::leaky_relu) return 0.01;
  return function == DnnActivation::elu ? 1.0 : 0.0;
}

}  // namespace troupe::inline v0::detail
