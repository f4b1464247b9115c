// The program of the README. A plugin dereferences null: its worker dies, the call gives a typed error, and the next op
// runs on data that was there before. README.md shows everything below this comment, and a test compares the two.
#include <filesystem>
#include <iostream>

#include "troupe/troupe.hpp"

using namespace troupe;

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));  // a GPU where there is one, else the CPU
  Array<float> x = value(device.array<float>({3}));
  value(device.write(x, std::vector<float>{3, 4, 12}).get());

  const auto plugin = std::filesystem::canonical("/proc/self/exe").replace_filename("libcareless.so");
  const Result<void> crash = device.call_plugin(plugin, "look_up", {reads(x)}).get();
  const std::string_view why = crash.error().message();
  std::cout << name(crash.error().kind()) << ": " << why.substr(0, why.find('\n')) << "\n";  // below it: a backtrace

  const float length = value(device.blas().nrm2(x).get());  // in another process
  std::cout << "the next op: x is " << length << " long\n";
  return length == 13 ? 0 : 1;
}
