#include "bench/direct_reference.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/batches.hpp"
#include "bench/bench.hpp"
#include "bench/worker_processes.hpp"
#include "troupe/backend/host/openblas.hpp"

namespace troupe::bench {

double malloc_and_free_ns(int count) {
  constexpr int kPerBatch = 100;
  return median_ns(count / kPerBatch, kPerBatch, [] {
    void* volatile block = std::malloc(64);  // volatile: the compiler may drop an allocation nobody looks at
    std::free(block);
  });
}

double memcpy_bytes_per_s(std::size_t size_bytes, int count) {
  const std::vector<std::byte> from(size_bytes, std::byte{1});
  std::vector<std::byte> to(size_bytes, std::byte{2});
  const double ns = median_ns(count, 1, [&] { std::memcpy(to.data(), from.data(), size_bytes); });
  return static_cast<double>(size_bytes) / ns * 1e9;
}

double direct_gemm_flops(int n, int count) {
  using host::OpenBlas;
  const OpenBlas* const blas = host::open_blas();
  if (!blas) return kNotMeasured;
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::vector<float> a(elements, 1), b(elements, 2);
  std::vector<float> c(elements);
  const auto multiply = [&] {
    blas->s.gemm(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, OpenBlas::kNoTranspose, n, n, n, 1, a.data(), n, b.data(),
                 n, 0, c.data(), n);
  };
  multiply();
  const double ns = median_ns(count, 1, multiply);
  wait_until_all_rest();  // its threads look for more work for a while
  return 2.0 * n * n * n / ns * 1e9;
}

}  // namespace troupe::bench
