// What tests of kernels on the CPU share: a device that compiles, launches and says why not. Kernels are compiled by
// the system's C++ compiler without any sanitizer, and so is all that switches their stacks: sanitized builds run these
// tests as any other does.
#pragma once

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {

class HostKernels : public DeviceTest {
 protected:
  void SetUp() override {
    // Where there is no compiler, that is what it says.
    const Result<Program> compiled = device.jit().compile("__global__ void f() {}").get();
    if (!compiled && compiled.error().kind() == ErrorKind::unsupported) GTEST_SKIP() << compiled.error().to_string();
    value(Result<Program>(compiled));
  }
  Program compiled(std::string source, CompileOptions options = {}) {
    return value(device.jit().compile(std::move(source), options).get());
  }
  /// What is said of a source that does not compile.
  Error refused(std::string source, CompileOptions options = {}) {
    const Result<Program> program = device.jit().compile(std::move(source), options).get();
    return program ? Error(ErrorKind::internal, "it compiled") : program.error();
  }
  template <class... Arguments>
  Result<void> launched(const Program& program, std::string_view kernel, const Grid& grid,
                        const Arguments&... arguments) {
    return device.jit().launch(program, kernel, grid, arguments...).get();
  }
  template <class... Arguments>
  void launch(const Program& program, std::string_view kernel, const Grid& grid, const Arguments&... arguments) {
    value(launched(program, kernel, grid, arguments...));
  }
  template <Element T>
  Array<T> array_of(const std::vector<T>& values) {
    Array<T> array = value(device.array<T>({static_cast<std::int64_t>(values.size())}));
    value(device.write(array, values).get());
    return array;
  }
  template <Element T>
  std::vector<T> values_of(const Array<T>& array) {
    const HostArray<T> values = value(device.read(array).get());
    return {values.begin(), values.end()};
  }
  std::vector<float> counted(std::size_t count, float step = 1) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i);
    return values;
  }

  Device device = open();
};

inline bool says(const Error& error, std::string_view text) {
  return error.message().find(text) != std::string_view::npos;
}

}  // namespace troupe
