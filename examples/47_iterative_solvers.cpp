// Conjugate gradients in one call: the device does the rounds, and says when it is done. The matrix is that of a plate
// that is warmed evenly and kept cold at its edges. 41_conjugate_gradients.cpp writes the same loop by hand.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

Result<SparseMatrix> plate(const Device& device, std::int64_t side) {
  std::vector<Triplet<double>> elements;
  for (std::int64_t i = 0; i < side * side; ++i) {
    elements.push_back({i, i, 4.0});
    if (i >= side) elements.push_back({i, i - side, -1.0});
    if (i + side < side * side) elements.push_back({i, i + side, -1.0});
    if (i % side > 0) elements.push_back({i, i - 1, -1.0});
    if (i % side + 1 < side) elements.push_back({i, i + 1, -1.0});
  }
  return device.sparse().from_triplets(side * side, side * side, elements);
}

Task<Result<Solved>> solve(Device device, SparseMatrix a, Array<double> b, Array<double> x) {
  const Preconditioner by = CO_TRY(co_await device.sparse().ic0(a));
  const Solved plain = CO_TRY(co_await device.sparse().cg(a, b, x, {.tolerance = 1e-8}));
  const Solved end = CO_TRY(co_await device.sparse().cg(a, b, x, {.tolerance = 1e-8}, by));
  std::printf("%lld rounds, and %lld with ic0\n", static_cast<long long>(plain.rounds),
              static_cast<long long>(end.rounds));
  co_return end;
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));  // GPUs do not have these yet
  constexpr std::int64_t kSide = 100;
  const SparseMatrix a = value(plate(device, kSide));
  const Array<double> b = value(device.array<double>({kSide * kSide})), x = value(device.array<double>(b.shape()));
  value(device.fill(b, 1.0).get());
  const Solved end = value(system.run(solve(device, a, b, x)));
  std::printf("%s, residual %.1e\n", std::string(name(end.stopped)).c_str(), end.residual);

  const FoundEigenvalues smallest =
      value(device.sparse().lanczos(a, 2, {.tolerance = 1e-6, .which = Extreme::smallest}).get());
  std::printf("the slowest patterns fade with %.6f and %.6f\n", smallest.values[0], smallest.values[1]);
  return end.converged() && smallest.converged() ? 0 : 1;
}
