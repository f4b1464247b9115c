#include "troupe/op/memory.hpp"

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {

Result<void> check(const Fill&) { return {}; }  // any number becomes an element of any type

Result<void> check(const Copy& op) {
  if (op.in.dtype != op.out.dtype)
    return refuse("copy", "from is " + std::string(name(op.in.dtype)) + " and to is " +
                              std::string(name(op.out.dtype)) + "; they must have the same type, or use cast");
  return check_same_shapes("copy", {{"from", op.in}, {"to", op.out}});
}

Result<void> check(const Cast& op) { return check_same_shapes("cast", {{"from", op.in}, {"to", op.out}}); }

Result<void> check(const Ready&) { return {}; }

extern const FamilyOps memory_ops = register_ops("memory", MemoryOps{});

}  // namespace troupe::inline v0::op
