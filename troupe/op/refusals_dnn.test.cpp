// The rows of the table of refusals that are of layers of neural networks. refusals.test.cpp says what a row is.
#include <limits>

#include "troupe/op/dnn.hpp"
#include "troupe/op/dnn.test.hpp"

namespace troupe::op {
namespace {

using enum DType;

constexpr ErrorKind kUnsupported = ErrorKind::unsupported;

}  // namespace

std::vector<Refusal> dnn_layer_refusals() {
  return {
      {bad<DnnActivate>([](DnnActivate& op) { retype(i32, op.x, op.y); }),
       "leaky_relu: x is i32; it must be f32, f64, f16 or bf16", kUnsupported},
      {bad<DnnActivate>([](DnnActivate& op) { op.alpha = std::numeric_limits<double>::quiet_NaN(); }),
       "leaky_relu: alpha is NaN; it must be finite"},
  };
}

}  // namespace troupe::op
