#include "troupe/op/dnn.hpp"

#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {

extern const FamilyOps dnn_ops = register_ops("dnn", DnnOps{});

}  // namespace troupe::inline v0::op
