// The kernels of functions of two and of three operands, in the order of `Binary` and of `Ternary`. Comparisons and
// what integers have of `Binary` are in tensor_whole_kernels.cu.
// What they do with each element is in tensor_elementwise.cuh.
#include "troupe/backend/cuda/tensor/tensor_elementwise.cuh"

#define TROUPE_REAL(name) TROUPE_FOR_REAL(name, troupe::Binary::name)
#define TROUPE_ALL(name) TROUPE_FOR_ALL(name, troupe::Binary::name)
TROUPE_ALL(add)
TROUPE_ALL(sub)
TROUPE_ALL(mul)
TROUPE_ALL(div)
TROUPE_REAL(min)
TROUPE_REAL(max)
TROUPE_REAL(pow)

TROUPE_FOR_ALL(fma, troupe::Ternary::fma)
TROUPE_FOR_INTEGERS(fma, troupe::Ternary::fma)
TROUPE_FOR_REAL(clamp, troupe::Ternary::clamp)
TROUPE_FOR_INTEGERS(clamp, troupe::Ternary::clamp)
TROUPE_FOR_ALL(select, troupe::Ternary::select)
TROUPE_FOR_INTEGERS(select, troupe::Ternary::select)
TROUPE_ELEMENTWISE(select, troupe::Ternary::select, bool, bool)
