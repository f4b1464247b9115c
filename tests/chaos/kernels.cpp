#include "tests/chaos/kernels.hpp"

namespace troupe::chaos {
namespace {

constexpr const char* kSource = R"(
  __device__ int scratch[4];
  __device__ volatile int released;  // stays 0, which the compiler does not know

  __device__ long long first() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
  __device__ long long step() { return gridDim.x * (long long)blockDim.x; }
  __device__ void spoil(long long count, int writes, volatile float* data) {
    if (writes)
      for (long long i = first(); i < count; i += step()) data[i] = -123456.0f;
  }
  __device__ void store(unsigned long long address) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(1) : "memory");
  }

  extern "C" __global__ void scale(long long count, float factor, float* data) {
    for (long long i = first(); i < count; i += step()) data[i] *= factor;
  }

  extern "C" __global__ void copy(long long count, const float* from, float* to) {
    for (long long i = first(); i < count; i += step()) to[i] = from[i];
  }

  extern "C" __global__ void sum(long long count, const float* from, double* total) {  // one block of 256
    __shared__ double part[256];
    double own = 0;
    for (long long i = threadIdx.x; i < count; i += 256) own += from[i];
    part[threadIdx.x] = own;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *total = part[0];
  }

  extern "C" __global__ void illegal_address(long long count, int writes, float* data) {
    spoil(count, writes, data);
    store(0xdead0000);
  }

  extern "C" __global__ void misaligned(long long count, int writes, float* data) {
    spoil(count, writes, data);
    store((unsigned long long)(writes ? (void*)data : (void*)scratch) + 1);
  }

  extern "C" __global__ void trap(long long count, int writes, float* data) {
    spoil(count, writes, data);
    __trap();
  }

  extern "C" __global__ void device_assert(long long count, int writes, float* data) {
    spoil(count, writes, data);
    if (first() == 0) assert(released != 0);
  }

  extern "C" __global__ void hang(long long count, int writes, float* data) {
    while (released == 0) spoil(count, writes, data);
  }

  extern "C" __global__ void write_sealed(long long count, int writes, float* data, float* sealed) {
    spoil(count, writes, data);
    store((unsigned long long)sealed);
  }
)";

constexpr Grid kGrid{.blocks = 64, .threads = 256};
constexpr Grid kOneBlock{.blocks = 1, .threads = 256};
constexpr Grid kFaultGrid{.blocks = 4, .threads = 64};

}  // namespace

Kernels::Kernels(const Device& device) : device_(device), program_(value(device.jit().compile(kSource).get())) {}

Call<void> Kernels::scale(const AnyArray& array, float factor) const {
  return device_.jit().launch(program_, "scale", kGrid, array.element_count(), factor, updates(array));
}

Call<void> Kernels::copy(const AnyArray& from, const AnyArray& to) const {
  return device_.jit().launch(program_, "copy", kGrid, to.element_count(), reads(from), writes(to));
}

Call<void> Kernels::sum(const AnyArray& from, const AnyArray& total) const {
  return device_.jit().launch(program_, "sum", kOneBlock, from.element_count(), reads(from), writes(total));
}

Call<void> Kernels::commit(const Fault& fault, const AnyArray& array, const AnyArray& sealed) const {
  const auto launch = [&](std::int64_t count, std::int32_t writes_it, const auto& data) {
    if (fault.kind == FaultKind::write_sealed)
      return device_.jit().launch(program_, name(fault.kind), kFaultGrid, count, writes_it, data, reads(sealed));
    return device_.jit().launch(program_, name(fault.kind), kFaultGrid, count, writes_it, data);
  };
  switch (fault.touches) {
    case Touches::nothing: break;
    case Touches::reads: return launch(array.element_count(), 0, reads(array));
    case Touches::writes: return launch(array.element_count(), 1, writes(array));
    case Touches::updates: return launch(array.element_count(), 1, updates(array));
  }
  return launch(0, 0, nullptr);
}

std::int64_t code_of(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::illegal_address:
    case FaultKind::write_sealed: return 700;
    case FaultKind::misaligned: return 716;
    case FaultKind::trap: return 719;
    case FaultKind::device_assert: return 710;
    default: return 0;
  }
}

}  // namespace troupe::chaos
