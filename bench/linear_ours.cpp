#include "bench/linear_ours.hpp"

#include <stdexcept>

#include "bench/bench.hpp"
#include "bench/plate_sample.hpp"

namespace troupe::bench {
namespace {

Array<float> laid_out(const Array<float>& array, LinearOurs::Layout layout) {
  return layout == LinearOurs::Layout::in_rows ? array : array.transpose();
}

}  // namespace

LinearOurs::LinearOurs(const std::string& device)
    : system_({.threads = 1, .log = log_nothing()}),
      device_(value(system_.device(device, {.standby = Standby::none}))) {}

LinearOurs::~LinearOurs() { device_.close(); }

template <class T>
Array<T> LinearOurs::numbers(const Shape& shape, std::uint32_t seed) const {
  const Array<float> made = value(device_.array<float>(shape));
  value(device_.write(made, random_numbers(static_cast<std::size_t>(value(element_count(shape))), seed)).get());
  if constexpr (std::is_same_v<T, float>) {
    return made;
  } else {
    const Array<T> rounded = value(device_.array<T>(shape));
    value(device_.cast(made, rounded).get());
    return rounded;
  }
}

double LinearOurs::gemm_ns(DType dtype, int n, int count) {
  const auto measure = [&]<class T>(std::type_identity<T>) {
    const Array<T> a = numbers<T>({n, n}, 1);
    const Array<T> b = numbers<T>({n, n}, 2);
    const Array<T> c = value(device_.array<T>({n, n}));
    return settled_median_ns(count, [&] { value(device_.blas().gemm(a, b, c).get()); });
  };
  if (dtype == DType::f16) return measure(std::type_identity<f16>{});
  if (dtype == DType::bf16) return measure(std::type_identity<bf16>{});
  throw std::invalid_argument("no gemm of that type is measured");
}

double LinearOurs::batched_gemm_ns(int batch, int n, int count) {
  const Array<float> a = numbers({batch, n, n}, 1);
  const Array<float> b = numbers({batch, n, n}, 2);
  const Array<float> c = value(device_.array<float>({batch, n, n}));
  return settled_median_ns(count, [&] { value(device_.blas().gemm(a, b, c).get()); });
}

double LinearOurs::layer_ns(DType dtype, int n, int count) {
  const auto measure = [&]<class T>(std::type_identity<T>) {
    const Array<T> x = numbers<T>({n, n}, 1);
    const Array<T> w = numbers<T>({n, n}, 2);
    const Array<bf16> bias = numbers<bf16>({n}, 3);
    const Array<bf16> y = value(device_.array<bf16>({n, n}));
    const MatmulOptions options{.activation = Activation::gelu_tanh, .bias = &bias};
    return settled_median_ns(count, [&] { value(device_.matmul().multiply(x, w.transpose(), y, options).get()); });
  };
  if (dtype == DType::bf16) return measure(std::type_identity<bf16>{});
  if (dtype == DType::f8e4m3) return measure(std::type_identity<f8e4m3>{});
  throw std::invalid_argument("no layer of that type is measured");
}

double LinearOurs::einsum_ns(int extent, int count) {
  const Shape shape{extent, extent, extent, extent};
  const Array<float> a = numbers(shape, 1);
  const Array<float> b = numbers(shape, 2);
  const Array<float> c = value(device_.array<float>(shape));
  return settled_median_ns(count, [&] { value(device_.tensor().einsum("abcd,cdef->abef", a, b, c).get()); });
}

double LinearOurs::measured_einsum_ns(const EinsumCase& einsum, int count) {
  const auto [in_a, in_b, in_c] = einsum.operands();
  const Array<float> a = numbers(Shape(einsum.shape_of(in_a)), 1);
  const Array<float> b = numbers(Shape(einsum.shape_of(in_b)), 2);
  const Array<float> c = value(device_.array<float>(Shape(einsum.shape_of(in_c))));
  const Tensor tensor = device_.tensor();
  const Result<void> there = tensor.einsum(einsum.text, a, b, c, {.engine = TensorEngine::cutensor}).get();
  if (!there && there.error().kind() == ErrorKind::unsupported) return kNotMeasured;
  return settled_median_ns(count, [&] { value(tensor.einsum(einsum.text, a, b, c, {.autotune = true}).get()); });
}

double LinearOurs::lu_ns(int n, int count, Layout layout) {
  const Array<float> a = laid_out(numbers({n, n}, 1), layout);
  const Array<float> lu = laid_out(value(device_.array<float>({n, n})), layout);
  const Array<std::int32_t> pivots = value(device_.array<std::int32_t>({n}));
  return settled_median_ns(count, [&] { value(device_.solver().lu(a, lu, pivots).get()); });
}

double LinearOurs::cholesky_ns(int n, int count, Layout layout) {
  const Array<float> numbers = value(device_.array<float>({n, n}));
  value(device_.write(numbers, positive_matrix(n)).get());
  const Array<float> a = laid_out(numbers, layout);
  const Array<float> l = laid_out(value(device_.array<float>({n, n})), layout);
  return settled_median_ns(count, [&] { value(device_.solver().cholesky(a, l).get()); });
}

double LinearOurs::svd_ns(int n, int count) {
  const Array<float> a = numbers({n, n}, 1);
  const Array<float> u = value(device_.array<float>({n, n}));
  const Array<float> s = value(device_.array<float>({n}));
  const Array<float> vt = value(device_.array<float>({n, n}));
  return settled_median_ns(count, [&] { value(device_.solver().svd(a, u, s, vt).get()); });
}

double LinearOurs::batched_qr_ns(int batch, int n, int count) {
  const Array<float> a = numbers({batch, n, n}, 1);
  const Array<float> q = value(device_.array<float>({batch, n, n}));
  const Array<float> r = value(device_.array<float>({batch, n, n}));
  return settled_median_ns(count, [&] { value(device_.solver().qr(a, q, r).get()); });
}

template <class Sample>
SparseMatrix LinearOurs::matrix_of(const Sample& sample) const {
  const auto there = [&]<class T>(const std::vector<T>& numbers) {
    const Array<T> made = value(device_.array<T>({static_cast<std::int64_t>(numbers.size())}));
    value(device_.write(made, numbers).get());
    return made;
  };
  return value(device_.sparse()
                   .csr(sample.rows, sample.rows, there(sample.offsets), there(sample.columns), there(sample.values))
                   .get());
}

double LinearOurs::sparse_multiply_ns(int columns, int count, int rows) {
  const SparseMatrix matrix = matrix_of(SparseSample::make(rows, kSparsePerRow));
  const Array<float> x = numbers(dense_shape(rows, columns), 1);
  const Array<float> y = value(device_.array<float>(x.shape()));
  return settled_median_ns(count, [&] { value(device_.sparse().multiply(matrix, x, y).get()); });
}

double LinearOurs::sparse_solve_ns(int rows, int columns, int count) {
  const SparseMatrix matrix = matrix_of(SparseSample::make_lower(rows, kSparsePerRow));
  const Array<float> b = numbers(dense_shape(rows, columns), 1);
  const Array<float> x = value(device_.array<float>(b.shape()));
  return settled_median_ns(count, [&] { value(device_.sparse().solve(matrix, b, x).get()); });
}

double LinearOurs::sparse_sample_ns(int rows, int columns, int count) {
  const SparseMatrix matrix = matrix_of(SparseSample::make(rows, kSparsePerRow));
  const Array<float> a = numbers({rows, columns}, 1);
  const Array<float> b = numbers({columns, rows}, 2);
  return settled_median_ns(count, [&] { value(device_.sparse().sddmm(a, b, matrix).get()); });
}

double LinearOurs::sparse_product_ns(int rows, int count) {
  const SparseMatrix matrix = matrix_of(SparseSample::make(rows, kSparsePerRow));
  return settled_median_ns(count, [&] { value(device_.sparse().product(matrix, matrix).get()); });
}

double LinearOurs::cg_round_ns(int side, int count) {
  const SparseMatrix matrix = matrix_of(PlateSample::make(side));
  const Array<double> b = value(device_.array<double>({matrix.rows()})), x = value(device_.array<double>(b.shape()));
  value(device_.fill(b, 1.0).get());
  const SolveOptions options{.tolerance = 1e-300, .max_rounds = kCgRounds};
  return settled_median_ns(count, [&] { value(device_.sparse().cg(matrix, b, x, options).get()); }) / kCgRounds;
}

double LinearOurs::cg_round_by_scope_ns(int side, int count) {
  const SparseMatrix a = matrix_of(PlateSample::make(side));
  const Array<double> b = value(device_.array<double>({a.rows()})), x = value(device_.array<double>(b.shape()));
  value(device_.fill(b, 1.0).get());
  return settled_median_ns(count,
                           [&] {
                             Scope on(device_);
                             on.assign(x, 0.0 * b);
                             const Array<double> r = on.eval(b + 0.0), p = on.eval(b + 0.0),
                                                 ap = on.array<double>(b.shape());
                             Array<double> rr = on.sum(r * r);
                             for (int round = 0; round < kCgRounds; ++round) {
                               on.run(device_.sparse().multiply(a, p, ap));
                               const Array<double> alpha = on.eval(rr / on.sum(p * ap));
                               on.assign(x, x + alpha * p);
                               on.assign(r, r - alpha * ap);
                               const Array<double> next = on.sum(r * r);
                               on.assign(p, r + next / rr * p);
                               rr = next;
                             }
                             value(on.read(rr).get());
                           }) /
         kCgRounds;
}

}  // namespace troupe::bench
