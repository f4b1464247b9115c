// Host arrays: memory that this process and the workers share. The app uses it like a vector, ops use it like any
// array, and a transfer from or to it is one copy. It outlives workers as device memory does.
#include <cstdio>
#include <numeric>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

int main() {
  System system;
  Device device = value(system.device(0));
  Array<int> on_device = value(device.array<int>({2, 3}));

  // From a vector: the elements are copied before write() returns, so the vector may go at once.
  value(device.write(on_device, std::vector<int>{1, 2, 3, 4, 5, 6}).get());

  // read() makes a fresh host array; its elements are in row-major order, whatever the strides were.
  HostArray<int> out = value(device.read(on_device.transpose()).get());
  std::printf("read the transpose: shape %s, [2, 1] is %d, the sum is %d\n", out.shape().to_string().c_str(),
              out.at({2, 1}), std::accumulate(out.begin(), out.end(), 0));
  bool holds = out.at({2, 1}) == 6 && out[1] == 4;

  // Made once and used again: no allocation per transfer.
  HostArray<int> staging = value(device.host_array<int>({2, 3}));
  for (int round = 1; round <= 3; ++round) {
    for (int& element : staging) element = round;
    value(device.write(on_device, staging).get());  // leave staging alone until this has ended
    for (int& element : staging) element = 0;
    value(device.read(on_device, staging).get());
    holds &= staging[5] == round;
  }
  std::printf("three rounds through the same staging array, the last one says %d\n", staging[5]);

  // It is an array too: ops take it as it is, and see what the app wrote.
  value(device.fill(value(staging.slice_rows(1, 2)), 7).get());
  std::printf("row 1 filled by the device: %d %d %d | %d %d %d\n", staging[0], staging[1], staging[2], staging[3],
              staging[4], staging[5]);
  return holds && staging[2] == 3 && staging[3] == 7 ? 0 : 1;
}
