#include "bench/direct_linear.hpp"

#include <stdexcept>
#include <vector>

#include "bench/bench.hpp"
#include "bench/numbers.hpp"
#include "bench/worker_processes.hpp"
#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/solver/lapack.hpp"
#include "troupe/backend/host/team/team_size.hpp"

namespace troupe::bench {
namespace {

/// Nanoseconds for `work(lapack, matrix)` on a copy of `numbers`.
template <class Work>
double in_place_ns(const std::vector<float>& numbers, int count, const Work& work) {
  const Result<const host::Lapack<float>*> lapack = host::lapack<float>();
  if (!lapack) return kNotMeasured;
  const host::LibraryThreads::Many all(host::open_blas()->lapack->threads, host::team_size_limit());
  std::vector<float> matrix(numbers.size());
  const double ns = settled_median_ns(count, [&] {
    matrix = numbers;
    work(**lapack, matrix.data());
  });
  wait_until_all_rest();  // its threads look for more work for a while
  return ns;
}

void check_info(int info) {
  if (info != 0) throw std::runtime_error("LAPACK answered " + std::to_string(info));
}

std::size_t squared(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

}  // namespace

double direct_lu_ns(int n, int count) {
  std::vector<int> pivots(static_cast<std::size_t>(n));
  return in_place_ns(random_numbers(squared(n), 1), count, [&](const host::Lapack<float>& lapack, float* matrix) {
    int info = 0;
    lapack.getrf(&n, &n, matrix, &n, pivots.data(), &info);
    check_info(info);
  });
}

double direct_cholesky_ns(int n, int count) {
  return in_place_ns(positive_matrix(n), count, [&](const host::Lapack<float>& lapack, float* matrix) {
    int info = 0;
    lapack.potrf("U", &n, matrix, &n, &info, 1);  // rows are columns for LAPACK, and the lower triangle its upper one
    check_info(info);
  });
}

double direct_svd_ns(int n, int count) {
  std::vector<float> u(squared(n)), vt(squared(n)), s(static_cast<std::size_t>(n)), work(1);
  std::vector<int> more_work(8 * static_cast<std::size_t>(n));
  int work_size = -1;  // asks for it
  return in_place_ns(random_numbers(squared(n), 1), count, [&](const host::Lapack<float>& lapack, float* matrix) {
    int info = 0;
    const auto decompose = [&] {
      lapack.gesdd("S", &n, &n, matrix, &n, s.data(), u.data(), &n, vt.data(), &n, work.data(), &work_size,
                   more_work.data(), &info, 1);
      check_info(info);
    };
    if (work_size < 0) {
      decompose();
      work_size = static_cast<int>(work.front());
      work.resize(static_cast<std::size_t>(work_size));
    }
    decompose();
  });
}

double direct_gemm_ns(int n, int count) {
  using host::BlasLibrary;
  const BlasLibrary* const blas = host::open_blas();
  if (!blas) return kNotMeasured;
  const host::LibraryThreads::Many all(blas->library->threads, host::team_size_limit());
  const std::vector<float> a = random_numbers(squared(n), 1), b = random_numbers(squared(n), 2);
  std::vector<float> c(squared(n));
  const double ns = settled_median_ns(count, [&] {
    blas->s.gemm(BlasLibrary::kRowMajor, BlasLibrary::kNoTranspose, BlasLibrary::kNoTranspose, n, n, n, 1, a.data(), n,
                 b.data(), n, 0, c.data(), n);
  });
  wait_until_all_rest();
  return ns;
}

double direct_sparse_multiply_ns(int rows, int count) {
  const SparseSample sample = SparseSample::make(rows, kSparsePerRow);
  const std::vector<float> x = random_numbers(static_cast<std::size_t>(rows), 1);
  std::vector<float> y(x.size());
  return settled_median_ns(count, [&] {
    for (std::size_t row = 0; row < y.size(); ++row) {
      float sum = 0;
      for (auto i = static_cast<std::size_t>(sample.offsets[row]);
           i < static_cast<std::size_t>(sample.offsets[row + 1]); ++i)
        sum += sample.values[i] * x[static_cast<std::size_t>(sample.columns[i])];
      y[row] = sum;
    }
  });
}

}  // namespace troupe::bench
