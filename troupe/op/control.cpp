#include "troupe/op/control.hpp"

#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {

Result<void> check(const Nop&) { return {}; }

extern const FamilyOps control_ops = register_ops("control", ControlOps{});

}  // namespace troupe::inline v0::op
