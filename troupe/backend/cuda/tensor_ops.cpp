#if TROUPE_CUDA_BACKEND
#include "troupe/backend/cuda/tensor_ops.hpp"
namespace troupe::cuda {
Result<void> run_op(const op::UnaryOp&, const LaneTools&) { return fail(ErrorKind::unsupported, ""); }
Result<void> run_op(const op::BinaryOp&, const LaneTools&) { return fail(ErrorKind::unsupported, ""); }
Result<void> run_op(const op::TernaryOp&, const LaneTools&) { return fail(ErrorKind::unsupported, ""); }
Result<void> run_op(const op::Reduce&, const LaneTools&) { return fail(ErrorKind::unsupported, ""); }
Result<void> run_op(const op::Contract&, const LaneTools&) { return fail(ErrorKind::unsupported, ""); }
}  // namespace troupe::cuda
#endif
