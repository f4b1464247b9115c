#include "troupe/library/dnn/dnn.hpp"

namespace troupe::inline v0 {

Dnn Device::dnn() const { return Dnn(*this); }

}  // namespace troupe::inline v0
