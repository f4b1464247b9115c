// What threads of a block say to each other: barriers, operations of a warp, atomics, `printf` and `assert`.
#pragma once

#include "fibers.h"

namespace troupe_kernel {
inline void* dynamic_shared() { return block->launch->shared(block->launch->worker); }
}

#define TROUPE_LINE int line = __builtin_LINE()

inline void __syncthreads(TROUPE_LINE) { troupe_kernel::barrier(line, 1); }
inline int __syncthreads_count(int predicate, TROUPE_LINE) {
  troupe_kernel::barrier(line, predicate);
  return troupe_kernel::block->last_count;
}
inline int __syncthreads_and(int predicate, TROUPE_LINE) {
  troupe_kernel::barrier(line, predicate);
  return troupe_kernel::block->last_all;
}
inline int __syncthreads_or(int predicate, TROUPE_LINE) {
  troupe_kernel::barrier(line, predicate);
  return troupe_kernel::block->last_any;
}
inline void __syncwarp(unsigned mask = 0xffffffffU, TROUPE_LINE) {
  troupe_kernel::together(troupe_kernel::Kind::sync, mask, 0, 0, false, line);
}

// ---- operations of a warp ----

inline int __all_sync(unsigned mask, int predicate, TROUPE_LINE) {
  return static_cast<int>(
      troupe_kernel::together(troupe_kernel::Kind::all, mask, static_cast<uint64_t>(predicate != 0), 0, false, line));
}
inline int __any_sync(unsigned mask, int predicate, TROUPE_LINE) {
  return static_cast<int>(
      troupe_kernel::together(troupe_kernel::Kind::any, mask, static_cast<uint64_t>(predicate != 0), 0, false, line));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, TROUPE_LINE) {
  return static_cast<unsigned>(
      troupe_kernel::together(troupe_kernel::Kind::ballot, mask, static_cast<uint64_t>(predicate != 0), 0, false, line));
}
/// Nobody promises which threads are together at some place; a thread is always with itself.
inline unsigned __activemask() { return 1U << troupe_kernel::block->fibers[troupe_kernel::block->current].thread % 32; }

namespace troupe_kernel {
template <class T>
uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "lanes exchange values of at most eight bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T of_bits(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}
inline uint32_t lane() { return block->fibers[block->current].thread % 32; }
inline uint32_t gone() { return block->warps[block->fibers[block->current].thread / 32].gone; }
template <class T>
T shuffle(unsigned mask, T value, uint32_t from, int line) {
  return of_bits<T>(together(Kind::shuffle, mask, bits_of(value), from, false, line));
}
}  // namespace troupe_kernel

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, TROUPE_LINE) {
  const uint32_t base = troupe_kernel::lane() & ~(static_cast<uint32_t>(width) - 1);
  return troupe_kernel::shuffle(mask, value, base + (static_cast<uint32_t>(from) & (static_cast<uint32_t>(width) - 1)),
                                line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, TROUPE_LINE) {
  const uint32_t lane = troupe_kernel::lane(), base = lane & ~(static_cast<uint32_t>(width) - 1);
  return troupe_kernel::shuffle(mask, value, lane - base >= delta ? lane - delta : lane, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, TROUPE_LINE) {
  const uint32_t lane = troupe_kernel::lane(), last = lane | (static_cast<uint32_t>(width) - 1);
  return troupe_kernel::shuffle(mask, value, last - lane >= delta ? lane + delta : lane, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, TROUPE_LINE) {
  const uint32_t lane = troupe_kernel::lane(), other = lane ^ static_cast<uint32_t>(with);
  return troupe_kernel::shuffle(mask, value, other <= (lane | (static_cast<uint32_t>(width) - 1)) ? other : lane, line);
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, TROUPE_LINE) {
  return static_cast<unsigned>(troupe_kernel::together(troupe_kernel::Kind::match, mask, troupe_kernel::bits_of(value),
                                                       0, false, line));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* are_all, TROUPE_LINE) {
  const unsigned same = __match_any_sync(mask, value, line);
  const int all = __all_sync(mask, (same & mask) == (mask & ~troupe_kernel::gone()), line);
  *are_all = all;
  return all != 0 ? mask : 0;
}
#define TROUPE_REDUCE(name, kind, type, bits)                                                          \
  inline type name(unsigned mask, type value, TROUPE_LINE) {                                           \
    return static_cast<type>(troupe_kernel::together(troupe_kernel::Kind::kind, mask,                  \
                                                     static_cast<uint64_t>(static_cast<bits>(value)), 0, \
                                                     std::is_signed<type>::value, line));              \
  }
TROUPE_REDUCE(__reduce_add_sync, add, unsigned, uint64_t)
TROUPE_REDUCE(__reduce_add_sync, add, int, int64_t)
TROUPE_REDUCE(__reduce_min_sync, least, unsigned, uint64_t)
TROUPE_REDUCE(__reduce_min_sync, least, int, int64_t)
TROUPE_REDUCE(__reduce_max_sync, most, unsigned, uint64_t)
TROUPE_REDUCE(__reduce_max_sync, most, int, int64_t)
TROUPE_REDUCE(__reduce_and_sync, bit_and, unsigned, uint64_t)
TROUPE_REDUCE(__reduce_or_sync, bit_or, unsigned, uint64_t)
TROUPE_REDUCE(__reduce_xor_sync, bit_xor, unsigned, uint64_t)
#undef TROUPE_REDUCE

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __nanosleep(unsigned) { troupe_kernel::yield(); }

// ---- atomics: of all blocks, which run on several threads of the CPU ----

namespace troupe_kernel {
/// Replaces a value by what `change` makes of it, and gives the one before.
template <class T, class Change>
T change_atomically(T* address, const Change& change) {
  T old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do changed = change(old);
  while (!__atomic_compare_exchange(address, &old, &changed, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}
}  // namespace troupe_kernel

#define TROUPE_ATOMIC(name, type, result)                                                                            \
  inline type name(type* address, type value) {                                                                      \
    return troupe_kernel::change_atomically(address, [&](type old) { return static_cast<type>(result); });           \
  }                                                                                                                  \
  inline type name##_block(type* address, type value) { return name(address, value); }                               \
  inline type name##_system(type* address, type value) { return name(address, value); }
#define TROUPE_ATOMIC_OF_INTEGERS(name, result)  \
  TROUPE_ATOMIC(name, int, result)               \
  TROUPE_ATOMIC(name, unsigned, result)          \
  TROUPE_ATOMIC(name, unsigned long long, result)
TROUPE_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
TROUPE_ATOMIC(atomicAdd, unsigned, old + value)
TROUPE_ATOMIC(atomicAdd, unsigned long long, old + value)
TROUPE_ATOMIC(atomicAdd, float, old + value)
TROUPE_ATOMIC(atomicAdd, double, old + value)
TROUPE_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
TROUPE_ATOMIC(atomicSub, unsigned, old - value)
TROUPE_ATOMIC_OF_INTEGERS(atomicMin, value < old ? value : old)
TROUPE_ATOMIC(atomicMin, long long, value < old ? value : old)
TROUPE_ATOMIC_OF_INTEGERS(atomicMax, old < value ? value : old)
TROUPE_ATOMIC(atomicMax, long long, old < value ? value : old)
TROUPE_ATOMIC_OF_INTEGERS(atomicAnd, old & value)
TROUPE_ATOMIC_OF_INTEGERS(atomicOr, old | value)
TROUPE_ATOMIC_OF_INTEGERS(atomicXor, old ^ value)
TROUPE_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
TROUPE_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef TROUPE_ATOMIC_OF_INTEGERS
#undef TROUPE_ATOMIC

// A thread that finds something other than it waits for lets the others of its block go on: locks spin on these.
#define TROUPE_ATOMIC(type)                                                                                        \
  inline type atomicExch(type* address, type value) {                                                              \
    type old;                                                                                                      \
    __atomic_exchange(address, &value, &old, __ATOMIC_SEQ_CST);                                                    \
    if (memcmp(&old, &value, sizeof old) == 0) troupe_kernel::yield();                                             \
    return old;                                                                                                    \
  }
TROUPE_ATOMIC(int)
TROUPE_ATOMIC(unsigned)
TROUPE_ATOMIC(unsigned long long)
TROUPE_ATOMIC(float)
#undef TROUPE_ATOMIC
#define TROUPE_ATOMIC(type)                                                                                        \
  inline type atomicCAS(type* address, type compare, type value) {                                                 \
    if (!__atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))          \
      troupe_kernel::yield();                                                                                      \
    return compare;                                                                                                \
  }
TROUPE_ATOMIC(int)
TROUPE_ATOMIC(unsigned)
TROUPE_ATOMIC(unsigned short)
TROUPE_ATOMIC(unsigned long long)
#undef TROUPE_ATOMIC

// ---- what a thread says ----

inline __attribute__((format(printf, 1, 2))) int troupe_printf(const char* format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const troupe_kernel_launch& launch = *troupe_kernel::block->launch;
  const size_t written = size < 0 ? 0 : static_cast<size_t>(size);
  launch.print(launch.worker, text, written < sizeof text ? written : sizeof text - 1);
  return size;
}
namespace std {
using ::troupe_printf;
}
#define printf(...) troupe_printf(__VA_ARGS__)

inline void __trap() {
  troupe_kernel::fail("thread (%u, %u, %u) called __trap", threadIdx.x, threadIdx.y, threadIdx.z);
}
inline void __brkpt() {}
[[noreturn]] inline __attribute__((cold)) void troupe_assert_failed(const char* what, int line) {
  troupe_kernel::fail("thread (%u, %u, %u): the assertion %s in line %d does not hold", threadIdx.x, threadIdx.y,
                      threadIdx.z, what, line);
}

/// Nanoseconds: CPUs and GPUs have no cycles in common.
inline long long clock64() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
