// What the GPU does for the ops of op/blas.hpp: cuBLAS where it takes the layout, kernels of our own where not. Each
// function puts its op on the lane's stream and returns; the views lie in mapped memory. The app has checked the op;
// what could leave the arrays is checked once more and answers `invalid_argument`.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/four_types.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::Axpy& op, const LaneTools& on);
Result<void> run_op(const op::Scal& op, const LaneTools& on);
Result<void> run_op(const op::Rot& op, const LaneTools& on);
Result<void> run_op(const op::Dot& op, const LaneTools& on);
Result<void> run_op(const op::Measure& op, const LaneTools& on);
Result<void> run_op(const op::Geam& op, const LaneTools& on);
Result<void> run_op(const op::Gemm& op, const LaneTools& on);
Result<void> run_op(const op::GemmGroup& op, const LaneTools& on);
Result<void> run_op(const op::Symm& op, const LaneTools& on);
Result<void> run_op(const op::Syrk& op, const LaneTools& on);
Result<void> run_op(const op::Triangular& op, const LaneTools& on);

// ---- what they share ----

/// A matrix in scratch memory, row-major and without gaps.
struct OwnMatrix {
  StreamScratch memory;
  Matrix matrix;
};
Result<OwnMatrix> make_matrix(const LaneTools& on, DType dtype, std::int64_t rows, std::int64_t columns);

/// c = alpha a b + beta c, or a batch of such products, for any layout.
Result<void> multiply(const LaneTools& on, const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a,
                      const Matrix& b, const Matrix& c, const ProductKind& kind = {}, const Batch& batch = {});
/// 0 times a matrix: zeros, and NaN where it has a NaN or an infinity. cuBLAS does not read what has a factor of 0, and
/// so loses them; this is multiplied instead, with a factor of 1.
Result<OwnMatrix> times_zero(const LaneTools& on, const Matrix& m);
/// out = alpha in, or out += alpha in, element by element, of the conjugates if wanted. f32 f64 c64 c128.
Result<void> scale(const LaneTools& on, const op::Scalar& alpha, const Matrix& in, const Matrix& out,
                   bool conjugates = false, bool adds = false);
/// out = in, element by element, for any layout and type; `cast` converts.
Result<void> copy(const LaneTools& on, const Matrix& in, const Matrix& out);
Result<void> cast(const LaneTools& on, const Matrix& in, const Matrix& out);

/// `alpha` in the type that `dtype` is computed in, as our kernels take it.
Bytes16 factor_bytes(const op::Scalar& alpha, DType dtype) noexcept;

using backend::visit_four;

}  // namespace troupe::cuda
