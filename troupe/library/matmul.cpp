#include "troupe/library/matmul.hpp"

namespace troupe {

Matmul Device::matmul() const { return Matmul(*this); }

}  // namespace troupe
