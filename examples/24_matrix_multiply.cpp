// Matrix multiplication: c = alpha a b + beta c. A transposed matrix is a view, so there are no flags. Shapes and types
// are checked before anything is sent.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

bool shows(const Device& device, const char* what, const Array<float>& c, const std::vector<float>& expected) {
  const HostArray<float> read = value(device.read(c).get());
  std::printf("%-18s", what);
  for (const float element : read) std::printf(" %g", static_cast<double>(element));
  std::printf("\n");
  return std::vector<float>(read.begin(), read.end()) == expected;
}

int main() {
  System system;
  Device device = value(system.device(0));
  const Blas blas = device.blas();
  Array<float> a = value(device.array<float>({2, 3}));
  Array<float> b = value(device.array<float>({3, 2}));
  Array<float> c = value(device.array<float>({2, 2}));
  value(device.write(a, std::vector<float>{1, 2, 3, 4, 5, 6}).get());
  value(device.write(b, std::vector<float>{1, 0, 0, 1, 1, 1}).get());

  value(blas.gemm(a, b, c).get());
  bool holds = shows(device, "a b:", c, {4, 5, 10, 11});
  value(blas.gemm(a, a.transpose(), c).get());
  holds &= shows(device, "a a^T:", c, {14, 32, 32, 77});
  value(blas.gemm(a, b, c, {.alpha = 2.0, .beta = 1.0}).get());
  holds &= shows(device, "2 a b + c:", c, {22, 42, 52, 99});
  value(blas.axpy(-1.0, value(c.select(0, 0)), value(c.select(0, 1))).get());
  holds &= shows(device, "row 1 -= row 0:", c, {22, 42, 30, 57});

  for (const Result<void>& wrong : {blas.gemm(a, a, c).get(), blas.gemm(a, b, a).get(), blas.gemm(c, c, c).get(),
                                    blas.gemm(value(device.array<double>({2, 3})), b, c).get()}) {
    std::printf("refused: %s\n", wrong ? "it was not" : wrong.error().to_string().c_str());
    holds &= !wrong && wrong.error().kind() == ErrorKind::invalid_argument;
  }
  return holds ? 0 : 1;
}
