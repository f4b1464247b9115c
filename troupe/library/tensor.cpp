#include "troupe/library/tensor.hpp"

namespace troupe {

Tensor Device::tensor() const { return Tensor(*this); }

}  // namespace troupe
