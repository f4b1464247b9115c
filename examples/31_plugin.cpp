// Plugins: ops of your own, in a shared object that the worker loads (troupe/plugin.h, examples/plugins/). Each call
// says what it does with each array; Troupe orders by it. What the plugin says no to is an ordinary error.
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Parameters {  // as examples/plugins/sort_plugin.cpp has it
  std::int32_t descending;
};

/// What a user writes once per function: the typed front of a call.
Call<void> sort_rows(const Device& device, const Array<float>& matrix, bool descending) {
  static const std::string path =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libsort_plugin.so").string();
  const Parameters parameters{descending ? 1 : 0};
  return device.call_plugin(path, "sort_rows", {updates(matrix)}, std::as_bytes(std::span(&parameters, 1)));
}

bool reads_as(const Device& device, const char* what, const Array<float>& array, const std::vector<float>& expected) {
  const HostArray<float> read = value(device.read(array).get());
  std::printf("%-24s", what);
  for (const float element : read) std::printf(" %g", static_cast<double>(element));
  std::printf("\n");
  return std::vector<float>(read.begin(), read.end()) == expected;
}

int main() {
  System system;
  Device device = value(system.device("host"));
  Array<float> matrix = value(device.array<float>({2, 3}));
  value(device.write(matrix, std::vector<float>{3, 1, 2, 6, 5, 4}).get());

  value(sort_rows(device, matrix, false).get());
  bool holds = reads_as(device, "rows sorted:", matrix, {1, 2, 3, 4, 5, 6});
  value(sort_rows(device, matrix, true).get());
  holds &= reads_as(device, "rows, descending:", matrix, {3, 2, 1, 6, 5, 4});
  value(sort_rows(device, matrix.transpose(), true).get());  // a view: the plugin follows its strides
  holds &= reads_as(device, "columns, descending:", matrix, {6, 5, 4, 3, 2, 1});

  const Result<void> wrong = sort_rows(device, value(matrix.reshape({6})), false).get();
  std::printf("a vector:                %s\n", wrong ? "was sorted" : wrong.error().to_string().c_str());
  holds &= !wrong && wrong.error().kind() == ErrorKind::invalid_argument && wrong.error().origin().native_code == 2;

  const Result<void> missing = device.call_plugin("/nowhere/plugin.so", "f").get();
  std::printf("a plugin that is not:    %s\n", missing ? "was called" : missing.error().to_string().c_str());
  holds &= !missing && missing.error().kind() == ErrorKind::invalid_argument;
  std::printf("the worker of generation %ld did all of it\n", static_cast<long>(device.generation()));
  return holds && device.generation() == 1 ? 0 : 1;
}
