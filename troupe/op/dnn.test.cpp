// One good op of each kind of the dnn family, for the tests over all ops, and what is refused: each topic has its own.
#include "troupe/op/dnn.test.hpp"

namespace troupe::op {

void add_dnn_samples(Samples& add) {
  add_dnn_pointwise_samples(add);
  add_dnn_convolution_samples(add);
  add_dnn_pooling_samples(add);
  add_dnn_norm_samples(add);
  add_dnn_interpolate_samples(add);
  add_dnn_training_samples(add);
  add_dnn_recurrent_samples(add);
}

std::vector<Refusal> dnn_refusals() {
  std::vector<Refusal> all = dnn_layer_refusals();
  for (const std::vector<Refusal>& more : {training_refusals(), dnn_recurrent_refusals()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace troupe::op
