#if TROUPE_CUDA_BACKEND
#include "troupe/backend/cuda/sparse_ops.hpp"
namespace troupe::cuda {
Result<void> run_op(const op::SparseAdopt&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseMultiply&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseSolve&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseSddmm&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseConvert&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseToDense&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseCountDense&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseFillDense&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseCountBlocks&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseFillBlocks&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseCountProduct&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
Result<void> run_op(const op::SparseFillProduct&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "sparse matrices are not on GPUs yet; the host device has them");
}
}  // namespace troupe::cuda
#endif
