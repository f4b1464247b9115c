// The dnn family: y = 2 x + 1 on whatever device there is, and a call that is refused with a sentence.
#include <cstdio>

#include "troupe/troupe.hpp"

using namespace troupe;

// example: Dnn
Result<float> scaled(const Device& device) {
  Array<float> x = TROUPE_TRY(device.array<float>({4, 3}));
  Array<float> y = TROUPE_TRY(device.array<float>({4, 3}));
  TROUPE_TRY(device.fill(x, 3.0f).get());
  TROUPE_TRY(device.dnn().scale(2.0, x, 1.0, y).get());
  HostArray<float> out = TROUPE_TRY(device.read(y).get());
  return out[11];
}
// end

int main() {
  System system;
  const Device device = value(system.device(0));
  const Result<float> last = scaled(device);
  std::printf("2 * 3 + 1 = %g\n", value(last));

  const Array<float> x = value(device.array<float>({4, 3}));
  const Array<double> other = value(device.array<double>({4, 3}));
  const Result<void> refused = device.dnn().scale(2.0, x, 1.0, other).get();
  std::printf("%s\n", refused ? "it was not refused" : refused.error().to_string().c_str());
  return *last == 7.0f && !refused ? 0 : 1;
}
