#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::DnnScale& op, const LaneTools& on) {
  Layout layout = layout_of(op.x, &op.y);
  CUdeviceptr x = on.at(op.x);
  CUdeviceptr y = on.at(op.y);
  double alpha = op.alpha;
  double beta = op.beta;
  std::array<void*, 5> arguments{&x, &y, &alpha, &beta, &layout};  // in the order of the kernel's parameters
  return on.launch(TROUPE_TRY(on.kernel(DnnKernel::scale, op.y.dtype)), layout.count, arguments);
}

void add_dnn(RunTable& table) { table.add(op::DnnOps{}); }

}  // namespace troupe::cuda

#endif
