// Pi by throwing darts, and the same darts again: from the generator's value, in other pieces, and after the worker was
// killed. Each gives the same sum, bit for bit.
#include <cstdio>
#include <numbers>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kDarts = 1 << 20;

// example: Random, Generator
/// How many of `count` darts hit the quarter of a circle; the generator moves on by two numbers for each.
Result<double> hits(const Device& device, Generator& generator, std::int64_t count) {
  Scope on(device);
  const auto xy = on.uniform<float>({count, 2}, generator);
  const auto squares = on.sum(xy * xy, 1);
  const auto inside = on.sum(squares < 1.0F);
  const HostArray<std::int64_t> out = TROUPE_TRY(on.read(inside).get());
  return static_cast<double>(out[0]);
}
// end

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device(0));

  Generator generator(2026);
  const Generator start = generator;  // a value: enough to draw all of it again
  const double all = value(hits(device, generator, kDarts));
  const double pi = 4 * all / kDarts;
  std::printf("pi is about %.5f after %ld darts; the generator is at position %ld\n", pi, static_cast<long>(kDarts),
              static_cast<long>(generator.position()));

  Generator again = start;
  const double replayed = value(hits(device, again, kDarts));
  std::printf("replayed:            %s\n", replayed == all ? "the same" : "different");

  Generator in_pieces = start;
  double sum = 0;
  for (const std::int64_t darts : {std::int64_t{1}, std::int64_t{1000}, kDarts - 1001})
    sum += value(hits(device, in_pieces, darts));
  std::printf("in three pieces:     %s\n", sum == all ? "the same" : "different");

  (void)device.kill_worker();
  Generator after = start;
  const double rerun = value(hits(device, after, kDarts));
  std::printf("by the next worker:  %s\n", rerun == all ? "the same" : "different");

  const bool holds = replayed == all && sum == all && rerun == all && in_pieces == generator;
  return holds && std::abs(pi - std::numbers::pi) < 0.01 ? 0 : 1;
}
