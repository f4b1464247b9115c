#include "bench/torch_reference.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "bench/bench.hpp"

namespace troupe::bench {
namespace {

constexpr char kEinsum[] = R"(
import statistics, sys, time
import torch
def once(a, b):
    begin = time.perf_counter_ns()
    torch.einsum("abcd,cdef->abef", a, b)
    torch.cuda.synchronize()
    return time.perf_counter_ns() - begin
for line in sys.stdin:
    extent, count = (int(word) for word in line.split())
    a, b = (torch.rand([extent] * 4, device="cuda") - 0.5 for _ in "ab")
    settled = time.perf_counter_ns() + 100_000_000
    while time.perf_counter_ns() < settled:
        once(a, b)
    print(statistics.median(once(a, b) for _ in range(count)), flush=True)
)";

}  // namespace

Torch::Torch() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  talk_ = wire::Descriptor(ends[0]);
  const wire::Descriptor theirs(ends[1]);
  const wire::Descriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Result<wire::Child> child =
      wire::Child::spawn({.executable = "/usr/bin/env",
                          .arguments = {"python3", "-c", kEinsum},
                          .descriptors = {{0, theirs.get()}, {1, theirs.get()}, {2, nothing.get()}},
                          .environment = {}});
  if (child) child_ = std::move(*child);
}

double Torch::einsum_ns(int extent, int count) {
  std::string line = std::to_string(extent) + " " + std::to_string(count) + "\n";
  if (!child_ || send(talk_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return kNotMeasured;
  line.clear();
  for (char next = 0; next != '\n'; line += next)
    if (read(talk_.get(), &next, 1) != 1) return kNotMeasured;  // it has ended: there is no PyTorch, or no GPU for it
  return std::strtod(line.c_str(), nullptr);
}

}  // namespace troupe::bench
