#include "bench/torch_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "bench/bench.hpp"

namespace troupe::bench {
namespace {

constexpr char kEinsum[] = R"(
import statistics, sys, time
import torch
extent, count = int(sys.argv[1]), int(sys.argv[2])
a, b = (torch.rand([extent] * 4, device="cuda") - 0.5 for _ in "ab")
def once():
    begin = time.perf_counter_ns()
    torch.einsum("abcd,cdef->abef", a, b)
    torch.cuda.synchronize()
    return time.perf_counter_ns() - begin
settled = time.perf_counter_ns() + 100_000_000
while time.perf_counter_ns() < settled:
    once()
print(statistics.median(once() for _ in range(count)))
)";

}  // namespace

double torch_einsum_ns(int extent, int count) {
  const std::string command =
      "python3 - " + std::to_string(extent) + " " + std::to_string(count) + " 2>/dev/null <<'END'" + kEinsum + "END\n";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> child(popen(command.c_str(), "r"), pclose);
  double ns = kNotMeasured;
  if (!child || std::fscanf(child.get(), "%lf", &ns) != 1) return kNotMeasured;
  return ns;
}

}  // namespace troupe::bench
