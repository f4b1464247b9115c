#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cuda_ops.hpp"

#include "troupe/backend/op_notes.hpp"
#include "troupe/op/families.hpp"

namespace troupe::cuda {

#define TROUPE_FAMILY(name, lane) void add_##name(RunTable& table);
TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY

namespace {

RunTable table_of_all() {
  RunTable table;
#define TROUPE_FAMILY(name, lane) add_##name(table);
  TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
  return table;
}

}  // namespace

CudaOps::CudaOps(const CudaContext& context, CudaMemory& memory, const backend::Setup& setup)
    : tools_(context, memory, setup), table_(table_of_all()) {}

Result<void> CudaOps::warm(std::uint32_t lane, CUstream stream) {
  TROUPE_TRY(tools_.context().make_current());
  TROUPE_TRY(tools_.kernels());
  TROUPE_TRY(tools_.handle<Cublas>(lane, stream));
  return Cublas::load_usual_kernels(tools_.context());
}

Result<void> CudaOps::submit(const backend::Work& work, const op::AnyOp& op, CUstream stream,
                             bool& has_begun) noexcept {
  const RunTable::Run run = table_.find(op.info().kind);
  if (!run) return fail(ErrorKind::unsupported, std::string(op.info().name) + " cannot be run on a GPU");
  backend::at_static_op(work.lane, work.ticket, op.info().name);
  try {
    Result<void> result = run(op.get(), LaneTools(tools_, stream, work.lane, has_begun));
    backend::at_no_op();
    return result;
  } catch (...) {
    backend::at_no_op();
    return fail(detail::current_exception_as_error());
  }
}

}  // namespace troupe::cuda

#endif
