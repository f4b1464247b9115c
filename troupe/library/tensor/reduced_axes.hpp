// Where the results of a reduction go: the output with all axes of what is reduced, of which those that are reduced
// have an extent of 1. Only for the library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "troupe/library/tensor/tensor.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::detail {

/// The axes, each counted from the start; all of them when none are given. `invalid_argument` when `what`, of that
/// shape, has not these axes, or one is given twice.
Result<Axes> counted_axes(std::string_view call, const std::string& what, const Shape& shape,
                          const std::optional<Axes>& axes);

/// `what`, of that shape, is reduced along these axes, or along all. `invalid_argument` when it has not these axes, or
/// when `out` neither keeps them nor leaves them out.
Result<op::View> with_axes(std::string_view call, const std::string& what, const Shape& shape,
                           const std::optional<Axes>& axes, const AnyArray& out);

}  // namespace troupe::inline v0::detail
