// Copies and casts: `copy` takes any strides but one type and one shape, `cast` converts as well. Conversions are those
// of `convert`, on every backend: to whole numbers they truncate and saturate, to smaller floats they round.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

bool refused(const char* what, const Result<void>& result) {
  std::printf("%-22s %s\n", what, result ? "was not refused" : result.error().to_string().c_str());
  return !result && result.error().kind() == ErrorKind::invalid_argument;
}

/// From f32 to `T` on the device, and back to the app.
template <Element T>
std::vector<T> cast_to(const Device& device, const Array<float>& from) {
  Array<T> to = value(device.array<T>(from.shape()));
  value(device.cast(from, to).get());
  const HostArray<T> read = value(device.read(to).get());
  return {read.begin(), read.end()};
}

int main() {
  System system;
  Device device = value(system.device(0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> numbers = {1.5f, 2.5f, -300.0f, 300.0f, nan, 1e30f};
  Array<float> from = value(device.array<float>({6}));
  value(device.write(from, numbers).get());

  std::printf("f32:  ");
  for (const float number : numbers) std::printf(" %g", static_cast<double>(number));
  std::printf("\ni8:   ");
  const std::vector<std::int8_t> bytes = cast_to<std::int8_t>(device, from);
  for (const std::int8_t byte : bytes) std::printf(" %d", byte);
  std::printf("\nbf16: ");
  const std::vector<bf16> halves = cast_to<bf16>(device, from);
  for (const bf16 half : halves) std::printf(" %g", static_cast<double>(static_cast<float>(half)));
  std::printf("\n");
  // What the device does is what `convert` does in the app.
  bool holds = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    holds &= bytes[i] == convert<std::int8_t>(numbers[i]);
    const auto half = static_cast<float>(halves[i]), ours = static_cast<float>(convert<bf16>(numbers[i]));
    holds &= half == ours || (std::isnan(half) && std::isnan(ours));
  }

  // Every second element into the first half of another array.
  Array<float> to = value(device.array<float>({6}));
  value(device.fill(to, 0.0f).get());
  value(device.copy(value(from.slice(0, 0, 6, 2)), value(to.slice(0, 0, 3))).get());
  const HostArray<float> read = value(device.read(to).get());
  std::printf("a strided copy: %g %g %g\n", static_cast<double>(read[0]), static_cast<double>(read[1]),
              static_cast<double>(read[3]));
  holds &= read[0] == 1.5f && read[1] == -300.0f && std::isnan(read[2]) && read[3] == 0.0f;

  holds &= refused("another type:", device.copy(from, value(device.array<double>({6}))).get());
  holds &= refused("overlapping:", device.copy(value(from.slice(0, 0, 4)), value(from.slice(0, 2, 6))).get());
  return holds ? 0 : 1;
}
