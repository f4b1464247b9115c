// The samples of the dnn family's topics and their rows of refusals: each stands beside the topic's tests, so that
// topics grow without changing each other's files.
#pragma once

#include "troupe/op/refusals.test.hpp"
#include "troupe/op/samples.test.hpp"

namespace troupe::op {

void add_dnn_convolution_samples(Samples& add);
void add_dnn_interpolate_samples(Samples& add);
void add_dnn_norm_samples(Samples& add);
void add_dnn_pointwise_samples(Samples& add);
void add_dnn_pooling_samples(Samples& add);

void add_dnn_recurrent_samples(Samples& add);
void add_dnn_training_samples(Samples& add);

std::vector<Refusal> dnn_layer_refusals();
std::vector<Refusal> dnn_recurrent_refusals();

}  // namespace troupe::op
