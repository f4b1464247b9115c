// Least squares: a line through points that lie on none, and what is said when the columns do not determine it. The
// singular values tell why.
#include <cmath>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Line {
  double offset;
  double slope;
};

/// y = offset + slope x, as close to all points as can be.
Task<Result<Line>> fit(Device device, const std::vector<double>* x, const std::vector<double>* y) {
  const auto n = static_cast<std::int64_t>(x->size());
  std::vector<double> rows;
  for (const double at : *x) {
    rows.push_back(1);
    rows.push_back(at);
  }
  Array<double> a = CO_TRY(device.array<double>({n, 2}));
  Array<double> b = CO_TRY(device.array<double>({n}));
  Array<double> line = CO_TRY(device.array<double>({2}));
  CO_TRY(co_await device.write(a, rows));
  CO_TRY(co_await device.write(b, *y));
  CO_TRY(co_await device.solver().least_squares(a, b, line));
  const HostArray<double> found = CO_TRY(co_await device.read(line));
  co_return Line{found[0], found[1]};
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const std::vector<double> x{0, 1, 2, 3, 4};
  const std::vector<double> y{1.1, 2.9, 5.2, 6.8, 9.0};
  const Result<Line> line = system.run(fit(device, &x, &y));
  if (!line) {
    std::printf("%s\n", line.error().to_string().c_str());
    return line.error().kind() != ErrorKind::unsupported;  // there may be no OpenBLAS
  }
  std::printf("y = %.3f + %.3f x\n", line->offset, line->slope);

  const std::vector<double> same{2, 2, 2, 2, 2};  // every line through one point is as good as another
  const Result<Line> none = system.run(fit(device, &same, &y));
  std::printf("with one x only: %s\n", none ? "a line" : none.error().to_string().c_str());

  Array<double> a = value(device.array<double>({2, 2}));
  Array<double> s = value(device.array<double>({2}));
  value(device.write(a, std::vector<double>{1, 2, 1, 2}).get());
  value(device.solver().singular_values(a, s).get());
  const HostArray<double> values = value(device.read(s).get());
  std::printf("singular values of its columns: %.3f and %.3f\n", values[0], values[1]);
  return std::abs(line->offset - 1.06) > 1e-9 || std::abs(line->slope - 1.97) > 1e-9 || none ||
         none.error().kind() != ErrorKind::numerical_error;
}
