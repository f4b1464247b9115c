// A system call and nothing else: no `errno`, no thread-local storage, no function of a library. For code that runs on
// borrowed memory, where any of those may belong to others or be gone.
#pragma once

namespace troupe::inline v0::wire {

/// Returns what the kernel answers: a negative number is an errno.
[[gnu::always_inline]] inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                            long e = 0) noexcept {
#if defined(__x86_64__)
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  asm volatile("svc #0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth) : "memory");
  return first;
#else
#error "Troupe knows the system calls of x86-64 and aarch64"
#endif
}

/// A pointer as a system call takes it.
template <class T>
[[gnu::always_inline]] inline long raw(T* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

}  // namespace troupe::inline v0::wire
