// Chains without waiting: ops are executed as if in the order in which they are submitted, so a chain needs no waits
// in between: submit, submit, await the last. An error in the chain is not lost: what the failed op writes is tainted,
// and whoever reads it, or anything made from it, ends in `buffer_tainted`.
#include <cstdio>
#include <filesystem>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kSize = 64;

/// Squares a matrix again and again; only the read is awaited.
Task<Result<float>> power(Device device, int squarings, float first) {
  Array<float> a = CO_TRY(device.array<float>({kSize, kSize}));
  CO_TRY(device.fill(a, first).submit());  // what is wrong beforehand is known here
  for (int i = 0; i < squarings; ++i) {
    Array<float> squared = CO_TRY(device.array<float>({kSize, kSize}));
    CO_TRY(device.blas().gemm(a, a, squared).submit());
    a = std::move(squared);  // the op under way keeps the old one
  }
  HostArray<float> out = CO_TRY(co_await device.read(a));
  co_return out[0];
}

std::string plugin_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
}

/// A chain whose second link fails in the worker. Nobody waits for it, and yet nobody reads garbage.
bool an_error_in_the_chain(const Device& device) {
  Array<float> a = value(device.array<float>({8}));
  Array<float> b = value(device.array<float>({8}));
  value(device.fill(a, 1.0f).submit());
  value(device.call_plugin(plugin_path(), "scale", {updates(a)}).submit());  // fails, later: its factor is missing
  value(device.copy(a, b).submit());
  const Result<HostArray<float>> read = device.read(b).get();
  std::printf("at the end of a broken chain: %s\n", read ? "a value" : read.error().to_string().c_str());

  value(device.fill(a, 2.0f).submit());  // writing it whole makes it good again
  value(device.copy(a, b).submit());
  const Result<HostArray<float>> again = device.read(b).get();
  std::printf("written anew: %s\n", again ? std::to_string((*again)[0]).c_str() : again.error().to_string().c_str());
  return !read && read.error().kind() == ErrorKind::buffer_tainted && again && (*again)[0] == 2.0f;
}

int main() {
  System system;
  Device device = value(system.device("host"));
  // A matrix of 1/64 is its own square.
  const Result<float> result = system.run(power(device, 5, 1.0f / kSize));
  std::printf("five squarings, one wait: %g\n", static_cast<double>(value(result)));
  return *result == 1.0f / kSize && an_error_in_the_chain(device) ? 0 : 1;
}
