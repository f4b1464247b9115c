// The samples of the dnn family's topics: each stands beside the topic's tests.
#pragma once

#include "troupe/op/samples.test.hpp"

namespace troupe::op {

void add_dnn_pointwise_samples(Samples& add);

}  // namespace troupe::op
