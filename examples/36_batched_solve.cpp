// Many small systems at once: an array of rank 3 is a batch of matrices. Factors are kept for more right-hand sides, a
// chain is submitted without waiting, and one singular matrix is named by its number.
#include <cmath>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kBatch = 1000;
constexpr std::int64_t kSize = 3;

/// Matrix i is (i + 1) on the diagonal and 1 above it.
std::vector<float> systems() {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < kBatch; ++i)
    for (std::int64_t row = 0; row < kSize; ++row)
      for (std::int64_t column = 0; column < kSize; ++column)
        elements.push_back(row == column ? static_cast<float>(i + 1) : row < column ? 1.0f : 0.0f);
  return elements;
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const Solver solver = device.solver();
  Array<float> a = value(device.array<float>({kBatch, kSize, kSize}));
  Array<float> lu = value(device.array<float>({kBatch, kSize, kSize}));
  Array<std::int32_t> pivots = value(device.array<std::int32_t>({kBatch, kSize}));
  Array<float> b = value(device.array<float>({kBatch, kSize}));
  Array<float> x = value(device.array<float>({kBatch, kSize}));

  value(device.write(a, systems()).submit());
  value(device.fill(b, 1.0f).submit());
  value(solver.lu(a, lu, pivots).submit());
  const Result<void> solved = solver.lu_solve(lu, pivots, b, x).get();
  if (!solved) {
    std::printf("%s\n", solved.error().to_string().c_str());
    return solved.error().kind() != ErrorKind::unsupported && solved.error().kind() != ErrorKind::buffer_tainted;
  }
  const HostArray<float> found = value(device.read(x).get());
  const float last = found.at({kBatch - 1, kSize - 1});
  std::printf("the last unknown of the last of %d systems is %g\n", static_cast<int>(kBatch),
              static_cast<double>(last));

  std::vector<float> spoilt = systems();
  for (std::int64_t i = 0; i < kSize * kSize; ++i) spoilt[static_cast<std::size_t>(500 * kSize * kSize + i)] = 1.0f;
  value(device.write(a, spoilt).get());
  const Result<void> refused = solver.solve(a, b, x).get();
  std::printf("%s\n", refused ? "solved" : refused.error().to_string().c_str());
  std::printf("x afterwards: %s\n", device.read(x).get() ? "good" : "tainted");
  return std::abs(last - 0.001f) > 1e-6f || refused || refused.error().kind() != ErrorKind::numerical_error;
}
