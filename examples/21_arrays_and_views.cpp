// Arrays and views: an array is a cheap handle to memory of the device; slices, transposes and reshapes are views of
// the same memory, without a copy. Every view is checked when it is made, every op before it is sent.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

std::string text_of(const HostArray<float>& array) {
  std::string text = array.shape().to_string() + " =";
  for (const float element : array) text += ' ' + std::to_string(static_cast<int>(element));
  return text;
}

bool show(const Device& device, const char* what, const Result<Array<float>>& view,
          const std::vector<float>& expected) {
  const HostArray<float> read = value(device.read(value(view)).get());
  std::printf("%-28s %s\n", what, text_of(read).c_str());
  return std::vector<float>(read.begin(), read.end()) == expected;
}

bool refused(const char* what, const Result<void>& result) {
  std::printf("%-28s %s\n", what, result ? "was not refused" : result.error().to_string().c_str());
  return !result && result.error().kind() == ErrorKind::invalid_argument;
}

Result<void> slice_too_far(const Array<float>& m) {
  TROUPE_TRY(m.slice(1, 0, 9));
  return {};
}

int main() {
  System system;
  Device device = value(system.device(0));
  Array<float> m = value(device.array<float>({2, 6}));
  std::vector<float> elements(12);
  std::iota(elements.begin(), elements.end(), 0.0f);
  value(device.write(m, elements).get());

  bool holds = show(device, "the array:", m, elements);
  holds &= show(device, "odd columns:", m.slice(1, 1, 6, 2), {1, 3, 5, 7, 9, 11});
  holds &= show(device, "row 1:", m.select(0, 1), {6, 7, 8, 9, 10, 11});
  holds &= show(device, "reshaped:", m.reshape({3, -1}), elements);
  holds &= show(device, "columns 0 and 1, transposed:", value(m.slice(1, 0, 2)).transpose(), {0, 6, 1, 7});
  holds &= show(device, "row 0 backwards:", value(m.select(0, 0)).slice(0, 5, -1, -1), {5, 4, 3, 2, 1, 0});
  holds &= show(device, "column 0, three times:", value(m.slice(1, 0, 1)).broadcast({2, 3}), {0, 0, 0, 6, 6, 6});

  // A view is the same memory: writing one writes the other.
  value(device.fill(value(m.slice(1, 1, 6, 2)), -1.0f).get());
  holds &= show(device, "odd columns filled with -1:", m, {0, -1, 2, -1, 4, -1, 6, -1, 8, -1, 10, -1});

  holds &= refused("a slice too far:", slice_too_far(m));
  holds &= refused("writing a broadcast:", device.fill(value(value(m.slice(1, 0, 1)).broadcast({2, 3})), 1.0f).get());
  holds &= refused("copying [2, 6] to [6, 2]:", device.copy(m, value(device.array<float>({6, 2}))).get());

  const std::uint64_t before = device.stats().memory.used_bytes;
  Array<float> row = value(m.select(0, 0));
  m = {};  // the view still owns the memory
  const std::uint64_t with_the_view = device.stats().memory.used_bytes;
  row = {};
  const std::uint64_t after = device.stats().memory.used_bytes;
  std::printf("bytes used: %lu, with only the view left %lu, without %lu\n", static_cast<unsigned long>(before),
              static_cast<unsigned long>(with_the_view), static_cast<unsigned long>(after));
  return holds && before == with_the_view && after == 0 ? 0 : 1;
}
