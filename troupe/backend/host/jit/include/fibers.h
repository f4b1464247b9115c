// The threads of a block, on one thread of the CPU. A fiber runs thread after thread as a plain loop, until one has to
// wait for others; then another fiber goes on with the rest. So a kernel without barriers never switches.
#pragma once

#include <stdarg.h>

#include "cuda_words.h"

#if defined(__x86_64__)
asm(R"(
.pushsection .text
.globl troupe_switch
.hidden troupe_switch
.type troupe_switch,@function
troupe_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size troupe_switch, .-troupe_switch
.popsection
)");
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.globl troupe_switch
.hidden troupe_switch
.type troupe_switch,%function
troupe_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size troupe_switch, .-troupe_switch
.popsection
)");
#else
#error "kernels run on CPUs of x86-64 and of 64-bit ARM"
#endif
/// Goes on where `to` was left, and keeps in `from` where this one is left.
extern "C" __attribute__((visibility("hidden"))) void troupe_switch(void** from, void* to);

namespace troupe_kernel {

constexpr uint32_t kMaxThreads = TROUPE_KERNEL_MAX_THREADS;
constexpr uint32_t kNone = ~0U;

enum class Kind : uint8_t { none, shuffle, ballot, all, any, match, sync, add, least, most, bit_and, bit_or, bit_xor };
inline const char* name(Kind kind) {
  constexpr const char* kNames[] = {"nothing",           "__shfl_sync",      "__ballot_sync",      "__all_sync",
                                    "__any_sync",        "__match_any_sync", "__syncwarp",         "__reduce_add_sync",
                                    "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                    "__reduce_xor_sync"};
  return kNames[static_cast<int>(kind)];
}

/// A thread that waits, or runs.
struct Fiber {
  void* left_at = nullptr;
  uint32_t thread = 0;
  int line = 0;            // of what it waits in
  bool at_barrier = false;
  Kind at = Kind::none;    // of its warp
};

/// What a lane has brought to an operation of its warp.
struct Lane {
  uint32_t fiber = kNone;
  Kind kind = Kind::none;
  bool is_signed = false;
  uint32_t mask = 0;
  uint32_t from = 0;  // of a shuffle
  uint64_t value = 0;
};

struct Warp {
  Lane lanes[32];
  uint32_t gone = 0;  // lanes that have ended, or that the block does not have
};

/// The order in which fibers go on.
class Queue {
 public:
  void clear() { begin_ = end_ = 0; }
  bool empty() const { return begin_ == end_; }
  void push(uint32_t fiber) { fibers_[end_++ % kMaxThreads] = fiber; }
  uint32_t pop() { return fibers_[begin_++ % kMaxThreads]; }

 private:
  uint32_t fibers_[kMaxThreads];
  uint32_t begin_ = 0, end_ = 0;
};

/// The block that a thread of the CPU runs. Small enough to be made for each launch, on that thread's own stack.
struct Block {
  const troupe_kernel_launch* launch = nullptr;
  void* left_at = nullptr;  // whoever runs the block
  uint32_t current = 0;     // fiber
  uint32_t threads = 0;
  uint32_t next = 0;  // the first thread that has not begun
  uint32_t live = 0;
  uint32_t made = 0;  // fibers
  bool has_failed = false;
  uint32_t waiting = 0;  // at the barrier
  int barrier_line = 0;
  uint32_t first_at_barrier = 0;  // a thread
  int count = 0, all = 1, any = 0;              // of what is brought to the barrier
  int last_count = 0, last_all = 1, last_any = 0;  // of the barrier before
  Queue ready;
  Queue idle;
  uint32_t at_barrier[kMaxThreads];
  Fiber fibers[kMaxThreads];
  Warp warps[kMaxThreads / 32];
};
static thread_local Block* block;

inline uint3 thread_at(uint32_t thread) {
  const dim3 by = blockDim;
  return {thread % by.x, thread / by.x % by.y, thread / (by.x * by.y)};
}

/// Says what is wrong with the block that runs.
inline __attribute__((cold, noinline)) void report(const char* format, va_list arguments) {
  Block& b = *block;
  char text[1024];
  const int size = snprintf(text, sizeof text, "block (%u, %u, %u): ", blockIdx.x, blockIdx.y, blockIdx.z);
  vsnprintf(text + size, sizeof text - static_cast<size_t>(size), format, arguments);
  b.has_failed = true;
  b.launch->fail(b.launch->worker, text);
}

inline __attribute__((cold, noinline, format(printf, 1, 2))) void report_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(format, arguments);
  va_end(arguments);
}

/// Says it, and leaves the block as it is. Only a thread of the block may call it.
[[noreturn]] inline __attribute__((cold, noinline, format(printf, 1, 2))) void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(format, arguments);
  va_end(arguments);
  void* nowhere;
  troupe_switch(&nowhere, block->left_at);
  __builtin_unreachable();
}

static __attribute__((noinline)) void fiber_main();

/// A stack on which `fiber_main` is about to begin.
inline void* fresh(void* top) {
#if defined(__x86_64__)
  void** at = static_cast<void**>(top) - 1;
  *at = nullptr;  // where it would return to
  *--at = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; ++i) *--at = nullptr;
#else
  void** at = static_cast<void**>(top) - 20;
  for (int i = 0; i < 20; ++i) at[i] = nullptr;
  at[11] = reinterpret_cast<void*>(&fiber_main);
#endif
  return at;
}

/// The fiber that goes on; kNone when nobody can.
inline uint32_t pick(Block& b) {
  if (b.next < b.threads) {
    if (!b.idle.empty()) return b.idle.pop();
    void* const stack = b.launch->stack(b.launch->worker, b.made);
    if (stack == nullptr) {
      report_text("there is no memory for the stacks of %u threads that wait", b.made + 1);
      return kNone;
    }
    b.fibers[b.made] = {};
    b.fibers[b.made].left_at = fresh(stack);
    return b.made++;
  }
  return b.ready.empty() ? kNone : b.ready.pop();
}

/// Lets others go on. Returns when this fiber is its own successor.
inline __attribute__((noinline)) void leave(Block& b) {
  const uint32_t self = b.current, to = pick(b);
  if (to == self) return;
  b.current = to;
  troupe_switch(&b.fibers[self].left_at, to == kNone ? b.left_at : b.fibers[to].left_at);
  b.current = self;
  threadIdx = thread_at(b.fibers[self].thread);
}

inline void release_barrier(Block& b) {
  for (uint32_t i = 0; i < b.waiting; ++i) {
    b.fibers[b.at_barrier[i]].at_barrier = false;
    b.ready.push(b.at_barrier[i]);
  }
  b.waiting = 0;
  b.last_count = b.count, b.last_all = b.all, b.last_any = b.any;
  b.count = 0, b.all = 1, b.any = 0;
}

/// Waits until all threads that still run have come.
inline __attribute__((noinline)) void barrier(int line, int predicate) {
  Block& b = *block;
  Fiber& self = b.fibers[b.current];
  if (b.waiting == 0) {
    b.barrier_line = line;
    b.first_at_barrier = self.thread;
  } else if (b.barrier_line != line) {
    const uint3 first = thread_at(b.first_at_barrier);
    fail("thread (%u, %u, %u) waits at __syncthreads in line %d and thread (%u, %u, %u) in line %d; all threads of a "
         "block must come to the same one",
         first.x, first.y, first.z, b.barrier_line, threadIdx.x, threadIdx.y, threadIdx.z, line);
  }
  b.count += predicate != 0;
  b.all &= predicate != 0;
  b.any |= predicate != 0;
  self.line = line;
  self.at_barrier = true;
  b.at_barrier[b.waiting++] = b.current;
  if (b.waiting == b.live) release_barrier(b);
  leave(b);
}

/// What the lanes of `mask` have brought, as each of them gets it.
inline void finish(Warp& warp, Kind kind, uint32_t mask) {
  uint64_t results[32];
  for (uint32_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const Lane& lane = warp.lanes[i];
    uint64_t result = 0;
    if (kind == Kind::shuffle) {
      // What a lane gets from one that is not there is not defined; all ones are no number.
      result = (mask >> lane.from & 1) != 0 ? warp.lanes[lane.from].value : ~uint64_t{0};
    } else {
      bool is_first = true;
      for (uint32_t j = 0; j < 32; ++j) {
        if ((mask >> j & 1) == 0) continue;
        const Lane& other = warp.lanes[j];
        const uint64_t v = other.value;
        const auto is_less = [&](uint64_t x, uint64_t y) {
          return other.is_signed ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
        };
        switch (kind) {
          case Kind::ballot: result |= uint64_t{v != 0} << j; break;
          case Kind::match: result |= uint64_t{v == lane.value} << j; break;
          case Kind::any: result |= v != 0; break;
          case Kind::all: result = (is_first || result != 0) && v != 0; break;
          case Kind::add: result += v; break;
          case Kind::least: result = is_first || is_less(v, result) ? v : result; break;
          case Kind::most: result = is_first || is_less(result, v) ? v : result; break;
          case Kind::bit_and: result = is_first ? v : result & v; break;
          case Kind::bit_or: result |= v; break;
          case Kind::bit_xor: result ^= v; break;
          default: break;
        }
        is_first = false;
      }
    }
    results[i] = result;
  }
  for (uint32_t i = 0; i < 32; ++i)
    if ((mask >> i & 1) != 0) {
      warp.lanes[i].value = results[i];
      warp.lanes[i].kind = Kind::none;
    }
}

/// Whether all lanes of the mask that still run are at the same operation.
inline bool is_complete(const Warp& warp, Kind kind, uint32_t mask) {
  for (uint32_t i = 0; i < 32; ++i)
    if ((mask & ~warp.gone) >> i & 1)
      if (warp.lanes[i].kind != kind || warp.lanes[i].mask != mask) return false;
  return true;
}

inline void let_go(Block& b, Warp& warp, uint32_t mask, uint32_t but) {
  for (uint32_t i = 0; i < 32; ++i)
    if ((mask >> i & 1) != 0 && warp.lanes[i].fiber != but) {
      b.fibers[warp.lanes[i].fiber].at = Kind::none;
      b.ready.push(warp.lanes[i].fiber);
    }
}

/// An operation of the lanes in `mask`. Waits for them.
inline __attribute__((noinline)) uint64_t together(Kind kind, uint32_t mask, uint64_t value, uint32_t from,
                                                   bool is_signed, int line) {
  Block& b = *block;
  Fiber& self = b.fibers[b.current];
  Warp& warp = b.warps[self.thread / 32];
  const uint32_t number = self.thread % 32;
  if ((mask >> number & 1) == 0)
    fail("thread (%u, %u, %u) calls %s in line %d with the mask 0x%08x, which lacks its own lane %u", threadIdx.x,
         threadIdx.y, threadIdx.z, name(kind), line, mask, number);
  Lane& lane = warp.lanes[number];
  lane = {b.current, kind, is_signed, mask, from, value};
  if (is_complete(warp, kind, mask)) {
    finish(warp, kind, mask & ~warp.gone);
    let_go(b, warp, mask & ~warp.gone, b.current);
    return lane.value;
  }
  self.line = line;
  self.at = kind;
  leave(b);
  return lane.value;
}

/// A thread has returned; those that waited for it need not.
inline void end_thread(Block& b, uint32_t thread) {
  --b.live;
  if (b.waiting != 0 && b.waiting == b.live) release_barrier(b);
  Warp& warp = b.warps[thread / 32];
  warp.gone |= 1U << thread % 32;
  for (Lane& lane : warp.lanes) {
    if (lane.kind == Kind::none || !is_complete(warp, lane.kind, lane.mask)) continue;
    const uint32_t mask = lane.mask & ~warp.gone;
    finish(warp, lane.kind, mask);
    let_go(b, warp, mask, kNone);
  }
}

static void fiber_main() {
  for (;;) {
    Block& b = *block;
    while (b.next < b.threads) {
      const uint32_t thread = b.next++;
      b.fibers[b.current].thread = thread;
      threadIdx = thread_at(thread);
      b.launch->kernel->thread(b.launch->arguments);
      end_thread(b, thread);
    }
    b.idle.push(b.current);
    leave(b);
  }
}

/// Nobody can go on, and some have not ended.
inline __attribute__((cold, noinline)) void report_deadlock(Block& b) {
  char text[512];
  size_t size = 0;
  int told = 0;
  for (uint32_t i = 0; i < b.made && told < 3; ++i) {
    const Fiber& fiber = b.fibers[i];
    if (!fiber.at_barrier && fiber.at == Kind::none) continue;
    bool is_told = false;
    for (uint32_t j = 0; j < i; ++j) {
      const Fiber& other = b.fibers[j];
      is_told |= other.at_barrier == fiber.at_barrier && other.at == fiber.at && other.line == fiber.line;
    }
    if (is_told) continue;
    const uint3 at = thread_at(fiber.thread);
    size += static_cast<size_t>(snprintf(text + size, sizeof text - size, "%sthread (%u, %u, %u) waits at %s in line %d",
                                         told++ == 0 ? "" : ", ", at.x, at.y, at.z,
                                         fiber.at_barrier ? "__syncthreads" : name(fiber.at), fiber.line));
  }
  report_text("no thread can go on: %s; %u of %u threads have ended", text, b.threads - b.live, b.threads);
}

/// The threads of one block, whose index is set.
inline __attribute__((noinline)) void run_block(Block& b) {
  b.next = b.made = b.waiting = 0;
  b.live = b.threads;
  b.count = 0, b.all = 1, b.any = 0;
  b.ready.clear();
  b.idle.clear();
  for (uint32_t i = 0; i * 32 < b.threads; ++i) {
    Warp& warp = b.warps[i];
    for (Lane& lane : warp.lanes) lane.kind = Kind::none;
    const uint32_t there = b.threads - i * 32;
    warp.gone = there >= 32 ? 0 : ~0U << there;
  }
  b.current = pick(b);
  if (b.current == kNone) return;
  troupe_switch(&b.left_at, b.fibers[b.current].left_at);
  if (b.live != 0 && !b.has_failed) report_deadlock(b);
}

/// Lets other threads of the block go on: some kernel spins until one of them has done something.
inline void yield() {
  Block& b = *block;
  if (b.live == 1) return;
  b.ready.push(b.current);
  leave(b);
}

template <auto kernel>
struct Kernel;
template <class... Parameters, void (*kernel)(Parameters...)>
struct Kernel<kernel> {
  static constexpr uint32_t kSizes[sizeof...(Parameters) + 1] = {sizeof(Parameters)..., 0};
  static constexpr uint32_t kCount = sizeof...(Parameters);
  static void thread([[maybe_unused]] void** arguments) { call(arguments, std::index_sequence_for<Parameters...>()); }
  template <size_t... i>
  static void call([[maybe_unused]] void** arguments, std::index_sequence<i...>) {
    kernel(*static_cast<std::remove_const_t<Parameters>*>(arguments[i])...);
  }
};

}  // namespace troupe_kernel

extern "C" __attribute__((visibility("default"), used)) void troupe_run_blocks(const troupe_kernel_launch* launch,
                                                                                uint64_t begin, uint64_t end) {
  troupe_kernel::Block block;
  block.launch = launch;
  block.threads = launch->threads[0] * launch->threads[1] * launch->threads[2];
  troupe_kernel::block = &block;
  blockDim = {launch->threads[0], launch->threads[1], launch->threads[2]};
  gridDim = {launch->blocks[0], launch->blocks[1], launch->blocks[2]};
  for (uint64_t i = begin; i < end && !launch->has_failed(launch->worker); ++i) {
    const uint64_t row = i / gridDim.x;
    blockIdx = {static_cast<uint32_t>(i % gridDim.x), static_cast<uint32_t>(row % gridDim.y),
                static_cast<uint32_t>(row / gridDim.y)};
    troupe_kernel::run_block(block);
  }
  troupe_kernel::block = nullptr;
}

#define TROUPE_JOIN_AGAIN(a, b) a##b
#define TROUPE_JOIN(a, b) TROUPE_JOIN_AGAIN(a, b)
/// Says that a variable can be set.
#define TROUPE_VARIABLE(is_constant, name)                                                                          \
  __attribute__((section("troupe_variables"), used, aligned(32))) static troupe_variable_record TROUPE_JOIN(        \
      troupe_variable_record_, __COUNTER__) = {(void*)&name, sizeof(name), is_constant,                             \
                                               std::is_const<std::remove_all_extents_t<decltype(name)>>::value};
/// Says that a function is a kernel. A `number` of 1 or more is that of an instance that was wanted.
#define TROUPE_KERNEL(number, ...)                                                                                  \
  __attribute__((section("troupe_kernels"), used, aligned(32))) static troupe_kernel_record TROUPE_JOIN(            \
      troupe_kernel_record_, __COUNTER__) = {reinterpret_cast<const void*>(__VA_ARGS__),                            \
                                             &::troupe_kernel::Kernel<__VA_ARGS__>::thread,                         \
                                             ::troupe_kernel::Kernel<__VA_ARGS__>::kSizes,                          \
                                             ::troupe_kernel::Kernel<__VA_ARGS__>::kCount, number};
