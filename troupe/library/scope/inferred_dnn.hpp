// The shapes of what layers of networks make. The ops say themselves what is wrong with their inputs, in their own
// words: so these rules give a shape for every input, and the right one for a good input. Not for users.
#pragma once

#include "troupe/library/dnn/dnn.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// Of y.
Shape shape_of_convolution(const Shape& x, const Shape& w, const ConvolutionOptions& options);
/// Of y, the least there is, with `more` elements behind it: less than the stride.
Shape shape_of_transposed_convolution(const Shape& x, const Shape& w, const ConvolutionOptions& options,
                                      const AlongSpace& more);
/// Of y.
Shape shape_of_pool(const Shape& x, const AlongSpace& window, const PoolOptions& options);
/// x with other extents along the axes of space: of adaptive pools and interpolation.
Shape with_space(const Shape& x, const AlongSpace& extents);

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
