#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_ops.hpp"

namespace troupe::cuda {

void add_dnn(RunTable& table) { table.add(op::DnnOps{}); }

}  // namespace troupe::cuda

#endif
