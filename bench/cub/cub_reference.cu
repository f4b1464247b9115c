// The reference for primitives on a GPU: CUB's device-wide functions, in a shared library of their own, because they
// need the CUDA runtime and nvcc, which nothing else of ours does. Built by `./dev gpu`; bench/primitive_rows.cpp opens
// it. Memory is taken before the time counts; each call is waited for, by spinning.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cub/cub.cuh>
#include <vector>

namespace {

__global__ void fill_with_numbers(std::uint32_t* out, long long count) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<long long>(blockDim.x)) {
    std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9E37'79B9'7F4A'7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58'476D'1CE4'E5B9;
    out[i] = static_cast<std::uint32_t>(bits >> 32);
  }
}
__global__ void fill_with_floats(float* out, long long count) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<long long>(blockDim.x))
    out[i] = static_cast<float>(i % 1021) / 1021;
}
__global__ void fill_with_flags(bool* out, long long count) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<long long>(blockDim.x))
    out[i] = (i * 2'654'435'761LL >> 16 & 1) != 0;
}

template <class T>
struct Memory {
  explicit Memory(long long count) { cudaMalloc(&data, static_cast<std::size_t>(std::max(count, 1LL)) * sizeof(T)); }
  ~Memory() { cudaFree(data); }
  T* data = nullptr;
};

/// `call(scratch, bytes)` as CUB has it: once for the size, then `rounds` times; the median, or -1 when it fails.
template <class Call>
double median_ns(int rounds, const Call& call) {
  std::size_t bytes = 0;
  if (call(nullptr, bytes) != cudaSuccess) return -1;
  const Memory<char> scratch(static_cast<long long>(bytes));
  std::vector<double> times;
  for (int round = -2; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (call(scratch.data, bytes) != cudaSuccess || cudaStreamSynchronize(nullptr) != cudaSuccess) return -1;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    if (round >= 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

double sort_ns(long long count, int rounds, bool has_values) {
  const Memory<std::uint32_t> in(count), out(count), values(has_values ? count : 0), moved(has_values ? count : 0);
  fill_with_numbers<<<1024, 256>>>(in.data, count);
  return median_ns(rounds, [&](void* scratch, std::size_t& bytes) {
    return has_values ? cub::DeviceRadixSort::SortPairs(scratch, bytes, in.data, out.data, values.data, moved.data,
                                                        count)
                      : cub::DeviceRadixSort::SortKeys(scratch, bytes, in.data, out.data, count);
  });
}

}  // namespace

/// kind: 0 sorts u32, 1 pairs of them; 2 scans, 3 adds up, 4 selects by flags, all f32.
extern "C" double troupe_cub_ns(int kind, long long count, int rounds) {
  cudaSetDeviceFlags(cudaDeviceScheduleSpin);
  if (kind < 2) return sort_ns(count, rounds, kind == 1);
  const Memory<float> in(count), out(count);
  const Memory<bool> flags(kind == 4 ? count : 0);
  const Memory<long long> number(1);
  fill_with_floats<<<1024, 256>>>(in.data, count);
  if (kind == 4) fill_with_flags<<<1024, 256>>>(flags.data, count);
  return median_ns(rounds, [&](void* scratch, std::size_t& bytes) {
    switch (kind) {
      case 2: return cub::DeviceScan::InclusiveSum(scratch, bytes, in.data, out.data, count);
      case 3: return cub::DeviceReduce::Sum(scratch, bytes, in.data, out.data, count);
      default: return cub::DeviceSelect::Flagged(scratch, bytes, in.data, flags.data, out.data, number.data, count);
    }
  });
}
