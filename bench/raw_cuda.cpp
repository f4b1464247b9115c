#if TROUPE_CUDA_BACKEND

#include "bench/raw_cuda.hpp"

#include <map>
#include <string>

#include "bench/numbers.hpp"
#include "bench/raw_blas.hpp"
#include "bench/raw_cuda_parts.hpp"

namespace troupe::bench {
struct RawCuda::Parts {
  /// Square matrices of one size.
  struct Matrices {
    Matrices(const cuda::CudaContext& context, std::size_t size_bytes)
        : a(context, size_bytes), b(context, size_bytes), c(context, size_bytes) {}
    RawMemory a, b, c;
  };

  explicit Parts(std::shared_ptr<RawGpu> shared) : gpu(std::move(shared)) {
    cuuint64_t keep_all = ~cuuint64_t{0};
    CUmemoryPool pool = nullptr;
    TROUPE_RAW(driver(), cuDeviceGetDefaultMemPool, &pool, gpu->context().device());
    TROUPE_RAW(driver(), cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
  }

  const cuda::Driver& driver() const { return gpu->driver(); }
  CUstream on() const { return gpu->stream(); }

  void launch_empty() { TROUPE_RAW(driver(), cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, on(), nullptr, nullptr); }
  /// Nanoseconds per op when `count` ops with a flag each are handed in before the last is waited for.
  template <class Op>
  double pipelined_ns(int count, const Op& op) {
    const auto run = [&](int ops) {
      for (int i = 0; i < ops; ++i) {
        op();
        gpu->flag().raise_in(on());
      }
      gpu->flag().wait_for_the_last(on());
    };
    run(count / 4 + 1);
    const Stopwatch stopwatch;
    run(count);
    return stopwatch.ns_per(count);
  }

  /// Made and filled when they are first wanted.
  Matrices& matrices_of(int n) {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const auto [found, is_new] = matrices.try_emplace(n, gpu->context(), elements * sizeof(float));
    if (is_new) {
      write(found->second.a, random_numbers(elements, 1));
      write(found->second.b, random_numbers(elements, 2));
    }
    return found->second;
  }
  void write(const RawMemory& to, const std::vector<float>& numbers) {
    gpu->write(to.get(), numbers.data(), numbers.size() * sizeof(float));
  }
  void multiply(int n, const Matrices& on_these) {
    if (!blas) blas = std::make_unique<RawBlas>(on());
    blas->multiply({.rows = n, .columns = n, .inner = n}, on_these.a.get(), on_these.b.get(), on_these.c.get());
  }

  std::shared_ptr<RawGpu> gpu;
  CUfunction empty = load_raw_kernel(driver(), "empty");
  std::map<int, Matrices> matrices;
  std::unique_ptr<RawBlas> blas;
};

std::shared_ptr<RawGpu> open_raw_gpu(const std::string& gpu) { return std::make_shared<RawGpu>(gpu); }

RawCuda::RawCuda(std::shared_ptr<RawGpu> gpu) : parts_(std::make_unique<Parts>(std::move(gpu))) {}
RawCuda::~RawCuda() = default;

double RawCuda::empty_ns(int count) {
  return settled_median_ns(count, [this] { parts_->gpu->complete([this] { parts_->launch_empty(); }); });
}

double RawCuda::flag_ns(int count) {
  return settled_median_ns(count, [this] { parts_->gpu->complete([] {}); });
}

double RawCuda::empty_with_host_function_ns(int count) {
  return settled_median_ns(count, [&raw = *parts_] {
    raw.launch_empty();
    raw.gpu->flag().raise_by_host_function_in(raw.on());
    raw.gpu->flag().wait_for_the_last(raw.on());
  });
}

double RawCuda::empty_pipelined_ns(int count) {
  return parts_->pipelined_ns(count, [this] { parts_->launch_empty(); });
}

double RawCuda::gemm_ns(int n, int count) {
  const Parts::Matrices& matrices = parts_->matrices_of(n);
  return settled_median_ns(count, [&] { parts_->gpu->complete([&] { parts_->multiply(n, matrices); }); });
}

double RawCuda::gemm_pipelined_ns(int n, int count) {
  const Parts::Matrices& matrices = parts_->matrices_of(n);
  return parts_->pipelined_ns(count, [&] { parts_->multiply(n, matrices); });
}

double RawCuda::allocate_and_free_ns(std::size_t size_bytes, int count) {
  return settled_median_ns(count, [&, &driver = parts_->driver()] {
    CUdeviceptr block = 0;
    TROUPE_RAW(driver, cuMemAllocAsync, &block, size_bytes, parts_->on());
    TROUPE_RAW(driver, cuMemFreeAsync, block, parts_->on());
  });
}

double RawCuda::copy_ns(CopyWay way, std::size_t size_bytes, int count) {
  Parts& raw = *parts_;
  const RawMemory there(raw.gpu->context(), size_bytes);
  if (way.is_pinned()) {
    const PinnedBytes here(raw.gpu->context(), size_bytes);
    const CUdeviceptr to = way.is_in() ? there.get() : here.device();
    const CUdeviceptr from = way.is_in() ? here.device() : there.get();
    return settled_median_ns(count, [&] {
      raw.gpu->complete([&] { TROUPE_RAW(raw.driver(), cuMemcpyAsync, to, from, size_bytes, raw.on()); });
    });
  }
  const HostBytes here(size_bytes);
  return settled_median_ns(count, [&] {
    if (way.is_in())
      check(raw.gpu->more().cuMemcpyHtoD(there.get(), here.data(), size_bytes), "cuMemcpyHtoD");
    else
      check(raw.gpu->more().cuMemcpyDtoH(here.data(), there.get(), size_bytes), "cuMemcpyDtoH");
  });
}

}  // namespace troupe::bench

#endif
