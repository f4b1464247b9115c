#include "bench/raw_fault.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "bench/stopwatch.hpp"
#include "troupe/core/result.hpp"
#include "troupe/wire/run_child.hpp"

#if TROUPE_CUDA_BACKEND
#include "bench/raw_cuda_parts.hpp"
#endif

namespace troupe::bench {
namespace {

constexpr Duration kPatience = std::chrono::seconds(20);

#if TROUPE_CUDA_BACKEND

/// Below every address that is ever mapped.
constexpr CUdeviceptr kBadAddress = 16;

/// Ends the process: nothing of CUDA works in it any more, not even its end.
[[noreturn]] void fail_and_print(const std::string& gpu) {
  const std::unique_ptr<cuda::CudaContext> context = value(cuda::CudaContext::create(gpu));
  const cuda::Driver& driver = context->driver();
  const RawStream stream(*context);
  const RawMemory good(*context, 64);
  const CUfunction write_at = load_raw_kernel(driver, "write_at");
  const auto launch = [&](CUdeviceptr address) {
    void* arguments[] = {&address};
    TROUPE_RAW(driver, cuLaunchKernel, write_at, 1, 1, 1, 1, 1, 1, 0, stream.get(), arguments, nullptr);
  };
  launch(good.get());
  TROUPE_RAW(driver, cuCtxSynchronize);

  const Stopwatch stopwatch;
  launch(kBadAddress);
  CUresult answer = CUDA_ERROR_NOT_READY;
  while (answer == CUDA_ERROR_NOT_READY) answer = driver.table().cuStreamQuery(stream.get());
  const double ms = stopwatch.ns() / 1e6;
  if (answer == CUDA_SUCCESS) throw std::runtime_error("the bad kernel ended well");
  std::printf("%.6f\n", ms);
  std::fflush(stdout);
  _exit(0);
}

#else

[[noreturn]] void fail_and_print(const std::string&) { throw std::runtime_error("built without CUDA"); }

#endif

}  // namespace

int print_raw_fault(const std::string& gpu) {
  try {
    fail_and_print(gpu);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "troupe_bench: %s\n", problem.what());
    return 1;
  }
}

double raw_fault_ms(const std::string& gpu) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const wire::ChildAnswer answer = value(wire::run_child(self, {"--raw-fault", gpu}, {}, kPatience));
  double ms = 0;
  const auto [end, problem] = std::from_chars(answer.printed.data(), answer.printed.data() + answer.printed.size(), ms);
  if (problem != std::errc() || end == answer.printed.data())
    throw std::runtime_error("the process that was to fail " +
                             (answer.end ? answer.end->to_string() : std::string("never did")));
  return ms;
}

}  // namespace troupe::bench
