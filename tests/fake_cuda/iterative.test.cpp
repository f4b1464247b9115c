// Iterations have no kernels for GPUs yet: each says so, and the worker goes on.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeIterations : public FakeGpu {
 protected:
  Device gpu = open_gpu();
};

TEST_F(FakeIterations, say_what_to_do_instead) {
  const Sparse sparse = gpu.sparse();
  const SparseMatrix a =
      value(sparse.from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 0, 1.0}, {1, 1, 1.0}}));
  const Array<double> b = filled(gpu, {2}, 1.0), x = filled(gpu, {2}, 0.0);
  const auto expect_unsupported = [](const auto& end, std::string_view call) {
    ASSERT_FALSE(end) << call;
    EXPECT_EQ(end.error().kind(), ErrorKind::unsupported);
    const std::string_view text = end.error().message();
    EXPECT_TRUE(text.starts_with(call)) << text;
    EXPECT_NE(text.find("GPUs have no such op yet; solve on a device of the host backend"), std::string_view::npos)
        << text;
  };
  expect_unsupported(sparse.cg(a, b, x).get(), "cg");
  expect_unsupported(sparse.bicgstab(a, b, x).get(), "bicgstab");
  expect_unsupported(sparse.gmres(a, b, x).get(), "gmres");
  expect_unsupported(sparse.power(a, x).get(), "power");
  expect_unsupported(sparse.lanczos(a, 1).get(), "lanczos");
  expect_unsupported(sparse.jacobi(a).get(), "jacobi");
  expect_unsupported(sparse.ilu0(a).get(), "ilu0");
  expect_unsupported(sparse.ic0(a).get(), "ic0");
  EXPECT_TRUE(gpu.wait_for(x).get()) << "x was not touched";
}

}  // namespace
}  // namespace troupe
