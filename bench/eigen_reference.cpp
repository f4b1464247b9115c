#include "bench/eigen_reference.hpp"

#include "bench/bench.hpp"

#if TROUPE_HAS_EIGEN

#define EIGEN_NO_DEBUG  // it is not to check its arguments while it is measured
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include "bench/plate_sample.hpp"
#include "bench/sparse_sample.hpp"

namespace troupe::bench {
namespace {

using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> mapped(const SparseSample& sample) {
  return {sample.rows,           sample.rows,           static_cast<Eigen::Index>(sample.columns.size()),
          sample.offsets.data(), sample.columns.data(), sample.values.data()};
}

template <class Numbers>
Numbers numbers(Eigen::Index rows, Eigen::Index columns, std::uint32_t seed) {
  const std::vector<float> all = random_numbers(static_cast<std::size_t>(rows * columns), seed);
  return Eigen::Map<const Numbers>(all.data(), rows, columns);
}

}  // namespace

double eigen_multiply_ns(int rows, int columns, int count) {
  const SparseSample sample = SparseSample::make(rows, kSparsePerRow);
  const Eigen::Map<const Matrix> matrix = mapped(sample);
  const auto multiplied_ns = [&]<class Numbers>(const Numbers& x) {
    Numbers y(rows, columns);
    return settled_median_ns(count, [&] { y.noalias() = matrix * x; });
  };
  return columns == 1 ? multiplied_ns(numbers<Vector>(rows, 1, 1)) : multiplied_ns(numbers<Dense>(rows, columns, 1));
}

double eigen_solve_ns(int rows, int columns, int count) {
  const SparseSample sample = SparseSample::make_lower(rows, kSparsePerRow);
  const Eigen::Map<const Matrix> matrix = mapped(sample);
  const auto solved_ns = [&]<class Numbers>(const Numbers& b) {
    Numbers x(rows, columns);
    return settled_median_ns(count, [&] {
      x = b;
      matrix.triangularView<Eigen::Lower>().solveInPlace(x);
    });
  };
  return columns == 1 ? solved_ns(numbers<Vector>(rows, 1, 1)) : solved_ns(numbers<Dense>(rows, columns, 1));
}

double eigen_sample_ns(int rows, int columns, int count) {
  const SparseSample sample = SparseSample::make(rows, kSparsePerRow);
  const Dense a = numbers<Dense>(rows, columns, 1);
  const Eigen::MatrixXf b = numbers<Dense>(columns, rows, 2);
  std::vector<float> values(sample.columns.size());
  return settled_median_ns(count, [&] {
    for (int i = 0; i < rows; ++i)
      for (int k = sample.offsets[static_cast<std::size_t>(i)]; k < sample.offsets[static_cast<std::size_t>(i) + 1];
           ++k) {
        const auto at = static_cast<std::size_t>(k);
        values[at] = a.row(i).transpose().dot(b.col(sample.columns[at]));
      }
  });
}

double eigen_product_ns(int rows, int count) {
  const SparseSample sample = SparseSample::make(rows, kSparsePerRow);
  const Eigen::Map<const Matrix> matrix = mapped(sample);
  return settled_median_ns(count, [&] { const Matrix product = matrix * matrix; });
}

double eigen_cg_round_ns(int side, int count) {
  const PlateSample sample = PlateSample::make(side);
  const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix =
      Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>(
          sample.rows, sample.rows, static_cast<Eigen::Index>(sample.columns.size()), sample.offsets.data(),
          sample.columns.data(), sample.values.data());
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Lower | Eigen::Upper,
                           Eigen::IdentityPreconditioner>
      solver(matrix);
  solver.setMaxIterations(kCgRounds);
  solver.setTolerance(1e-300);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(sample.rows);
  Eigen::VectorXd x(sample.rows);
  return settled_median_ns(count, [&] { x = solver.solve(b); }) / kCgRounds;
}

}  // namespace troupe::bench

#else

namespace troupe::bench {

double eigen_multiply_ns(int, int, int) { return kNotMeasured; }
double eigen_solve_ns(int, int, int) { return kNotMeasured; }
double eigen_sample_ns(int, int, int) { return kNotMeasured; }
double eigen_product_ns(int, int) { return kNotMeasured; }
double eigen_cg_round_ns(int, int) { return kNotMeasured; }

}  // namespace troupe::bench

#endif
