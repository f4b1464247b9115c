#include "troupe/op/control.hpp"

#include "troupe/op/family.hpp"

namespace troupe::op {

Result<void> check(const Nop&) { return {}; }

extern const FamilyOps control_ops = register_ops("control", ControlOps{});

}  // namespace troupe::op
