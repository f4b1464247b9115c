#include "troupe/library/sparse.hpp"

namespace troupe {

Sparse Device::sparse() const { return Sparse(*this); }

}  // namespace troupe
