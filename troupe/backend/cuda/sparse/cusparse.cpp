#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/sparse/cusparse.hpp"

#include <string>
#include <utility>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/sparse/cusparse_calls.hpp"
#include "troupe/backend/kept_plans.hpp"

namespace troupe::cuda {
namespace {

using namespace sparse_calls;

/// The same memory, read in the other order.
GpuDense transposed(const GpuDense& m) noexcept {
  return {m.data, m.columns, m.rows, m.leading, !m.by_rows, m.is_vector};
}

/// Buffers up to this size lie in memory that is kept: to allocate and free one costs a small product a microsecond.
constexpr std::uint64_t kKeptBytes = std::uint64_t{4} << 20;

/// Memory for one call, or for a plan.
class Buffer {
 public:
  explicit Buffer(StreamScratch scratch) noexcept : scratch_(std::move(scratch)) {}
  static Result<Buffer> of(std::uint64_t size_bytes, std::optional<OwnMemory>& kept, const LaneTools& on) {
    if (size_bytes > kKeptBytes) return Buffer(TROUPE_TRY(on.scratch(size_bytes)));
    if (!kept) kept.emplace(TROUPE_TRY(OwnMemory::allocate(on.context(), kKeptBytes, false)));
    return Buffer(kept->base());
  }
  void* data() const noexcept { return pointer(scratch_ ? scratch_->address() : kept_); }

 private:
  explicit Buffer(CUdeviceptr kept) noexcept : kept_(kept) {}
  CUdeviceptr kept_ = 0;
  std::optional<StreamScratch> scratch_;
};

/// Calls with equal ones may share a plan.
struct PlanKey {
  enum class Use : std::uint8_t { multiply, solve };
  Use use = Use::multiply;
  std::uint64_t structure = 0;
  op::Transform transform = op::Transform::none;
  op::StoredTriangle triangle = op::StoredTriangle::lower;
  DType dtype = DType::f32;
  DType index_type = DType::i32;
  std::int64_t columns = 1;  // of the right-hand sides; they lie by rows, without gaps
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

}  // namespace

/// Descriptors, and what cuSPARSE works out of a structure, in a buffer that nobody else writes.
struct Cusparse::Plan {
  PlanKey key;
  std::uint64_t size_bytes = 0;
  SparseMatrix matrix;
  DenseVector in_vector;
  DenseVector out_vector;
  DenseMatrix in_matrix;
  DenseMatrix out_matrix;
  VectorSolve vector_solve;
  MatrixSolve matrix_solve;
  std::optional<Buffer> buffer;
  bool is_preprocessed = false;

  static Result<std::unique_ptr<Plan>> make(const PlanKey& key, const GpuCsr& a, const GpuDense& in,
                                            const GpuDense& out) {
    auto made = std::make_unique<Plan>();
    made->key = key;
    TROUPE_TRY(describe(a, made->matrix));
    if (in.is_vector) {
      TROUPE_TRY(describe(in, a.dtype, made->in_vector));
      TROUPE_TRY(describe(out, a.dtype, made->out_vector));
    } else {
      TROUPE_TRY(describe(in, a.dtype, made->in_matrix));
      TROUPE_TRY(describe(out, a.dtype, made->out_matrix));
    }
    return made;
  }
  /// The same structure, with the arrays of another call.
  Result<void> point_at(const GpuCsr& a, const GpuDense& in, const GpuDense& out) {
    TROUPE_TRY(cusparse().cusparseSpMatSetValues(matrix.it, pointer(a.values)));
    if (in.is_vector) {
      TROUPE_TRY(cusparse().cusparseDnVecSetValues(in_vector.it, pointer(in.data)));
      return cusparse().cusparseDnVecSetValues(out_vector.it, pointer(out.data));
    }
    TROUPE_TRY(cusparse().cusparseDnMatSetValues(in_matrix.it, pointer(in.data)));
    return cusparse().cusparseDnMatSetValues(out_matrix.it, pointer(out.data));
  }
};

/// Plans of structures that have a name. Those without one are given out like others, and not kept.
struct Cusparse::Plans {
  backend::KeptPlans<Plan> kept;
  std::optional<OwnMemory> memory;  // for buffers of calls; made when one is first needed

  std::unique_ptr<Plan> take(const PlanKey& key) { return key.structure == 0 ? nullptr : kept.take(key); }
  void keep(std::unique_ptr<Plan> plan) {
    if (plan->key.structure != 0) kept.keep(std::move(plan));
  }
  Result<Buffer> buffer(std::uint64_t size_bytes, const LaneTools& on) { return Buffer::of(size_bytes, memory, on); }
  Result<void> give_buffer(Plan& plan, std::uint64_t size_bytes, const LaneTools& on) {
    if (plan.key.structure == 0) {
      plan.buffer.emplace(TROUPE_TRY(buffer(size_bytes, on)));
      return {};
    }
    plan.buffer.emplace(TROUPE_TRY(scratch(size_bytes, on)));
    plan.size_bytes = size_bytes;
    return {};
  }

 private:
  /// When there is no memory, all other plans are given up for it.
  Result<StreamScratch> scratch(std::uint64_t size_bytes, const LaneTools& on) {
    Result<StreamScratch> got = on.scratch(size_bytes);
    if (got || got.error().kind() != ErrorKind::out_of_memory) return got;
    kept.clear();
    return on.scratch(size_bytes);
  }
};

Cusparse::Cusparse(cusparseHandle_t handle) : handle_(handle), plans_(std::make_unique<Plans>()) {}

Result<std::unique_ptr<Cusparse>> Cusparse::create(CUstream stream) {
  const CusparseTable& functions = *TROUPE_TRY(find_table<CusparseTable>());
  cusparseHandle_t handle = nullptr;
  TROUPE_TRY(functions.cusparseCreate(&handle));
  std::unique_ptr<Cusparse> made(new Cusparse(handle));
  TROUPE_TRY(functions.cusparseSetStream(handle, stream));
  return made;
}

Cusparse::~Cusparse() {
  plans_.reset();
  (void)cusparse().cusparseDestroy(handle_);
}

Result<void> Cusparse::multiply(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Transform transform,
                                const GpuDense& x, const op::Scalar& beta, const GpuDense& y) {
  const LibraryFactor by_alpha(alpha, a.dtype);
  const LibraryFactor by_beta(beta, a.dtype);
  const cudaDataType type = data_type(a.dtype);
  const cusparseOperation_t transformed = operation(transform);
  if (x.is_vector) return multiply_vector(on, by_alpha.data(), a, transform, x, by_beta.data(), y);
  // Both dense matrices in one order: x is read as its transpose where it lies the other way.
  const bool alike = x.by_rows == y.by_rows;
  const cusparseOperation_t transform_of_x = alike ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
  SparseMatrix matrix;
  DenseMatrix in;
  DenseMatrix out;
  TROUPE_TRY(describe(a, matrix));
  TROUPE_TRY(describe(alike ? x : transposed(x), a.dtype, in));
  TROUPE_TRY(describe(y, a.dtype, out));
  std::size_t bytes = 0;
  TROUPE_TRY(cusparse().cusparseSpMM_bufferSize(handle_, transformed, transform_of_x, by_alpha.data(), matrix.it, in.it,
                                                by_beta.data(), out.it, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(plans_->buffer(bytes, on));
  return cusparse().cusparseSpMM(handle_, transformed, transform_of_x, by_alpha.data(), matrix.it, in.it,
                                 by_beta.data(), out.it, type, CUSPARSE_SPMM_ALG_DEFAULT, buffer.data());
}

Result<void> Cusparse::multiply_vector(const LaneTools& on, const void* alpha, const GpuCsr& a, op::Transform transform,
                                       const GpuDense& x, const void* beta, const GpuDense& y) {
  const PlanKey key{.use = PlanKey::Use::multiply,
                    .structure = a.structure,
                    .transform = transform,
                    .dtype = a.dtype,
                    .index_type = a.index_type};
  const auto call = [&](const Plan& plan, const auto& function, auto... last) {
    return function(handle_, operation(transform), alpha, plan.matrix.it, plan.in_vector.it, beta, plan.out_vector.it,
                    data_type(a.dtype), CUSPARSE_SPMV_ALG_DEFAULT, last...);
  };
  std::unique_ptr<Plan> plan = plans_->take(key);
  if (!plan) {
    plan = TROUPE_TRY(Plan::make(key, a, x, y));
    std::size_t bytes = 0;
    TROUPE_TRY(call(*plan, cusparse().cusparseSpMV_bufferSize, &bytes));
    TROUPE_TRY(plans_->give_buffer(*plan, bytes, on));
  } else {
    TROUPE_TRY(plan->point_at(a, x, y));
    // It takes as long as a few products save: for a matrix that is used a second time.
    if (cusparse().cusparseSpMV_preprocess && !std::exchange(plan->is_preprocessed, true))
      TROUPE_TRY(call(*plan, cusparse().cusparseSpMV_preprocess, plan->buffer->data()));
  }
  TROUPE_TRY(call(*plan, cusparse().cusparseSpMV, plan->buffer->data()));
  plans_->keep(std::move(plan));
  return {};
}

Result<void> Cusparse::solve(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Transform transform,
                             op::StoredTriangle triangle, const GpuDense& b, const GpuDense& x) {
  const LibraryFactor by_alpha(alpha, a.dtype);
  const PlanKey key{.use = PlanKey::Use::solve,
                    .structure = a.structure,
                    .transform = transform,
                    .triangle = triangle,
                    .dtype = a.dtype,
                    .index_type = a.index_type,
                    .columns = b.columns};
  std::unique_ptr<Plan> plan = plans_->take(key);
  const bool is_new = !plan;
  if (is_new) {
    plan = TROUPE_TRY(Plan::make(key, a, b, x));
    TROUPE_TRY(set_triangle(plan->matrix, triangle));
  } else {
    TROUPE_TRY(plan->point_at(a, b, x));
  }
  TROUPE_TRY(b.is_vector ? solve_vector(on, by_alpha.data(), a, *plan, is_new)
                         : solve_matrix(on, by_alpha.data(), a, *plan, is_new));
  // What cuSPARSE keeps of a triangle includes its values: those of later calls it has to be told.
  if (cusparse().cusparseSpSV_updateMatrix && cusparse().cusparseSpSM_updateMatrix) plans_->keep(std::move(plan));
  return {};
}

Result<void> Cusparse::solve_vector(const LaneTools& on, const void* alpha, const GpuCsr& a, Plan& plan, bool is_new) {
  const auto call = [&](const auto& function, auto... last) {
    return function(handle_, operation(plan.key.transform), alpha, plan.matrix.it, plan.in_vector.it,
                    plan.out_vector.it, data_type(a.dtype), CUSPARSE_SPSV_ALG_DEFAULT, plan.vector_solve.it, last...);
  };
  if (is_new) {
    std::size_t bytes = 0;
    TROUPE_TRY(cusparse().cusparseSpSV_createDescr(&plan.vector_solve.it));
    TROUPE_TRY(call(cusparse().cusparseSpSV_bufferSize, &bytes));
    TROUPE_TRY(plans_->give_buffer(plan, bytes, on));
    TROUPE_TRY(call(cusparse().cusparseSpSV_analysis, plan.buffer->data()));
  } else {
    TROUPE_TRY(cusparse().cusparseSpSV_updateMatrix(handle_, plan.vector_solve.it, pointer(a.values),
                                                    CUSPARSE_SPSV_UPDATE_GENERAL));
  }
  return call(cusparse().cusparseSpSV_solve);
}

Result<void> Cusparse::solve_matrix(const LaneTools& on, const void* alpha, const GpuCsr& a, Plan& plan, bool is_new) {
  const auto call = [&](const auto& function, auto... last) {
    return function(handle_, operation(plan.key.transform), CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, plan.matrix.it,
                    plan.in_matrix.it, plan.out_matrix.it, data_type(a.dtype), CUSPARSE_SPSM_ALG_DEFAULT,
                    plan.matrix_solve.it, last...);
  };
  if (is_new) {
    std::size_t bytes = 0;
    TROUPE_TRY(cusparse().cusparseSpSM_createDescr(&plan.matrix_solve.it));
    TROUPE_TRY(call(cusparse().cusparseSpSM_bufferSize, &bytes));
    TROUPE_TRY(plans_->give_buffer(plan, bytes, on));
    TROUPE_TRY(call(cusparse().cusparseSpSM_analysis, plan.buffer->data()));
  } else {
    TROUPE_TRY(cusparse().cusparseSpSM_updateMatrix(handle_, plan.matrix_solve.it, pointer(a.values),
                                                    CUSPARSE_SPSM_UPDATE_GENERAL));
  }
  return call(cusparse().cusparseSpSM_solve);
}

Result<void> Cusparse::sddmm(const LaneTools& on, const op::Scalar& alpha, const GpuDense& a, const GpuDense& b,
                             const op::Scalar& beta, const GpuCsr& c) {
  constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const LibraryFactor by_alpha(alpha, c.dtype);
  const LibraryFactor by_beta(beta, c.dtype);
  const cudaDataType type = data_type(c.dtype);
  SparseMatrix out;
  DenseMatrix left;
  DenseMatrix right;
  TROUPE_TRY(describe(c, out));
  TROUPE_TRY(describe(a, c.dtype, left));
  TROUPE_TRY(describe(b, c.dtype, right));
  std::size_t bytes = 0;
  TROUPE_TRY(cusparse().cusparseSDDMM_bufferSize(handle_, kAsItIs, kAsItIs, by_alpha.data(), left.it, right.it,
                                                 by_beta.data(), out.it, type, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(plans_->buffer(bytes, on));
  return cusparse().cusparseSDDMM(handle_, kAsItIs, kAsItIs, by_alpha.data(), left.it, right.it, by_beta.data(), out.it,
                                  type, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data());
}

Result<void> Cusparse::transpose(const LaneTools& on, const GpuCsr& from, const GpuCsr& to) {
  const auto rows = static_cast<int>(from.rows);
  const auto columns = static_cast<int>(from.columns);
  const auto stored = static_cast<int>(from.stored);
  const auto ints = [](CUdeviceptr address) { return static_cast<int*>(pointer(address)); };
  std::size_t bytes = 0;
  TROUPE_TRY(cusparse().cusparseCsr2cscEx2_bufferSize(
      handle_, rows, columns, stored, pointer(from.values), ints(from.offsets), ints(from.indices), pointer(to.values),
      ints(to.offsets), ints(to.indices), data_type(from.dtype), CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
      CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
  const Buffer buffer = TROUPE_TRY(plans_->buffer(bytes, on));
  return cusparse().cusparseCsr2cscEx2(handle_, rows, columns, stored, pointer(from.values), ints(from.offsets),
                                       ints(from.indices), pointer(to.values), ints(to.offsets), ints(to.indices),
                                       data_type(from.dtype), CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                       CUSPARSE_CSR2CSC_ALG_DEFAULT, buffer.data());
}

Result<std::int64_t> Cusparse::product(const LaneTools& on, const GpuCsr& a, const GpuCsr& b, const GpuCsr* c) {
  constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const LibraryFactor one(op::Scalar(1.0), a.dtype);
  const LibraryFactor zero(op::Scalar(0.0), a.dtype);
  const cudaDataType type = data_type(a.dtype);
  SparseMatrix left;
  SparseMatrix right;
  SparseMatrix out;
  Product product;
  TROUPE_TRY(describe(a, left));
  TROUPE_TRY(describe(b, right));
  // How many elements it has is what the steps find out; its offsets must be somewhere from the start.
  const StreamScratch offsets =
      TROUPE_TRY(on.scratch(c ? 0 : static_cast<std::uint64_t>(a.rows + 1) * sizeof(std::int32_t)));
  const GpuCsr unknown{
      .rows = a.rows, .columns = b.columns, .offsets = c ? c->offsets : offsets.address(), .dtype = a.dtype};
  TROUPE_TRY(describe(unknown, out));
  TROUPE_TRY(cusparse().cusparseSpGEMM_createDescr(&product.it));
  // Each step is called twice: for the size of its buffer, and with the buffer, which stays until the last step.
  const auto estimate = [&](std::size_t* bytes, void* buffer) {
    return cusparse().cusparseSpGEMM_workEstimation(handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it,
                                                    zero.data(), out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it,
                                                    bytes, buffer);
  };
  const auto compute = [&](std::size_t* bytes, void* buffer) {
    return cusparse().cusparseSpGEMM_compute(handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it, zero.data(),
                                             out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it, bytes, buffer);
  };
  std::size_t bytes = 0;
  TROUPE_TRY(estimate(&bytes, nullptr));
  const StreamScratch first = TROUPE_TRY(on.scratch(bytes));
  TROUPE_TRY(estimate(&bytes, first.data()));
  TROUPE_TRY(compute(&bytes, nullptr));
  const StreamScratch second = TROUPE_TRY(on.scratch(bytes));
  TROUPE_TRY(compute(&bytes, second.data()));
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;
  TROUPE_TRY(cusparse().cusparseSpMatGetSize(out.it, &rows, &columns, &stored));
  if (!c) return stored;
  if (stored != c->stored)
    return fail(ErrorKind::internal, "a product that had " + std::to_string(c->stored) + " elements has " +
                                         std::to_string(stored) + " by now");
  TROUPE_TRY(cusparse().cusparseCsrSetPointers(out.it, pointer(c->offsets), pointer(c->indices), pointer(c->values)));
  TROUPE_TRY(cusparse().cusparseSpGEMM_copy(handle_, kAsItIs, kAsItIs, one.data(), left.it, right.it, zero.data(),
                                            out.it, type, CUSPARSE_SPGEMM_DEFAULT, product.it));
  return stored;
}

}  // namespace troupe::cuda

#endif
