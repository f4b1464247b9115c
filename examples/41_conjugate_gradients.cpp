// Conjugate gradients in a scope: every number stays on the device, and only now and then the program looks how far it
// has come. The matrix is that of a plate that is warmed evenly and kept cold at its edges.
#include <cmath>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

/// Solves a x = b from x = 0: how many rounds it took until the residual was that small.
Task<Result<int>> conjugate_gradients(Scope& on, SparseMatrix a, Array<double> b, Array<double> x, double tolerance) {
  on.assign(x, 0.0 * b);
  const Array<double> r = on.copy(b), p = on.copy(b);
  Array<double> rr = on.sum(r * r);
  for (int round = 1;; ++round) {
    const Array<double> ap = on.multiply(a, p);
    const Array<double> alpha = on.eval(rr / on.sum(p * ap));
    on.assign(x, x + alpha * p);
    on.assign(r, r - alpha * ap);
    const Array<double> next = on.sum(r * r);
    if (round % 10 == 0 && CO_TRY(co_await on.read(next))[0] < tolerance * tolerance) co_return round;
    on.assign(p, r + next / rr * p);
    rr = next;
  }
}

Result<SparseMatrix> plate(const Device& device, std::int64_t side) {
  std::vector<Triplet<double>> elements;
  for (std::int64_t row = 0; row < side; ++row)
    for (std::int64_t column = 0; column < side; ++column) {
      const std::int64_t here = row * side + column;
      elements.push_back({here, here, 4.0});
      if (row > 0) elements.push_back({here, here - side, -1.0});
      if (row + 1 < side) elements.push_back({here, here + side, -1.0});
      if (column > 0) elements.push_back({here, here - 1, -1.0});
      if (column + 1 < side) elements.push_back({here, here + 1, -1.0});
    }
  return device.sparse().from_triplets(side * side, side * side, elements);
}

Task<Result<double>> solve(Device device, std::int64_t side) {
  const SparseMatrix a = CO_TRY(plate(device, side));
  Scope on(device);
  const auto b = on.full<double>({side * side}, 1.0);
  const auto x = on.array<double>({side * side});
  const int rounds = CO_TRY(co_await conjugate_gradients(on, a, b, x, 1e-8));
  const double off = CO_TRY(co_await on.read(on.norm(b - on.multiply(a, x))))[0];
  std::printf("%lld unknowns, %d rounds, off by %.1e\n", static_cast<long long>(side * side), rounds, off);
  co_return off;
}

int main() {
  System system({.log = log_nothing()});
  const Result<double> off = system.run(solve(value(system.device(0)), 100));
  if (!off) std::printf("%s\n", off.error().to_string().c_str());
  return off && *off < 1e-7 ? 0 : 1;
}
