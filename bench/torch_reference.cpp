#include "bench/torch_reference.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "bench/bench.hpp"
#include "bench/stopwatch.hpp"

namespace troupe::bench {
namespace {

constexpr char kScript[] = R"(
import statistics, sys, time
import torch
def einsum(case):
    text, *letters = case.split(";")
    extents = {letter[0]: int(letter[1:]) for letter in letters}
    a, b = (torch.rand([extents[letter] for letter in operand], device="cuda") - 0.5
            for operand in text.split("->")[0].split(","))
    return lambda: torch.einsum(text, a, b)
def gemm(extent):
    a, b, c = (torch.rand([extent] * 2, device="cuda") - 0.5 for _ in "abc")
    return lambda: torch.mm(a, b, out=c)
def copy_in(size_bytes):
    here, there = pinned_and_device(size_bytes)
    return lambda: there.copy_(here, non_blocking=True)
def copy_out(size_bytes):
    here, there = pinned_and_device(size_bytes)
    return lambda: here.copy_(there, non_blocking=True)
def network(what):
    nn, grad = torch.nn.functional, torch.ops.aten.convolution_backward
    def normal(*shape):
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    if what == "convolution_f32":
        torch.backends.cudnn.allow_tf32 = False
        x, w = torch.randn(8, 256, 56, 56, device="cuda"), torch.randn(256, 256, 3, 3, device="cuda")
        return lambda: nn.conv2d(x, w, padding=1)
    if what.startswith("convolution"):
        x, y = (normal(32, 256, 56, 56).to(memory_format=torch.channels_last) for _ in "xy")
        w = normal(256, 256, 3, 3).to(memory_format=torch.channels_last)
        if what == "convolution":
            return lambda: nn.conv2d(x, w, padding=1)
        wanted = [what == "convolution_input", what == "convolution_filter", False]
        return lambda: grad(y, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, wanted)
    q, k, v, dy = (normal(8, 16, 4096, 128).requires_grad_(name != "d") for name in "qkvd")
    if what == "attention":
        return lambda: nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    y = nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    return lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True)
def pinned_and_device(size_bytes):
    here = torch.zeros(size_bytes, dtype=torch.uint8).pin_memory()
    return here, torch.zeros(size_bytes, dtype=torch.uint8, device="cuda")
def once(op):
    begin = time.perf_counter_ns()
    op()
    torch.cuda.synchronize()
    return time.perf_counter_ns() - begin
for line in sys.stdin:
    what, size, count = line.split()
    op = globals()[what](size if what in ("einsum", "network") else int(size))
    settled = time.perf_counter_ns() + 100_000_000
    while count != "1" and time.perf_counter_ns() < settled:
        once(op)
    print(statistics.median(once(op) for _ in range(int(count))), flush=True)
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
                          .arguments = {"python3", "-c", kScript},
                          .descriptors = {{0, theirs.get()}, {1, theirs.get()}, {2, nothing.get()}},
                          .environment = {}});
  if (child) child_ = std::move(*child);
}

double Torch::ns(const std::string& what, const std::string& size, int count) {
  std::string line = what + " " + size + " " + std::to_string(count) + "\n";
  if (!child_ || send(talk_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return kNotMeasured;
  line.clear();
  for (char next = 0; next != '\n'; line += next)
    if (read(talk_.get(), &next, 1) != 1) return kNotMeasured;  // it has ended: there is no PyTorch, or no GPU for it
  return std::strtod(line.c_str(), nullptr);
}

double torch_first_op_ms() {
  const Stopwatch stopwatch;
  Torch torch;
  const double first_ns = torch.gemm_ns(1, 1);
  return first_ns == first_ns ? stopwatch.ns() / 1e6 : kNotMeasured;
}

}  // namespace troupe::bench
