#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "troupe/library/conformance.test.hpp"
#include "troupe/library/sparse/sparse.hpp"

namespace troupe {
namespace {

template <class T>
Result<Triplets<T>> read(const std::string& text, const MatrixMarketLimits& limits = {}) {
  std::istringstream in(text);
  return read_matrix_market<T>(in, limits);
}

void expect_refused(const std::string& text, std::string_view words, const MatrixMarketLimits& limits = {}) {
  const Result<Triplets<double>> result = read<double>(text, limits);
  ASSERT_FALSE(result) << text;
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().message();
}

using Real = std::vector<Triplet<double>>;
using Complex = std::vector<Triplet<std::complex<double>>>;

TEST(MatrixMarket, reads_what_it_says_of_itself) {
  const Triplets<double> matrix = value(
      read<double>("%%MatrixMarket matrix coordinate real general\n% a comment\n\n 3 4 2\r\n1 1 2.5\n\n3 4 -1e-3\n"));
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 4);
  EXPECT_EQ(matrix.elements, (Real{{0, 0, 2.5}, {2, 3, -1e-3}}));
}

TEST(MatrixMarket, reads_all_fields_and_symmetries) {
  EXPECT_EQ(value(read<double>("%%MatrixMarket MATRIX Coordinate Integer symmetric\n2 2 2\n1 1 7\n2 1 +3")).elements,
            (Real{{0, 0, 7}, {1, 0, 3}, {0, 1, 3}}));
  EXPECT_EQ(value(read<double>("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n")).elements,
            (Real{{0, 1, 1}}));
  EXPECT_EQ(value(read<double>("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n")).elements,
            (Real{{1, 0, 3}, {0, 1, -3}}));
  using C = std::complex<double>;
  EXPECT_EQ(value(read<C>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n")).elements,
            (Complex{{0, 0, C(1, 0)}, {1, 0, C(3, 4)}, {0, 1, C(3, -4)}}));
  EXPECT_EQ(value(read<C>("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n")).elements,
            (Complex{{0, 0, C(5, 0)}}));
}

TEST(MatrixMarket, names_the_line_that_is_wrong) {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  expect_refused("", "line 1: the file must begin with");
  expect_refused("%%MatrixMarket matrix coordinate real\n", "line 1");
  expect_refused("%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n",
                 "line 1: \"quaternion\" must be one of real");
  expect_refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "a hermitian matrix must be complex");
  expect_refused("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "read as c64 or c128");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
                 "line 2: the matrix is 2 x 3; a symmetric matrix must be square");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
                 "line 3: (1, 2) is not in the lower");
  expect_refused(header + "2 2\n", "line 2");
  expect_refused(header + "2 -2 0\n", "line 2: a number is negative");
  expect_refused(header + "2 2 1\n1 x 1\n", "line 3: \"x\" must be a number");
  expect_refused(header + "2 2 1\n1 1\n", "line 3: the element has 2 numbers; it must have 3");
  expect_refused(header + "2 2 1\n1 3 1\n", "line 3: (1, 3) is outside the matrix of 2 x 2");
  expect_refused(header + "2 2 1\n0 1 1\n", "(0, 1) is outside");
  expect_refused(header + "2 2 2\n1 1 1\n", "line 4: the file ends; it must have 2 elements");
  expect_refused(header + "2 2 1\n1 1 1\n2 2 1\n", "line 4: there is another element; the file says that it has 1");
  expect_refused(header + "2 2 1\n1 1 " + std::string(2000, '1') + "\n", "line 3: the line has more than 1024 bytes");
  expect_refused(header + "99999999999999999999 1 1\n", "must be a number");
  const Result<Triplets<double>> dense = read<double>("%%MatrixMarket matrix array real general\n1 1\n1\n");
  EXPECT_EQ(dense.error().kind(), ErrorKind::unsupported);
}

TEST(MatrixMarket, refuses_what_is_beyond_the_limits_before_it_takes_memory) {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  expect_refused(header + "5 5 1000000000000000\n", "5 x 5 with 1000000000000000 elements; the limits are");
  expect_refused(header + "9000000000000 5 1\n", "the limits are");
  expect_refused(header + "5 5 3\n1 1 1\n", "the limits are", {.elements = 2});
}

TEST(MatrixMarket, comes_back_through_a_file_and_a_device) {
  const Device& device = *conformance::Devices::instance().find("host");
  const std::string path = ::testing::TempDir() + "troupe_matrix_market_" + std::to_string(getpid()) + ".mtx";
  using C = std::complex<float>;
  const Triplets<C> matrix{3, 5, {{0, 4, C(0.1F, -1e-30F)}, {2, 0, C(1.0F / 3, 3e30F)}}};
  const SparseMatrix there = value(device.sparse().from_triplets(matrix));
  value(device.sparse().save(there, path).get());
  const SparseMatrix again = value(device.sparse().load<C>(path));
  EXPECT_EQ(again.columns(), 5);
  EXPECT_EQ(value(device.sparse().triplets<C>(again).get()).elements, matrix.elements);
  std::filesystem::remove(path);
  EXPECT_EQ(device.sparse().load<C>(path).error().kind(), ErrorKind::invalid_argument);
  EXPECT_FALSE(device.sparse().save(there, "/no/such/folder/m.mtx").get());
}

}  // namespace
}  // namespace troupe
