// One good op of each kind of the dnn family, for the tests over all ops: each topic adds its own.
#include "troupe/op/dnn.hpp"

#include "troupe/op/dnn.test.hpp"

namespace troupe::op {

void add_dnn_samples(Samples& add) { add_dnn_pointwise_samples(add); }

}  // namespace troupe::op
