#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/primitives/primitives_ops.hpp"

namespace troupe::cuda {

void add_primitives(RunTable& table) { table.add(op::PrimitivesOps{}); }

}  // namespace troupe::cuda

#endif
