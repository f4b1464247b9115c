// From what a call says about the axes of space to what its op carries: one number for all axes becomes one for each,
// and what is left out becomes what it stands for.
#pragma once

#include <string_view>

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::inline v0::detail {

/// For `space` axes; `invalid_argument` when there are other numbers than one, or one for each.
Result<op::SpaceNumbers> along(std::string_view call, std::string_view name, const AlongSpace& numbers, int space,
                               std::int64_t beyond);

/// The steps of a window over `space` axes.
struct WindowSteps {
  AlongSpace stride;
  AlongSpace padding;
  AlongSpace padding_after;
  AlongSpace dilation;
};
Result<op::DnnWindow> window_of(std::string_view call, const WindowSteps& steps, int space);

/// Axes of space of an array, as far as there can be any.
inline int space_of(const AnyArray& array) noexcept { return std::clamp(array.rank() - 2, 0, op::kMaxSpace); }

}  // namespace troupe::inline v0::detail
