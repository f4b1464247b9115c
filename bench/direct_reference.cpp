#include "bench/direct_reference.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/batches.hpp"

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

}  // namespace troupe::bench
