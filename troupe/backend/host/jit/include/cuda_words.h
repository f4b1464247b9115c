// The words of CUDA C++ that a C++ compiler does not know, and CUDA's types.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernel_abi.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
// Threads of a warp go their own ways, as they do from 7.0 on; newer parts are instructions that no CPU has.
#define __CUDA_ARCH__ 700
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
/// Only defined where the kernel is compiled for a CPU.
#define TROUPE_CPU_KERNEL 1

#define TROUPE_VECTOR(type, name, align2, align4)                                                         \
  struct name##1 { type x; };                                                                                      \
  struct alignas(align2) name##2 { type x, y; };                                                                   \
  struct name##3 { type x, y, z; };                                                                                \
  struct alignas(align4) name##4 { type x, y, z, w; };                                                             \
  inline name##1 make_##name##1(type x) { return {x}; }                                                            \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                                 \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                                      \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TROUPE_VECTOR(signed char, char, 2, 4)
TROUPE_VECTOR(unsigned char, uchar, 2, 4)
TROUPE_VECTOR(short, short, 4, 8)
TROUPE_VECTOR(unsigned short, ushort, 4, 8)
TROUPE_VECTOR(int, int, 8, 16)
TROUPE_VECTOR(unsigned int, uint, 8, 16)
TROUPE_VECTOR(long, long, 16, 16)
TROUPE_VECTOR(unsigned long, ulong, 16, 16)
TROUPE_VECTOR(long long, longlong, 16, 16)
TROUPE_VECTOR(unsigned long long, ulonglong, 16, 16)
TROUPE_VECTOR(float, float, 8, 16)
TROUPE_VECTOR(double, double, 16, 16)
#undef TROUPE_VECTOR

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Of the thread that runs. A block stays on one thread of the CPU, and so do these.
static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;
constexpr int warpSize = 32;
