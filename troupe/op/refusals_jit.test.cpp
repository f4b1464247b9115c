// The rows of the table of refusals that are of kernels of the user's own. refusals.test.cpp says what a row is.
#include "troupe/op/jit.hpp"
#include "troupe/op/refusals.test.hpp"

namespace troupe::op {

std::vector<Refusal> jit_refusals() {
  return {
      {bad<Launch>([](Launch& op) { op.kernel.clear(); }),
       "launch: the name of the kernel has 0 bytes; it must have 1 to 4096"},
      {bad<Launch>([](Launch& op) { op.symbol.clear(); }),
       "launch: the symbol of the kernel has 0 bytes; it must have 1 to 4096"},
      {bad<Launch>([](Launch& op) { op.order.resize(65); }),
       "launch: there are 65 arguments, and 2 of them are arrays; a kernel takes at most 64 arguments and 63 "
       "arrays"},
      {bad<Launch>([](Launch& op) { op.scalars.resize(3); }),
       "launch: order and pointers need 2 arrays and 16 bytes of scalars; there are 2 arrays and 3 bytes"},
      {bad<Launch>([](Launch& op) { op.pointers[0] = std::byte{9}; }),
       "launch: a pointer is at byte 9 of 16 bytes of scalars"},
      {bad<Launch>([](Launch& op) { op.pointers.resize(3); }), "launch: half of a pointer is missing"},
      {bad<Launch>([](Launch& op) { op.variables.resize(65, op.variables[0]); }),
       "launch: there are 65 variables of the program; 64 is the most"},
      {bad<Launch>([](Launch& op) { op.symbols.clear(); }),
       "launch: there are 1 variables of the program and 0 symbols of 0 bytes"},
      {bad<Launch>([](Launch& op) { op.plan.cluster = {4, 8, 1}; }),
       "launch: grid.cluster is 4 x 8 x 1; the product must be 1 to 16"},
      {bad<Launch>([](Launch& op) { op.plan.cluster = {3, 1, 1}; }),
       "launch: grid.blocks is 4 x 2 x 1 and grid.cluster is 3 x 1 x 1; there must be whole clusters along each "
       "axis"},
      {bad<Launch>([](Launch& op) { op.plan.together = 4; }), "launch: there is no launch of the kind 4"},
      {bad<Launch>([](Launch& op) { op.plan.blocks.y = 0; }),
       "launch: grid.blocks is 4 x 0 x 1; x must be 1 to 2147483647, y and z must be 1 to 65535"},
      {bad<Launch>([](Launch& op) { op.plan.threads.z = 65; }),
       "launch: grid.threads is 64 x 2 x 65; the product must be 1 to 1024, and z must be at most 64"},
      {bad<SetVariable>([](SetVariable& op) { op.variable.clear(); }),
       "set: the name of the variable has 0 bytes; it must have 1 to 4096"},
      {bad<SetVariable>([](SetVariable& op) { op.symbol.clear(); }),
       "set: the symbol of the variable has 0 bytes; it must have 1 to 4096"},
      {bad<SetVariable>([](SetVariable& op) { reshape(op.kept, {4}); }),
       "set: what is kept must have the shape and type of what is set"},
      {bad<SetVariable>([](SetVariable& op) { op.from.strides = {2}; }),
       "set: the elements of the array do not lie side by side; give it a copy"},
  };
}

}  // namespace troupe::op
