// Every op goes through the code that runs it on a GPU. What it would compute is the business of the conformance
// suites; here each must end well, call what it is meant to call, and leave nothing behind.
#include <complex>

#include "tests/fake_cuda/fake_gpu.test.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe {
namespace {

using Half = element_t<DType::f16>;
using Small = element_t<DType::f8e4m3>;

template <class T>
class FakeOpsOf : public FakeGpu {
 protected:
  using Real = detail::RealType<T>;

  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  Array<T> some(const Shape& shape) { return filled(gpu, shape, T(1)); }
  Array<Real> some_real(const Shape& shape) { return filled(gpu, shape, Real(1)); }
  Array<std::int32_t> some_indices(const Shape& shape) { return filled(gpu, shape, 0); }
  static void end_well(Call<void> call) {
    const Result<void> end = std::move(call).get();
    EXPECT_TRUE(end) << end.error().to_string();
  }

  Device gpu = open_gpu();
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FakeOpsOf, Types);

TYPED_TEST(FakeOpsOf, blas_on_vectors) {
  using T = TypeParam;
  const Blas blas = this->gpu.blas();
  const Array<T> x = this->some({12});
  const Array<T> y = this->some({12});
  const Array<T> strided = this->some({4, 6}).transpose();
  const Array<T> other = this->some({6, 4});
  this->end_well(blas.axpy(2.0, x, y));
  this->end_well(blas.axpy(2.0, other, strided));
  this->end_well(blas.scal(2.0, x));
  this->end_well(blas.scal(2.0, value(strided.slice(0, 0, 3))));
  this->end_well(blas.swap(x, y));
  this->end_well(blas.rot(x, y, 0.6, 0.8));
  EXPECT_TRUE(blas.dot(x, y).get());
  EXPECT_TRUE(blas.dot(strided, other, {.conjugate = true}).get());
  EXPECT_TRUE(blas.nrm2(x).get());
  EXPECT_TRUE(blas.asum(strided).get());
  EXPECT_TRUE(blas.iamax(x).get());
  EXPECT_TRUE(blas.iamin(x).get());
  for (const char* const function : {"cublasDotEx_64", "cublasDotcEx_64", "cublasNrm2Ex_64", "cublasIamaxEx_64",
                                     "cublasIaminEx_64", "cublasScalEx_64"})
    EXPECT_EQ(this->calls(function), 1) << function;
}

TYPED_TEST(FakeOpsOf, blas_on_matrices) {
  using T = TypeParam;
  const Blas blas = this->gpu.blas();
  const Array<T> a = this->some({6, 6});
  const Array<T> b = this->some({6, 6});
  const Array<T> c = this->some({6, 6});
  const Array<T> x = this->some({6});
  const Array<T> y = this->some({6});
  const Array<T> gaps = value(value(this->some({12, 12}).slice(0, 0, 12, 2)).slice(1, 0, 12, 2));
  this->end_well(blas.gemm(a, b, c));
  this->end_well(blas.gemm(a.transpose(), b, c, {.alpha = 2.0, .beta = 1.0, .conjugate_a = detail::kIsComplex<T>}));
  this->end_well(
      blas.gemm(a, b, c.transpose(), {.conjugate_a = detail::kIsComplex<T>, .conjugate_b = detail::kIsComplex<T>}));
  this->end_well(blas.gemm(a, b, c, {.conjugate_a = detail::kIsComplex<T>, .conjugate_b = detail::kIsComplex<T>}));
  this->end_well(blas.gemm(a, gaps, c));
  const Array<T> gaps_in_each = value(value(this->some({3, 12, 12}).slice(1, 0, 12, 2)).slice(2, 0, 12, 2));
  this->end_well(blas.gemm(gaps_in_each, this->some({3, 6, 6}), this->some({3, 6, 6})));
  this->end_well(blas.gemm(this->some({3, 4, 5}), this->some({3, 5, 6}), this->some({3, 4, 6})));
  this->end_well(blas.gemv(a, x, y));
  this->end_well(blas.ger(x, y, a));
  for (const Triangle triangle : {Triangle::lower, Triangle::upper})
    for (const Side side : {Side::left, Side::right}) {
      this->end_well(blas.symm(a, b, c, {.triangle = triangle, .side = side}));
      this->end_well(blas.symm(a, b, c, {.triangle = triangle, .hermitian = detail::kIsComplex<T>, .side = side}));
      this->end_well(blas.trmm(a, b, c, {.triangle = triangle, .side = side}));
      this->end_well(blas.trsm(a, b, c, {.triangle = triangle, .conjugate = detail::kIsComplex<T>, .side = side}));
      this->end_well(blas.trsm(a, gaps, c, {.triangle = triangle, .unit_diagonal = true, .side = side}));
    }
  this->end_well(blas.symm(gaps, b, c));
  this->end_well(blas.symv(a, x, y));
  this->end_well(blas.trmv(a, x, y));
  this->end_well(blas.trsv(a, x, y));
  this->end_well(blas.syrk(a, c));
  this->end_well(blas.syrk(gaps, c, {.beta = 1.0, .triangle = Triangle::upper}));
  this->end_well(blas.syr2k(a, b, c));
  if (detail::kIsComplex<T>) {
    this->end_well(blas.herk(a, c));
    this->end_well(blas.her2k(a, b, c.transpose()));
  }
  const auto zero = detail::Factor(0.0);  // then nothing goes to cuBLAS that it would not read
  this->end_well(blas.gemm(a, b, c, {.alpha = zero}));
  this->end_well(blas.gemm(this->some({3, 4, 5}), this->some({3, 5, 6}), this->some({3, 4, 6}), {.alpha = zero}));
  this->end_well(blas.symm(a, b, c, {.alpha = zero}));
  this->end_well(blas.syrk(a, c, {.alpha = zero}));
  this->end_well(blas.syr2k(a, b, c, {.alpha = zero}));
  this->end_well(blas.trmm(a, b, c, {.alpha = zero}));
  this->end_well(blas.trsm(a, b, c, {.alpha = zero}));
  this->end_well(blas.geam(a, b, c, {.alpha = zero}));
  this->end_well(blas.geam(a, b, c));
  this->end_well(blas.geam(a.transpose(), gaps, c, {.conjugate_a = detail::kIsComplex<T>}));
  const std::vector<AnyArray> as{a, a};
  const std::vector<AnyArray> bs{b, b};
  const std::vector<AnyArray> cs{c, this->some({6, 6})};
  this->end_well(blas.gemm_group(as, bs, cs));
  const std::vector<AnyArray> others{a, this->some({2, 6})};
  const std::vector<AnyArray> outs{c, this->some({2, 6})};
  this->end_well(blas.gemm_group(others, bs, outs));
}

TYPED_TEST(FakeOpsOf, solver) {
  using T = TypeParam;
  const Solver solver = this->gpu.solver();
  for (const std::int64_t n : {4, 40, 70})  // small ones of a batch go to functions for all of them
    for (const bool is_batch : {false, true}) {
      const auto shape = [&](std::initializer_list<std::int64_t> extents) {
        std::vector<std::int64_t> all;
        if (is_batch) all.push_back(3);
        all.insert(all.end(), extents);
        return Shape(std::span<const std::int64_t>(all));
      };
      const Array<T> a = this->some(shape({n, n}));
      const Array<T> b = this->some(shape({n, 2}));
      const Array<T> x = this->some(shape({n, 2}));
      const Array<T> out = this->some(shape({n, n}));
      const Array<T> tall = this->some(shape({n, n / 2}));
      const Array<T> wide = this->some(shape({n / 2, n}));
      const Array<typename TestFixture::Real> s = this->some_real(shape({n / 2}));
      const Array<typename TestFixture::Real> w = this->some_real(shape({n}));
      this->end_well(solver.solve(a, b, x));
      this->end_well(solver.solve_positive(a, b, x));
      this->end_well(solver.inverse(a, out));
      const Array<std::int32_t> pivots = this->some_indices(shape({n}));
      this->end_well(solver.lu(a, out, pivots));
      this->end_well(solver.lu_solve(a, pivots, b, x));
      this->end_well(solver.cholesky(a, out));
      this->end_well(solver.cholesky_solve(a, b, x));
      this->end_well(solver.qr(tall, this->some(shape({n, n / 2})), this->some(shape({n / 2, n / 2}))));
      this->end_well(solver.qr(tall, this->some(shape({n, n})), this->some(shape({n, n / 2}))));
      this->end_well(solver.least_squares(tall, b, this->some(shape({n / 2, 2}))));
      this->end_well(solver.least_squares(wide, this->some(shape({n / 2, 2})), x));
      for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::jacobi}) {
        this->end_well(
            solver.svd(tall, this->some(shape({n, n / 2})), s, this->some(shape({n / 2, n / 2})), {.method = method}));
        this->end_well(
            solver.svd(wide, this->some(shape({n / 2, n / 2})), s, this->some(shape({n, n})), {.method = method}));
        this->end_well(solver.singular_values(tall, s, {.method = method}));
      }
      this->end_well(solver.eigh(a, w, out));
      this->end_well(solver.eigh(a, this->some(shape({n, n})), w, out));
      this->end_well(solver.eigenvalues(a, w));
      this->end_well(solver.eigenvalues(a, out, w));
      if (is_batch)
        this->end_well(solver.determinants(a, this->some({3})));
      else
        EXPECT_TRUE(solver.determinant(a).get());
    }
  for (const char* const function :
       {"cusolverDnXgetrf", "cusolverDnXpotrf", "cusolverDnXgeqrf", "cusolverDnXgesvd", "cusolverDnXsyevBatched"})
    EXPECT_GT(this->calls(function), 0) << function;
}

TYPED_TEST(FakeOpsOf, sparse) {
  using T = TypeParam;
  const Sparse sparse = this->gpu.sparse();
  const Array<T> dense = this->some({4, 4});
  const Array<T> out = this->some({4, 4});
  const Array<T> x = this->some({4});
  const Array<T> y = this->some({4});
  for (const DType index_type : {DType::i32, DType::i64}) {
    const std::vector<Triplet<T>> elements{{0, 0, T(1)}, {1, 1, T(1)}, {2, 1, T(1)}, {3, 3, T(1)}};
    const SparseMatrix csr = value(sparse.from_triplets<T>(4, 4, elements, index_type));
    const SparseMatrix csc = value(sparse.convert(csr, SparseFormat::csc).get());
    const SparseMatrix coo = value(sparse.convert(csr, SparseFormat::coo).get());
    const SparseMatrix bsr = value(sparse.convert(csr, SparseFormat::bsr, 2).get());
    EXPECT_TRUE(sparse.convert(bsr, SparseFormat::csr).get());
    EXPECT_TRUE(sparse.convert(coo, SparseFormat::csr).get());
    for (const SparseMatrix& matrix : {csr, csc, coo, bsr}) {
      for (const bool transpose : {false, true})
        for (const bool conjugate : {false, detail::kIsComplex<T>}) {
          const SparseMultiplyOptions options{.beta = 1.0, .transpose = transpose, .conjugate = conjugate};
          this->end_well(sparse.multiply(matrix, x, y, options));
          this->end_well(sparse.multiply(matrix, dense, out.transpose(), options));
          this->end_well(sparse.solve(matrix, x, y, {.transpose = transpose, .conjugate = conjugate}));
          this->end_well(sparse.solve(matrix, dense, out, {.upper = true, .unit_diagonal = transpose}));
        }
      this->end_well(sparse.sddmm(dense, out, matrix));
      this->end_well(sparse.to_dense(matrix, out));
    }
    EXPECT_TRUE(sparse.product(csr, csc).get());
    EXPECT_TRUE(sparse.from_dense(dense, index_type).get());
  }
  const SparseMatrix empty = value(sparse.from_triplets<T>(4, 4, std::vector<Triplet<T>>{}));
  this->end_well(sparse.multiply(empty, x, y));
  this->end_well(sparse.multiply(empty, x, y, {.beta = 2.0}));
  this->end_well(sparse.solve(empty, x, y, {.unit_diagonal = true}));
  this->end_well(sparse.sddmm(dense, out, empty));
  EXPECT_TRUE(sparse.product(empty, empty).get());
  EXPECT_GT(this->calls("cusparseSpMV_preprocess"), 0) << "for a matrix that is used a second time";
  EXPECT_GT(this->calls("cusparseSpSV_updateMatrix"), 0);
}

TYPED_TEST(FakeOpsOf, sparse_matrices_from_arrays) {
  const Sparse sparse = this->gpu.sparse();
  const Array<TypeParam> values = this->some({4});
  EXPECT_TRUE(sparse.csr(4, 4, this->some_indices({5}), this->some_indices({4}), values).get());
  EXPECT_TRUE(sparse.csc(4, 4, this->some_indices({5}), this->some_indices({4}), values).get());
  EXPECT_TRUE(sparse.coo(4, 4, this->some_indices({4}), this->some_indices({4}), values).get());
  EXPECT_TRUE(sparse.bsr(4, 4, 2, this->some_indices({3}), this->some_indices({1}), this->some({1, 2, 2})).get());
}

TYPED_TEST(FakeOpsOf, tensor) {
  using T = TypeParam;
  const Tensor tensor = this->gpu.tensor();
  const Array<T> a = this->some({3, 40, 50});
  const Array<T> b = this->some({3, 50, 20});
  const Array<T> c = this->some({3, 40, 20});
  for (const TensorEngine engine :
       {TensorEngine::automatic, TensorEngine::gemm, TensorEngine::loops, TensorEngine::cutensor}) {
    this->end_well(tensor.einsum("bik,bkj->bij", a, b, c, {.engine = engine}));
    this->end_well(tensor.einsum("bik,ckj->ij", a, b, this->some({40, 20}), {.beta = 1.0, .engine = engine}));
  }
  this->end_well(tensor.einsum("bik,bkj->bij", a, b, c, {.alpha = 0.0, .engine = TensorEngine::gemm}));
  this->end_well(tensor.einsum("bij->jb", a, this->some({50, 3})));
  this->end_well(tensor.einsum("bik,bkj->jib", a, b, this->some({20, 40, 3}), {.engine = TensorEngine::gemm}));
  this->end_well(tensor.reduce(Reduction::sum, a, {1}, this->some({3, 50})));
  this->end_well(tensor.reduce(Reduction::sum, a, {0, 2}, this->some({40}), {.beta = 1.0}));
  EXPECT_TRUE(tensor.reduce(Reduction::sum, this->some({100000})).get());
  this->end_well(tensor.permute(a, {2, 0, 1}, this->some({50, 3, 40})));
  this->end_well(tensor.permute(a, {2, 0, 1}, this->some({50, 3, 40}), 2.0));
  this->end_well(tensor.unary(Unary::neg, a, this->some({3, 40, 50})));
  this->end_well(tensor.binary(Binary::add, a, this->some({50}), this->some({3, 40, 50})));
  this->end_well(tensor.binary(Binary::mul, a, 2.0, this->some({3, 40, 50})));
  this->end_well(tensor.ternary(Ternary::fma, a, 2.0, a, this->some({3, 40, 50})));
  this->end_well(tensor.evaluate(tanh(2 * a) * this->some({50}) + 1, this->some({3, 40, 50})));
  this->end_well(tensor.evaluate(2 * this->some({0}), this->some({0})));
}

class FakeOps : public FakeGpu {
 protected:
  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  static void end_well(Call<void> call) {
    const Result<void> end = std::move(call).get();
    EXPECT_TRUE(end) << end.error().to_string();
  }
  template <Element T>
  Array<T> some(const Shape& shape) {
    return filled(gpu, shape, T(1));
  }
  Device gpu = open_gpu();
};

TEST_F(FakeOps, memory_really_moves) {
  const Array<float> kept = ramp(gpu, 1000);
  const Array<float> other = value(gpu.array<float>({1000}));
  end_well(gpu.copy(kept, other));
  end_well(gpu.wait_for(other));
  EXPECT_TRUE(is_ramp(gpu, other));
  const Array<float> rows = filled(gpu, {10, 8}, 0.0f);
  const Array<float> ones = filled(gpu, {10, 16}, 1.0f);
  end_well(gpu.copy(value(ones.slice(1, 0, 4)), value(rows.slice(1, 0, 4))));
  end_well(gpu.copy(value(ones.slice(1, 8, 12)), value(rows.slice(1, 4, 8))));
  EXPECT_EQ(calls("cuMemcpy2DAsync"), 0) << "a kernel does it";
  EXPECT_TRUE(all_equal(gpu, rows, 1.0f));
  const HostArray<float> some = value(gpu.read(value(ones.slice(1, 8, 12))).get());
  EXPECT_GT(calls("cuMemcpy2DAsync"), 0) << "to the machine's memory a copy engine does it";
  EXPECT_EQ(some[0], 1.0f);
  for (const auto& check :
       {all_equal(gpu, filled(gpu, {9}, std::uint8_t{7}), std::uint8_t{7}),
        all_equal(gpu, filled(gpu, {9}, std::int16_t{7}), std::int16_t{7}), all_equal(gpu, filled(gpu, {9}, 7.0), 7.0)})
    EXPECT_TRUE(check);
  end_well(gpu.cast(rows, value(gpu.array<double>({10, 8}))));
  end_well(gpu.copy(rows.transpose(), value(gpu.array<float>({8, 10}))));
  end_well(gpu.fill(rows.transpose(), 3.0f));
  end_well(gpu.nop());
}

TEST_F(FakeOps, managed_memory_is_never_more_than_what_is_free) {
  const Array<float> managed = value(gpu.managed_array<float>({1000}));
  end_well(gpu.fill(managed, 4.0f));
  EXPECT_TRUE(all_equal(gpu, managed, 4.0f));
  page().memory_bytes = 1 << 20;
  EXPECT_EQ(kind_of(gpu.managed_array<float>({64 << 20})), ErrorKind::out_of_memory);
}

TEST_F(FakeOps, gemm_of_small_types) {
  end_well(gpu.blas().gemm(some<std::int8_t>({8, 8}), some<std::int8_t>({8, 8}), some<std::int32_t>({8, 8})));
  end_well(gpu.blas().gemm(some<std::int8_t>({3, 5}), some<std::int8_t>({5, 3}), some<std::int32_t>({3, 3})));
  const Array<float> a = some<float>({8, 8});
  end_well(gpu.blas().gemm(a, a, some<float>({8, 8}), {.compute = Compute::tf32}));
  EXPECT_GT(calls("cublasGemmEx_64"), 0);
}

TEST_F(FakeOps, matmul) {
  const Matmul matmul = gpu.matmul();
  const Array<float> a = some<float>({16, 16});
  const Array<float> b = some<float>({16, 16});
  const Array<float> d = some<float>({16, 16});
  const Array<float> c = some<float>({16, 16});
  const Array<float> pre = some<float>({16, 16});
  const Array<float> bias = some<float>({16});
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_tanh}) {
    end_well(matmul.multiply(a, b, d, {.activation = activation}));
    end_well(matmul.multiply(a, b, d, {.alpha = 0, .activation = activation}));
    end_well(matmul.multiply(a, b, d, {.activation = activation, .bias = &bias}));
    end_well(matmul.multiply(a, b, d, {.activation = activation, .bias = &bias, .preactivation = &pre}));
    end_well(matmul.multiply(a, b.transpose(), d.transpose(), {.beta = 2, .activation = activation, .c = &c}));
    end_well(matmul.gradient(a, b, d, {.activation = activation, .preactivation = &pre, .bias_gradient = &bias}));
    end_well(matmul.gradient(a, b, d, {.activation = activation, .preactivation = &pre}));
  }
  const auto half = some<Half>({16, 16});
  const auto half_pre = some<Half>({16, 16});
  const auto half_out = value(gpu.array<Half>({16, 16}));
  const auto half_bias = some<Half>({16});
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_tanh}) {
    end_well(matmul.multiply(half, half, half_out, {.activation = activation, .bias = &half_bias}));
    end_well(matmul.multiply(half, half, half_out.transpose(), {.activation = activation}));
    end_well(matmul.multiply(half, half, half_out,
                             {.activation = activation, .bias = &half_bias, .preactivation = &half_pre}));
    end_well(matmul.gradient(half, half, half_out, {.activation = activation, .preactivation = &half_pre}));
  }
  const Array<double> wide = some<double>({16, 16});
  end_well(matmul.multiply(wide, wide, some<double>({16, 16}), {.activation = Activation::gelu_tanh}));
  const auto small = some<Small>({16, 16});
  end_well(matmul.multiply(small, small.transpose(), value(gpu.array<Small>({16, 16})), {.scale_d = 2}));
  end_well(matmul.multiply(small, small, d, {.scale_a = 2}));
  end_well(matmul.multiply(some<Half>({4, 6}), some<Half>({6, 4}), some<float>({4, 4})));
  EXPECT_GT(calls("cublasLtMatmul"), 10);
}

TEST_F(FakeOps, matmul_of_batches) {
  const Matmul matmul = gpu.matmul();
  const Array<float> a = some<float>({2, 3, 16, 16});
  const Array<float> each = some<float>({2, 3, 16, 16});
  const Array<float> spread = some<float>({2, 1, 16, 16});
  const Array<float> one = some<float>({16, 16});
  const Array<float> d = some<float>({2, 3, 16, 16});
  const Array<float> c = some<float>({2, 3, 16, 16});
  const Array<float> pre = some<float>({2, 3, 16, 16});
  const Array<float> apart = value(some<float>({2, 3, 20, 16}).slice(2, 0, 16));
  const Array<float> bias = some<float>({16});
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_tanh})
    for (const Array<float>& b : {each, spread, one})
      for (const Array<float>& out : {d, apart}) {
        end_well(matmul.multiply(a, b, out, {.activation = activation, .bias = &bias}));
        end_well(matmul.multiply(a, b, out,
                                 {.alpha = 0, .beta = 2, .activation = activation, .c = &c, .preactivation = &pre}));
        end_well(matmul.gradient(a, b, out, {.activation = activation, .preactivation = &pre, .bias_gradient = &bias}));
      }
  const std::uint64_t products = calls("cublasLtMatmul");
  end_well(matmul.multiply(a, each, d));
  EXPECT_EQ(calls("cublasLtMatmul"), products + 1);  // for all six
  const auto small = some<Small>({2, 16, 16});
  end_well(matmul.multiply(small, small, some<float>({2, 16, 16})));
  const auto whole = some<std::int8_t>({2, 16, 16});
  end_well(matmul.multiply(whole, whole, value(gpu.array<std::int32_t>({2, 16, 16}))));
}

TEST_F(FakeOps, plugins_are_given_what_the_gpu_has) {
  const Array<float> a = some<float>({10});
  const Array<double> total = some<double>({1});
  end_well(bad(gpu, "sum", {reads(a), writes(total)}));
  EXPECT_TRUE(all_equal(gpu, total, 10.0));
  EXPECT_FALSE(bad(gpu, "error").get());
  EXPECT_FALSE(bad(gpu, "no_such_function").get());
  EXPECT_FALSE(gpu.call_plugin("/no/such/plugin.so", "sum").get());
}

TEST_F(FakeOps, products_of_halves) {
  const Array<Half> a = some<Half>({6, 6});
  end_well(gpu.blas().gemm(a, a, value(gpu.array<Half>({6, 6}))));
  end_well(gpu.blas().gemm(some<Half>({3, 6, 6}), some<Half>({3, 6, 6}), value(gpu.array<Half>({3, 6, 6}))));
  const std::vector<AnyArray> in{a, a};
  const std::vector<AnyArray> out{value(gpu.array<Half>({6, 6})), value(gpu.array<Half>({6, 6}))};
  end_well(gpu.blas().gemm_group(in, in, out));
  end_well(gpu.blas().gemm(some<Small>({6, 6}), some<Small>({6, 6}), value(gpu.array<Small>({6, 6}))));
}

TEST_F(FakeOps, tensors_with_conditions_and_of_small_types) {
  const Array<bool> which = filled(gpu, {8}, true);
  const Array<float> a = some<float>({8});
  end_well(gpu.tensor().ternary(Ternary::select, which, a, 2.0, some<float>({8})));
  for (const Reduction reduction :
       {Reduction::sum, Reduction::mean, Reduction::product, Reduction::min, Reduction::max, Reduction::norm})
    EXPECT_TRUE(gpu.tensor().reduce(reduction, a).get());
  const Array<Half> halves = some<Half>({4, 5, 6});
  end_well(gpu.tensor().einsum("bik,ckj->ij", halves, some<Half>({2, 6, 3}), value(gpu.array<Half>({5, 3}))));
}

TEST_F(FakeOps, tensors_of_integers_and_of_several_types) {
  using enum DType;
  const Tensor tensor = gpu.tensor();
  constexpr std::array kTypes{f32, f64, DType::f16, DType::bf16, c64, c128, boolean, i8,
                              u8,  i16, u16,        i32,         u32, i64,  u64};
  const auto written = [&](DType dtype, const Shape& shape) {
    AnyArray array = value(gpu.array(dtype, shape));
    value(gpu.fill(array, 1.0f).get());
    return array;
  };
  const auto some_of = [&](DType dtype) { return written(dtype, {40}); };
  const Array<bool> which = filled(gpu, {40}, true);
  for (const DType type : kTypes) {
    SCOPED_TRACE(name(type));
    for (const DType other : kTypes) {
      const DType all = op::promoted(type, other);
      end_well(tensor.binary(Binary::equal, some_of(type), some_of(other), some_of(boolean)));
      end_well(tensor.binary(Binary::mul, some_of(type), some_of(other), some_of(all)));
      end_well(tensor.ternary(Ternary::select, which, some_of(type), some_of(other), some_of(all)));
    }
    if (!is_integer(type) && type != boolean) continue;
    end_well(tensor.binary(Binary::bit_xor, some_of(type), 1, some_of(type)));
    end_well(tensor.unary(Unary::bit_not, some_of(type), some_of(type)));
    end_well(tensor.unary(Unary::exp, some_of(type), some_of(op::promoted(type, DType::f16))));
    end_well(tensor.reduce(Reduction::sum, written(type, {300, 400}), {0},
                           value(gpu.array(op::reduced_in(Reduction::sum, type), {400}))));
    end_well(tensor.reduce(Reduction::max, written(type, {100'000}), {0}, value(gpu.array(type, {1}))));
  }
  end_well(tensor.reduce(Reduction::any, which, {0}, value(gpu.array<bool>({1}))));
}

}  // namespace
}  // namespace troupe
