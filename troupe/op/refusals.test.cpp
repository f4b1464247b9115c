// Every sentence with which an op is refused, side by side: so that they can be read, and so that none changes unseen.
// A row takes the good op of `sample_ops`, makes one thing wrong, and gives the text that a user then reads.
#include "troupe/op/refusals.test.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "troupe/op/blas.hpp"
#include "troupe/op/matmul.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/solver.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::op {
namespace {

using enum DType;
using enum Access;
using Complex = std::complex<double>;

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

constexpr ErrorKind kUnsupported = ErrorKind::unsupported;

std::vector<Refusal> joined(std::vector<Refusal> all, const std::vector<Refusal>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> kRefusals = joined(
      {
          // ---- arrays that no op can have ----
          {bad<Fill>([](Fill& op) { op.out.shape = Shape{-1}; }),
           "fill: out is not valid: the shape [-1] has a negative extent; extents must be 0 or more"},
          {bad<Fill>([](Fill& op) { op.out.shape = Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }),
           "fill: out is not valid: the shape [1, 1, 1, 1, 1, 1, 1, 1, ...] has too many dimensions; at most 8 are "
           "possible"},
          {bad<Fill>([](Fill& op) { reshape(op.out, {1LL << 40, 1LL << 40}); }),
           "fill: out is not valid: the shape [1099511627776, 1099511627776] has more elements than 63 bits can count"},
          {bad<Fill>([](Fill& op) { op.out.strides = Strides{3, 1}; }),
           "fill: out is not valid: the shape [3] has the strides [3, 1]; it needs one for each extent"},
          {bad<Fill>([](Fill& op) { op.out.strides = Strides{1LL << 62}; }),
           "fill: out is not valid: the shape [3] with the strides [4611686018427387904] reaches further than 63 bits "
           "can "
           "count"},
          {bad<Fill>([](Fill& op) { op.out.address = address_of(kMaxChunks, 0); }),
           "fill: out is not valid: its address is in chunk 4096; a vault has chunks 0 to 4095"},
          {bad<Fill>([](Fill& op) { op.out.address = address_of(1, kMaxChunkBytes - 4); }),
           "fill: out is not valid: the shape [3] with the strides [1] reaches out of its chunk of memory"},
          {bad<Fill>([](Fill& op) { op.out.strides = Strides{0}; }),
           "fill would write out, and elements of out overlap each other: its shape is [3], its strides are [0]"},
          {bad<Copy>([](Copy& op) { op.out = op.in; }),
           "copy: in and out overlap, and the op would write one of them; use another array"},
          {bad<Copy>([](Copy& op) {
             op.in.shape = op.out.shape = Shape{9999};
             op.in.strides = Strides{99'991};
             op.out.strides = Strides{100'003};
           }),
           "copy: in and out lie in one another, and it would take too long to tell whether they share an element (in "
           "is "
           "[9999] with strides [99991], out is [9999] with strides [100003]), and the op would write one of them; use "
           "another array"},
          {bad<PluginCall>([](PluginCall& op) { op.arrays.resize(193, op.arrays[0]); }),
           "call: there are 193 arrays; an op takes at most 192"},

          // ---- memory ----
          {bad<Copy>([](Copy& op) { op.out.dtype = f64; }),
           "copy: from is f32 and to is f64; they must have the same type, or use cast"},
          {bad<Copy>([](Copy& op) { reshape(op.out, {3, 2}); }),
           "copy: from is [2, 3] and to is [3, 2]; they must have the same shape"},
          {bad<Cast>([](Cast& op) { reshape(op.out, {3, 2}); }),
           "cast: from is [2, 3] and to is [3, 2]; they must have the same shape"},

          // ---- blas ----
          {bad<Axpy>([](Axpy& op) { op.y.dtype = f64; }), "axpy: x is f32 and y is f64; they must have the same type"},
          {bad<Axpy>([](Axpy& op) { retype(boolean, op.x, op.y); }),
           "axpy: x is bool; it must be a floating-point, complex or integer type", kUnsupported},
          {bad<Axpy>([](Axpy& op) { op.alpha = Scalar(kNaN); }), "axpy: alpha is NaN; it must be a number"},
          {bad<Axpy>([](Axpy& op) { op.alpha = Scalar(Complex(0.5, -1)); }),
           "axpy: alpha is 0.5-1i; arrays of f32 need a real alpha"},
          {bad<Axpy>([](Axpy& op) { reshape(op.y, {5}); }),
           "axpy: x is [4] and y is [5]; they must have the same shape"},
          {bad<Gemm>([](Gemm& op) { op.b.dtype = f64; }), "gemm: a is f32 and b is f64; they must have the same type"},
          {bad<Gemm>([](Gemm& op) { retype(i32, op.a, op.b, op.c); }),
           "gemm: a is i32; it must be a floating-point type, a complex type or i8", kUnsupported},
          {bad<Gemm>([](Gemm& op) { op.c.dtype = f64; }), "gemm: c is f64; it must be f32 when a and b are f32"},
          {bad<Gemm>([](Gemm& op) { retype(i8, op.a, op.b, op.c); }),
           "gemm: c is i8; it must be i32 when a and b are i8"},
          {bad<Gemm>([](Gemm& op) {
             retype(i8, op.a, op.b);
             op.c.dtype = i32;
             op.alpha = Scalar(0.5);
           }),
           "gemm of i8 needs whole alpha and beta from -2147483647 to 2147483647; alpha is 0.5"},
          {bad<Gemm>([](Gemm& op) { op.beta = Scalar(kNaN); }), "gemm: beta is NaN; it must be a number"},
          {bad<Gemm>([](Gemm& op) { op.beta = Scalar(Complex(0, 1)); }),
           "gemm: beta is 0+1i; arrays of f32 need a real beta"},
          {bad<Gemm>([](Gemm& op) {
             retype(f64, op.a, op.b, op.c);
             op.compute = Compute::tf32;
           }),
           "gemm: Compute::tf32 needs matrices of f32; a is f64", kUnsupported},
          {bad<Gemm>([](Gemm& op) { reshape(op.a, {6}); }), "gemm: a is [6]; it must be a matrix"},
          {bad<Gemm>([](Gemm& op) { reshape(op.c, {5, 2, 4}); }),
           "gemm: a is [2, 3]; it must be a batch of matrices, [batch, rows, columns]"},
          {bad<Gemm>([](Gemm& op) {
             reshape(op.a, {5, 2, 3});
             reshape(op.b, {6, 3, 4});
             reshape(op.c, {5, 2, 4});
           }),
           "gemm: a, b and c are batches of 5, 6 and 5 matrices; the batches must have the same size"},
          {bad<Gemm>([](Gemm& op) { reshape(op.b, {2, 4}); }),
           "gemm: a is [2, 3] and b is [2, 4]; a must have as many columns as b has rows"},
          {bad<Gemm>([](Gemm& op) { reshape(op.c, {4, 2}); }),
           "gemm: c is [4, 2]; a [2, 3] times b [3, 4] makes [2, 4]"},
          {bad<Scal>([](Scal& op) { op.x.dtype = i32; }), "scal: x is i32; it must be f32, f64, c64 or c128",
           kUnsupported},
          {bad<Scal>([](Scal& op) { op.alpha = Scalar(kNaN); }), "scal: alpha is NaN; it must be a number"},
          {bad<Rot>([](Rot& op) { op.sine = Scalar(Complex(0, 1)); }),
           "rot: sine is 0+1i; arrays of f32 need a real sine"},
          {bad<Rot>([](Rot& op) {
             retype(c64, op.x, op.y);
             op.cosine = Scalar(Complex(0, 1));
           }),
           "rot: cosine is 0+1i; it must be real"},
          {bad<Rot>([](Rot& op) { reshape(op.y, {5}); }), "rot: x is [4] and y is [5]; they must have the same shape"},
          {bad<Rot>([](Rot& op) {
             op.swaps = true;
             reshape(op.y, {5});
           }),
           "swap: x is [4] and y is [5]; they must have the same shape"},
          {bad<Dot>([](Dot& op) { reshape(op.y, {5}); }), "dot: x is [4] and y is [5]; they must have the same shape"},
          {bad<Dot>([](Dot& op) { op.out.dtype = f64; }), "dot: the result is f64; it must be f32"},
          {bad<Dot>([](Dot& op) { reshape(op.out, {2}); }), "dot: the result is [2]; it must be one element"},
          {bad<Measure>([](Measure& op) { op.x.dtype = i32; }), "iamax: x is i32; it must be f32, f64, c64 or c128",
           kUnsupported},
          {bad<Measure>([](Measure& op) { reshape(op.x, {0}); }), "iamax: x is [0]; it must have at least one element"},
          {bad<Measure>([](Measure& op) { op.out.dtype = f32; }), "iamax: the result is f32; it must be i64"},
          {bad<Measure>([](Measure& op) { op.what = Measure::What::nrm2; }), "nrm2: the result is i64; it must be f32"},
          {bad<Symm>([](Symm& op) { reshape(op.a, {3, 4}); }), "symm: a is [3, 4]; it must be square"},
          {bad<Symm>([](Symm& op) { reshape(op.b, {12}); }), "symm: b is [12]; it must be a matrix"},
          {bad<Symm>([](Symm& op) { reshape(op.b, {2, 4}); }),
           "symm: a is [3, 3] and b is [2, 4]; a must have as many columns as b has rows"},
          {bad<Symm>([](Symm& op) { reshape(op.c, {3, 5}); }),
           "symm: c is [3, 5]; a [3, 3] times b [3, 4] makes [3, 4]"},
          {bad<Syrk>([](Syrk& op) { reshape(op.b, {3, 4}); }),
           "syr2k: a is [3, 2] and b is [3, 4]; they must have the same shape"},
          {bad<Syrk>([](Syrk& op) {
             op.has_b = false;
             reshape(op.c, {4, 4});
           }),
           "syrk: c is [4, 4]; a [3, 2] times a' [2, 3] makes [3, 3]"},
          {bad<Syrk>([](Syrk& op) {
             op.hermitian = true;
             retype(c64, op.a, op.b, op.c);
             op.beta = Scalar(Complex(1, 2));
           }),
           "her2k: beta is 1+2i; a Hermitian c needs a real beta"},
          {bad<Syrk>([](Syrk& op) {
             op.hermitian = true;
             op.has_b = false;
             retype(c64, op.a, op.c);
             op.alpha = Scalar(Complex(1, 2));
           }),
           "herk: alpha is 1+2i; a Hermitian c needs a real alpha"},
          {bad<Triangular>([](Triangular& op) { op.out.dtype = f64; }),
           "trsm: a is f32 and x is f64; they must have the same type"},
          {bad<Triangular>([](Triangular& op) { reshape(op.a, {3, 4}); }), "trsm: a is [3, 4]; it must be square"},
          {bad<Triangular>([](Triangular& op) { reshape(op.out, {2, 3}); }),
           "trsm: b is [3, 2] and x is [2, 3]; they must have the same shape"},
          {bad<Triangular>([](Triangular& op) {
             op.solves = false;
             reshape(op.b, {4, 2});
             reshape(op.out, {4, 2});
           }),
           "trmm: a is [3, 3] and b is [4, 2]; b must have as many rows as a"},
          {bad<Triangular>([](Triangular& op) { op.verdict.dtype = i64; }), "trsm: verdict is i64; it must be i32"},
          {bad<Triangular>([](Triangular& op) { reshape(op.verdict, {2}); }), "trsm: verdict is [2]; it must be [1]"},
          {bad<Geam>([](Geam& op) { reshape(op.b, {3, 2}); }),
           "geam: a is [2, 3] and b is [3, 2]; they must have the same shape"},
          {bad<GemmGroup>([](GemmGroup& op) { op.matrices.pop_back(); }),
           "gemm_group: there are 2 matrices; each product needs three: a, b and c"},
          {bad<GemmGroup>([](GemmGroup& op) {
             reshape(op.matrices[0].view, {0, 0});  // touches nothing, so there may be more of them
             op.matrices.resize(195, op.matrices[0]);
           }),
           "gemm_group: there are 65 products; it takes at most 64"},
          {bad<GemmGroup>([](GemmGroup& op) {
             for (int i = 0; i < 3; ++i) op.matrices.push_back(op.matrices[static_cast<std::size_t>(i)]);
             for (int i = 3; i < 6; ++i) op.matrices[static_cast<std::size_t>(i)].view.dtype = f64;
           }),
           "gemm_group: product 0 is of f32 and product 1 is of f64; they must have the same type"},
          {bad<GemmGroup>([](GemmGroup& op) {
             reshape(op.matrices[0].view, {5, 2, 3});
             reshape(op.matrices[1].view, {5, 3, 4});
             reshape(op.matrices[2].view, {5, 2, 4});
           }),
           "gemm_group: c of product 0 is [5, 2, 4]; it must be a matrix"},
          {bad<GemmGroup>([](GemmGroup& op) { op.matrices[2].access = read; }),
           "gemm_group: product 0 must read a and b, and write c"},

          // ---- matmul ----
          {bad<Matmul>([](Matmul& op) { retype(i32, op.a, op.b, op.d); }),
           "matmul: a is i32, b is i32 and d is i32; it can multiply f32, f64, f16 or bf16 into the same type, f16 or "
           "bf16 "
           "into f32, 8-bit floats into f32, f16, bf16 or f8e4m3, and i8 into i32",
           kUnsupported},
          {bad<Matmul>([](Matmul& op) { reshape(op.a, {6}); }), "matmul: a is [6]; it must be a matrix"},
          {bad<Matmul>([](Matmul& op) { reshape(op.d, {2, 2, 2, 4}); }),
           "matmul: a is [2, 3]; it must be an array of 4 dimensions"},
          {bad<Matmul>([](Matmul& op) {
             reshape(op.a, {2, 2, 3});
             reshape(op.b, {1, 3, 4});
             reshape(op.d, {2, 2, 4});
           }),
           "matmul: a is [2, 2, 3], b is [1, 3, 4] and d is [2, 2, 4]; they must have the same batch axes"},
          {bad<Matmul>([](Matmul& op) { reshape(op.b, {2, 4}); }),
           "matmul: a is [2, 3] and b is [2, 4]; a must have as many columns as b has rows"},
          {bad<Matmul>([](Matmul& op) { reshape(op.d, {2, 5}); }),
           "matmul: d is [2, 5]; a [2, 3] times b [3, 4] makes [2, 4]"},
          {bad<Matmul>([](Matmul& op) {
             retype(f16, op.a, op.b, op.d);
             op.compute = Compute::tf32;
           }),
           "matmul: Compute::tf32 needs matrices of f32; a is f16", kUnsupported},
          {bad<Matmul>([](Matmul& op) { op.alpha = kNaN; }), "matmul: alpha is NaN; it must be finite"},
          {bad<Matmul>([](Matmul& op) { op.scale_d = kInfinity; }), "matmul: scale_d is infinite; it must be finite"},
          {bad<Matmul>([](Matmul& op) { op.c.dtype = i32; }), "matmul: c is i32; it must be f32, f64, f16 or bf16",
           kUnsupported},
          {bad<Matmul>([](Matmul& op) { reshape(op.pre, {4, 2}); }),
           "matmul: preactivation is [4, 2]; a result of [2, 4] needs a preactivation of [2, 4]"},
          {bad<Matmul>([](Matmul& op) { reshape(op.bias, {3}); }),
           "matmul: bias is [3]; a result of [2, 4] needs a bias of [4]"},
          {bad<Matmul>([](Matmul& op) { op.has_c = false; }),
           "matmul: beta is 1 and there is no c; beta needs options.c"},
          {bad<Matmul>([](Matmul& op) {
             retype(i8, op.a, op.b);
             op.d.dtype = i32;
           }),
           "matmul of i8 takes no factors, c, bias, preactivation or activation; for alpha and beta use "
           "blas().gemm",
           kUnsupported},
          {bad<MatmulGradient>([](MatmulGradient& op) { op.b.dtype = f64; }),
           "matmul gradient: a is f32 and b is f64; they must have the same type"},
          {bad<MatmulGradient>([](MatmulGradient& op) { retype(i8, op.a, op.b, op.d); }),
           "matmul gradient: a is i8; it must be f32, f64, f16 or bf16", kUnsupported},
          {bad<MatmulGradient>([](MatmulGradient& op) { reshape(op.sums, {3}); }),
           "matmul gradient: bias_gradient is [3]; a result of [2, 4] needs a bias_gradient of [4]"},
          {bad<MatmulGradient>([](MatmulGradient& op) { op.has_pre = false; }),
           "matmul gradient: gelu_tanh needs options.preactivation, the array that multiply wrote with "
           "options.preactivation"},

          // ---- solver ----
          {bad<Solve>([](Solve& op) { op.a.dtype = f16; }), "solve: a is f16; it must be f32, f64, c64 or c128",
           kUnsupported},
          {bad<Solve>([](Solve& op) { reshape(op.a, {3}); }),
           "solve: a is [3]; it must be a matrix, or a batch of matrices"},
          {bad<Solve>([](Solve& op) { reshape(op.a, {2, 3, 4}); }), "solve: a is [3, 4]; it must be square"},
          {bad<Solve>([](Solve& op) { op.b.dtype = f64; }), "solve: b is f64; it must be f32"},
          {bad<Solve>([](Solve& op) {
             op.matrix_kind = MatrixKind::positive;
             reshape(op.b, {2, 4, 1});
           }),
           "solve_positive: b is [4, 1]; it must be [3, 1]"},
          {bad<Solve>([](Solve& op) { reshape(op.x, {5, 3, 1}); }),
           "solve: x is a batch of 5 and a is a batch of 2; the batches must have the same size"},
          {bad<Solve>([](Solve& op) { reshape(op.verdict, {2, 1}); }),
           "solve: verdict is [2, 1]; it must be a vector, one number for each matrix"},
          {bad<Solve>([](Solve& op) { op.verdict.strides = Strides{2}; }),
           "solve: verdict has strides [2]; it must be contiguous"},
          {bad<Inverse>([](Inverse& op) { reshape(op.out, {2, 4, 4}); }), "inverse: out is [4, 4]; it must be [3, 3]"},
          {bad<Determinant>([](Determinant& op) { reshape(op.out, {3}); }),
           "determinant: out is a batch of 3 and a is a batch of 2; the batches must have the same size"},
          {bad<Lu>([](Lu& op) { reshape(op.pivots, {3}); }),
           "lu: pivots is [3]; it must be a vector, or a batch of vectors"},
          {bad<Lu>([](Lu& op) { reshape(op.pivots, {2, 4}); }), "lu: pivots is [4]; it must be [3]"},
          {bad<LuSolve>([](LuSolve& op) { op.pivots.dtype = i64; }), "lu_solve: pivots is i64; it must be i32"},
          {bad<Cholesky>([](Cholesky& op) { reshape(op.l, {2, 3, 4}); }), "cholesky: l is [3, 4]; it must be [3, 3]"},
          {bad<CholeskySolve>([](CholeskySolve& op) { reshape(op.l, {2, 3, 4}); }),
           "cholesky_solve: l is [3, 4]; it must be square"},
          {bad<Qr>([](Qr& op) { reshape(op.r, {2, 4, 3}); }), "qr: r is [4, 3]; it must be [3, 3]"},
          {bad<LeastSquares>([](LeastSquares& op) { reshape(op.x, {2, 4, 1}); }),
           "least_squares: x is [4, 1]; it must be [3, 1]"},
          {bad<Svd>([](Svd& op) { op.s.dtype = f64; }), "svd: s is f64; it must be f32"},
          {bad<Svd>([](Svd& op) { reshape(op.vt, {2, 4, 3}); }), "svd: u is [4, 3]; it must be [4, 4]"},
          {bad<Eigh>([](Eigh& op) { reshape(op.w, {2, 4}); }), "eigh: w is [4]; it must be [3]"},

          // ---- sparse: the matrix ----
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.indices.dtype = f32; }),
           "csr: indices is f32; it must be i32 or i64"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.rows = -3; }),
           "csr: the matrix is -3 x 4; with i32 indices it must have 0 to 2147483647 rows and columns"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.block = 2; }),
           "csr: the block size is 2; it must be 1, because the matrix is CSR"},
          {bad<SparseFillBlocks>([](SparseFillBlocks& op) { op.to.block = 2000; }),
           "convert: the block size is 2000; it must be 1 to 1024"},
          {bad<SparseFillBlocks>([](SparseFillBlocks& op) { op.to.block = 3; }),
           "convert: the block size is 3 and the matrix is 4 x 4; the block size must divide both"},
          {bad<SparseAdopt>([](SparseAdopt& op) { reshape(op.matrix.indices, {5, 1}); }),
           "csr: indices is [5, 1]; it must be a vector"},
          {bad<SparseAdopt>([](SparseAdopt& op) { reshape(op.matrix.indices, {1LL << 31}); }),
           "csr: there are 2147483648 elements; i32 indices can count 2147483647: use i64 indices"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.columns = 0; }),
           "csr: the matrix is 3 x 0 and there are 5 indices; there must be none"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.offsets.dtype = i64; }),
           "csr: offsets is i64; it must be i32"},
          {bad<SparseAdopt>([](SparseAdopt& op) { reshape(op.matrix.offsets, {3}); }),
           "csr: offsets is [3]; it must be [4], one more than there are rows"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.format = SparseFormat::csc; }),
           "csc: offsets is [4]; it must be [5], one more than there are columns"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.format = SparseFormat::coo; }),
           "coo: row_indices is [4]; it must be [5], one for each column index"},
          {bad<SparseFillBlocks>([](SparseFillBlocks& op) { reshape(op.to.offsets, {5}); }),
           "convert: offsets is [5]; it must be [3], one more than there are rows of blocks"},
          {bad<SparseAdopt>([](SparseAdopt& op) { op.matrix.indices.strides = Strides{2}; }),
           "csr: indices has strides [2]; it must be contiguous"},
          {bad<SparseToDense>([](SparseToDense& op) { op.matrix.values.dtype = i32; }),
           "to_dense: values is i32; it must be f32, f64, c64 or c128", kUnsupported},
          {bad<SparseToDense>([](SparseToDense& op) { reshape(op.matrix.values, {4}); }),
           "to_dense: values is [4]; it must be [5], one for each index"},
          {bad<SparseFillBlocks>([](SparseFillBlocks& op) { reshape(op.to.values, {8}); }),
           "convert: values is [8]; it must be [2, 2, 2], one block for each index"},

          // ---- sparse: what is done with it ----
          {bad<SparseAdopt>([](SparseAdopt& op) { reshape(op.offsets, {5}); }),
           "csr: offsets is i32[5] and its copy is i32[4]; they must have the same type and shape"},
          {bad<SparseAdopt>([](SparseAdopt& op) { reshape(op.verdict, {1}); }), "csr: verdict is [1]; it must be [8]"},
          {bad<SparseMultiply>([](SparseMultiply& op) { op.x.dtype = f64; }),
           "multiply: x is f64; it must have the type of the matrix, f32"},
          {bad<SparseMultiply>([](SparseMultiply& op) { reshape(op.x, {4, 2, 1}); }),
           "multiply: x is [4, 2, 1]; it must be a vector or a matrix"},
          {bad<SparseMultiply>([](SparseMultiply& op) { reshape(op.x, {3, 2}); }),
           "multiply: x is [3, 2]; it must have 4 rows, because the matrix is 3 x 4"},
          {bad<SparseMultiply>([](SparseMultiply& op) { reshape(op.y, {3, 5}); }),
           "multiply: x is [4, 2] and y is [3, 5]; they must have the same number of columns"},
          {bad<SparseMultiply>([](SparseMultiply& op) { op.beta = Scalar(kNaN); }),
           "multiply: beta is NaN; it must be a number"},
          {bad<SparseSolve>([](SparseSolve& op) { op.matrix.columns = 4; }),
           "solve: the matrix is 3 x 4; it must be square"},
          {bad<SparseSolve>([](SparseSolve& op) { reshape(op.b, {4}); }),
           "solve: b is [4]; it must have 3 rows, because the matrix is 3 x 3"},
          {bad<SparseSolve>([](SparseSolve& op) { op.alpha = Scalar(Complex(0, 1)); }),
           "solve: alpha is 0+1i; arrays of f32 need a real alpha"},
          {bad<SparseSddmm>([](SparseSddmm& op) { reshape(op.a, {6}); }), "sddmm: a is [6]; it must be a matrix"},
          {bad<SparseSddmm>([](SparseSddmm& op) { reshape(op.b, {3, 4}); }),
           "sddmm: a is [3, 2] and b is [3, 4]; a must have as many columns as b has rows"},
          {bad<SparseSddmm>([](SparseSddmm& op) { reshape(op.b, {2, 5}); }),
           "sddmm: the matrix is 3 x 4; a [3, 2] times b [2, 5] makes [3, 5]"},
          {bad<SparseConvert>([](SparseConvert& op) {
             op.to.format = SparseFormat::csr;
             reshape(op.to.offsets, {4});
           }),
           "convert: from is CSR and to is CSR; one op converts CSR to or from COO and CSC, and BSR to CSR"},
          {bad<SparseConvert>([](SparseConvert& op) { op.to.rows = 5; }),
           "convert: from is 3 x 4 and to is 5 x 4; they must have the same extents"},
          {bad<SparseConvert>([](SparseConvert& op) { op.to.values.dtype = f64; }),
           "convert: from is f32 with i32 indices and to is f64 with i32 indices; they must have the same types"},
          {bad<SparseConvert>([](SparseConvert& op) {
             reshape(op.to.indices, {6});
             reshape(op.to.values, {6});
           }),
           "convert: from has 5 elements and to has 6; they must have the same number"},
          {bad<SparseToDense>([](SparseToDense& op) { reshape(op.out, {4, 3}); }),
           "to_dense: out is [4, 3]; it must be [3, 4]"},
          {bad<SparseCountDense>([](SparseCountDense& op) { op.dense.dtype = i32; }),
           "from_dense: dense is i32; it must be f32, f64, c64 or c128", kUnsupported},
          {bad<SparseCountDense>([](SparseCountDense& op) { reshape(op.dense, {12}); }),
           "from_dense: dense is [12]; it must be a matrix"},
          {bad<SparseCountDense>([](SparseCountDense& op) { op.offsets.dtype = u32; }),
           "from_dense: offsets is u32; it must be i32 or i64"},
          {bad<SparseCountDense>([](SparseCountDense& op) { op.total.dtype = i32; }),
           "from_dense: total is i32; it must be i64"},
          {bad<SparseFillDense>([](SparseFillDense& op) { op.matrix.format = SparseFormat::csc; }),
           "from_dense: the matrix is CSC; it must be CSR"},
          {bad<SparseCountBlocks>([](SparseCountBlocks& op) { op.block = 0; }),
           "convert: the block size is 0; it must be 1 to 1024"},
          {bad<SparseFillBlocks>([](SparseFillBlocks& op) { op.to.format = SparseFormat::csr; }),
           "convert: to is CSR; it must be BSR"},
          {bad<SparseCountProduct>([](SparseCountProduct& op) { op.b.format = SparseFormat::csc; }),
           "product: b is CSC; it must be CSR"},
          {bad<SparseCountProduct>([](SparseCountProduct& op) { op.b.values.dtype = f64; }),
           "product: a is f32 with i32 indices and b is f64 with i32 indices; they must have the same types"},
          {bad<SparseCountProduct>([](SparseCountProduct& op) { op.a.columns = 5; }),
           "product: a is 3 x 5 and b is 4 x 2; a must have as many columns as b has rows"},
          {bad<SparseFillProduct>([](SparseFillProduct& op) { op.c.columns = 5; }),
           "product: c is 3 x 5; a 3 x 4 times b 4 x 2 makes 3 x 2"},

          // ---- sparse: iterations ----
          {bad<SparseCg>([](SparseCg& op) { op.tolerance = kNaN; }), "cg: tolerance is NaN; it must be finite"},
          {bad<SparseCg>([](SparseCg& op) { op.tolerance = kInfinity; }),
           "cg: tolerance is infinite; it must be finite"},
          {bad<SparseGmres>([](SparseGmres& op) { op.tolerance = 0; }), "gmres: tolerance is 0; it must be above 0"},
          {bad<SparseCg>([](SparseCg& op) { op.rounds = 3; }), "cg: rounds is 3; it must be 1 to 2"},
          {bad<SparseCg>([](SparseCg& op) { reshape(op.next_report, {16 + 5000}); }),
           "cg: the room of the report, in rounds, is 5000; it must be 1 to 4096"},
          {bad<SparsePower>([](SparsePower& op) { op.matrix.format = SparseFormat::csc; }),
           "power: the matrix is CSC; it must be CSR: convert(matrix, SparseFormat::csr) makes one"},
          {bad<SparseBicgstab>([](SparseBicgstab& op) { reshape(op.b, {4}); }), "bicgstab: b is [4]; it must be [3]"},
          {bad<SparseCg>([](SparseCg& op) { op.preconditioner.dtype = f64; }),
           "cg: preconditioner is f64; it must be f32"},
          {bad<SparseCg>([](SparseCg& op) { op.preconditioning = Preconditioning::jacobi; }),
           "cg: preconditioner is [5]; it must be [3]"},
          {bad<SparseCg>([](SparseCg& op) { op.preconditioner.strides = Strides{2}; }),
           "cg: preconditioner has strides [2]; it must be contiguous"},
          {bad<SparseCg>([](SparseCg& op) { op.state.dtype = f64; }), "cg: state is f64; it must be f32"},
          {bad<SparseCg>([](SparseCg& op) { reshape(op.state, {2, 3}); }), "cg: state is [2, 3]; it must be [3, 3]"},
          {bad<SparseCg>([](SparseCg& op) { op.state.strides = Strides{6, 2}; }),
           "cg: state has strides [6, 2]; it must be contiguous"},
          {bad<SparseCg>([](SparseCg& op) { op.next_state.dtype = f64; }), "cg: next_state is f64; it must be f32"},
          {bad<SparseCg>([](SparseCg& op) { reshape(op.next_state, {2, 3}); }),
           "cg: next_state is [2, 3]; it must be [3, 3]"},
          {bad<SparseCg>([](SparseCg& op) { op.next_state.strides = Strides{6, 2}; }),
           "cg: next_state has strides [6, 2]; it must be contiguous"},
          {bad<SparseGmres>([](SparseGmres& op) { op.scratch.dtype = f64; }), "gmres: scratch is f64; it must be f32"},
          {bad<SparseGmres>([](SparseGmres& op) { reshape(op.scratch, {4, 3}); }),
           "gmres: scratch is [4, 3]; it must be [5, 3]"},
          {bad<SparseGmres>([](SparseGmres& op) { op.scratch.strides = Strides{6, 2}; }),
           "gmres: scratch has strides [6, 2]; it must be contiguous"},
          {bad<SparseCg>([](SparseCg& op) { op.report.dtype = f32; }), "cg: report is f32; it must be f64"},
          {bad<SparseCg>([](SparseCg& op) { reshape(op.report, {20}); }), "cg: report is [20]; it must be [18]"},
          {bad<SparseCg>([](SparseCg& op) { op.report.strides = Strides{2}; }),
           "cg: report has strides [2]; it must be contiguous"},
          {bad<SparseCg>([](SparseCg& op) { op.next_report.dtype = f32; }), "cg: next_report is f32; it must be f64"},
          {bad<SparseLanczos>([](SparseLanczos& op) { reshape(op.next_report, {20}); }),
           "lanczos: next_report is [20]; it must be [18]"},
          {bad<SparseCg>([](SparseCg& op) { op.next_report.strides = Strides{2}; }),
           "cg: next_report has strides [2]; it must be contiguous"},
          {bad<SparseLanczos>([](SparseLanczos& op) { op.basis = 4; }), "lanczos: basis is 4; it must be 1 to 3"},
          {bad<SparseLanczos>([](SparseLanczos& op) { op.wanted = 2; }),
           "lanczos: the number of eigenvalues is 2; it must be 1 to 1"},
          {bad<SparseLanczos>([](SparseLanczos& op) {
             op.matrix.rows = op.matrix.columns = 0;
             reshape(op.matrix.offsets, {1});
             reshape(op.matrix.indices, {0});
             reshape(op.matrix.values, {0});
           }),
           "lanczos: the matrix is 0 x 0; it must have a row"},
          {bad<SparseIlu0>([](SparseIlu0& op) { reshape(op.out, {3}); }), "ilu0: out is [3]; it must be [5]"},

          // ---- plugin ----
          {bad<PluginCall>([](PluginCall& op) { op.path.clear(); }),
           "call_plugin: the path has 0 bytes; it must have 1 to 4096"},
          {bad<PluginCall>([](PluginCall& op) { op.function.assign(5000, 'f'); }),
           "call_plugin: the name of the function has 5000 bytes; it must have 1 to 4096"},
          {bad<PluginCall>([](PluginCall& op) { op.parameters.resize(5000); }),
           "call_plugin: there are 5000 bytes of parameters; it takes at most 4096"},
          {bad<PluginCall>([](PluginCall& op) { op.arrays.resize(17, op.arrays[0]); }),
           "call_plugin: there are 17 arrays; it takes at most 16"},
      },
      joined(joined(joined(tensor_refusals(), fft_refusals()), joined(random_refusals(), primitives_refusals())),
             joined(jit_refusals(), dnn_refusals())));
  return kRefusals;
}

TEST(Refusals, read_as_they_stand_in_the_table) {
  for (const Refusal& row : refusals()) {
    const Error refused = refusal_of(row.make());
    EXPECT_EQ(refused.message(), row.text);
    EXPECT_EQ(name(refused.kind()), name(row.kind)) << row.text;
  }
}

}  // namespace troupe::op
