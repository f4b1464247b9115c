// Pointers of kernels that are compiled in checked mode: each knows the array that it points into, and an access outside
// of that ends the thread before anything is read or written. Read before the kernels, by NVRTC and by C++ compilers
// alike; checked_source.cpp writes the kernels anew in these words. Needs no other header.
#pragma once

#define TROUPE_CHECKED_KERNELS 1
#define TROUPE_CHECKED __device__ __forceinline__

/// What is told of the first access outside. The app reads these words (op/jit_report.hpp).
struct troupe_report {
  int is_taken;
  int block[3];
  int thread[3];
  unsigned int element_bytes;
  long long index;
  long long elements;
  char name[64];  // of the parameter
};

/// How large the array of each parameter is; 0 of those that are none.
template <int parameters>
struct troupe_bounds {
  unsigned long long bytes[parameters];
};

#ifdef TROUPE_CPU_KERNEL
[[noreturn]] inline __attribute__((cold, noinline)) void troupe_outside(const char* name, long long index,
                                                                        long long elements, unsigned element_bytes,
                                                                        troupe_report*) {
  if (name == nullptr)
    troupe_kernel::fail("thread (%u, %u, %u) uses a null pointer", threadIdx.x, threadIdx.y, threadIdx.z);
  troupe_kernel::fail("thread (%u, %u, %u) touches %s[%lld], and %s has %lld elements of %u bytes", threadIdx.x,
                      threadIdx.y, threadIdx.z, name, index, name, elements, element_bytes);
}
#else
__device__ __noinline__ static void troupe_outside(const char* name, long long index, long long elements,
                                                   unsigned element_bytes, troupe_report* report) {
  if (report == nullptr) __trap();  // a null pointer of the kernel's own
  if (atomicCAS(&report->is_taken, 0, 1) == 0) {
    report->block[0] = blockIdx.x, report->block[1] = blockIdx.y, report->block[2] = blockIdx.z;
    report->thread[0] = threadIdx.x, report->thread[1] = threadIdx.y, report->thread[2] = threadIdx.z;
    report->element_bytes = element_bytes;
    report->index = index;
    report->elements = elements;
    for (int i = 0; i < 63 && name[i] != 0; ++i) report->name[i] = name[i];
  }
  asm volatile("exit;");  // barriers do not wait for threads that have ended
}
#endif

template <class T>
struct troupe_reference {
  using type = T&;
};
template <>
struct troupe_reference<void> {
  using type = void;
};
template <>
struct troupe_reference<const void> {
  using type = void;
};
template <class T>
struct troupe_itself {
  using type = T;
};
template <class T>
TROUPE_CHECKED void troupe_takes(typename troupe_itself<T>::type*) {}

/// What all pointers into one array have in common.
struct troupe_array {
  unsigned long long begin;
  unsigned long long bytes;
  const char* name;
  troupe_report* report;

  /// For an access of so many bytes.
  TROUPE_CHECKED void check(const volatile void* at, unsigned size) const {
    const unsigned long long offset = reinterpret_cast<unsigned long long>(at) - begin;
    if (bytes >= size && offset <= bytes - size) return;
    troupe_outside(name, static_cast<long long>(offset) / static_cast<long long>(size) -
                             (static_cast<long long>(offset) % static_cast<long long>(size) < 0),
                   static_cast<long long>(bytes / size), size, report);
    __builtin_unreachable();
  }
};

template <class T>
struct troupe_pointer;

/// Whatever a `T*` can do. One that is made of a plain pointer, as to a variable or to shared memory, is not checked.
#define TROUPE_POINTER_MEMBERS(T)                                                                                 \
  using element_type = T;                                                                                         \
  using reference = typename troupe_reference<T>::type;                                                           \
  troupe_pointer() = default;                                                                                     \
  template <class U, class = decltype(troupe_takes<T>(static_cast<U*>(nullptr)))>                                 \
  TROUPE_CHECKED troupe_pointer(const troupe_pointer<U>& other) : troupe_pointer(other.raw(), other.array) {}     \
  template <class I>                                                                                              \
  TROUPE_CHECKED reference operator[](I index) const {                                                            \
    T* const at = raw() + index;                                                                                  \
    this->array.check(at, sizeof(T));                                                                             \
    return *at;                                                                                                   \
  }                                                                                                               \
  TROUPE_CHECKED T* operator->() const { return checked(); }                                                      \
  /* To the element, which is there. */                                                                           \
  TROUPE_CHECKED T* checked() const {                                                                             \
    this->array.check(raw(), sizeof(T));                                                                          \
    return raw();                                                                                                 \
  }                                                                                                               \
  TROUPE_CHECKED explicit operator bool() const { return raw() != nullptr; }                                      \
  TROUPE_CHECKED explicit operator unsigned long long() const { return reinterpret_cast<unsigned long long>(raw()); } \
  TROUPE_CHECKED explicit operator unsigned long() const { return reinterpret_cast<unsigned long>(raw()); }       \
  TROUPE_CHECKED explicit operator long long() const { return reinterpret_cast<long long>(raw()); }               \
  template <class U>                                                                                              \
  TROUPE_CHECKED operator U*() const {                                                                            \
    static_assert(sizeof(troupe_itself<U>) == 0,                                                                  \
                  "checked mode: a pointer that knows its array is given to what takes a plain pointer; docs/gpu.md " \
                  "says which code cannot be checked");                                                           \
    return nullptr;                                                                                               \
  }

template <class T>
struct troupe_pointer<const T> {
  TROUPE_POINTER_MEMBERS(const T)
  TROUPE_CHECKED troupe_pointer(const T* plain)
      : at(plain), array{0, plain == nullptr ? 0 : ~0ull, nullptr, nullptr} {}
  TROUPE_CHECKED troupe_pointer(const T* of, const troupe_array& in) : at(of), array(in) {}
  TROUPE_CHECKED const T* raw() const { return at; }

  const T* at;
  troupe_array array;
};

template <class T>
struct troupe_pointer : troupe_pointer<const T> {
  TROUPE_POINTER_MEMBERS(T)
  TROUPE_CHECKED troupe_pointer(T* plain) : troupe_pointer<const T>(plain) {}
  TROUPE_CHECKED troupe_pointer(T* of, const troupe_array& in) : troupe_pointer<const T>(of, in) {}
  TROUPE_CHECKED T* raw() const { return const_cast<T*>(this->at); }
};

/// The parameter of a kernel.
template <class T>
TROUPE_CHECKED troupe_pointer<T> troupe_parameter(T* pointer, unsigned long long bytes, const char* name,
                                                  troupe_report* report) {
  return {pointer, troupe_array{reinterpret_cast<unsigned long long>(pointer), bytes, name, report}};
}

template <class T>
TROUPE_CHECKED T& operator*(const troupe_pointer<T>& p) {
  return *p.checked();
}
template <class T, class I>
TROUPE_CHECKED troupe_pointer<T> operator+(const troupe_pointer<T>& p, I by) {
  return {p.raw() + by, p.array};
}
template <class T, class I, class = decltype(static_cast<T*>(nullptr) + I())>
TROUPE_CHECKED troupe_pointer<T> operator+(I by, const troupe_pointer<T>& p) {
  return {p.raw() + by, p.array};
}
template <class T, class I, class = decltype(static_cast<T*>(nullptr) - static_cast<I>(0)), class = decltype(I() * 1)>
TROUPE_CHECKED troupe_pointer<T> operator-(const troupe_pointer<T>& p, I by) {
  return {p.raw() - by, p.array};
}
template <class T, class U>
TROUPE_CHECKED long long operator-(const troupe_pointer<T>& p, const troupe_pointer<U>& q) {
  return p.raw() - q.raw();
}
template <class T, class I>
TROUPE_CHECKED troupe_pointer<T>& operator+=(troupe_pointer<T>& p, I by) {
  p.at += by;
  return p;
}
template <class T, class I>
TROUPE_CHECKED troupe_pointer<T>& operator-=(troupe_pointer<T>& p, I by) {
  p.at -= by;
  return p;
}
template <class T>
TROUPE_CHECKED troupe_pointer<T>& operator++(troupe_pointer<T>& p) {
  ++p.at;
  return p;
}
template <class T>
TROUPE_CHECKED troupe_pointer<T>& operator--(troupe_pointer<T>& p) {
  --p.at;
  return p;
}
template <class T>
TROUPE_CHECKED troupe_pointer<T> operator++(troupe_pointer<T>& p, int) {
  const troupe_pointer<T> before = p;
  ++p.at;
  return before;
}
template <class T>
TROUPE_CHECKED troupe_pointer<T> operator--(troupe_pointer<T>& p, int) {
  const troupe_pointer<T> before = p;
  --p.at;
  return before;
}
#define TROUPE_COMPARES(op)                                                                      \
  template <class T, class U>                                                                    \
  TROUPE_CHECKED bool operator op(const troupe_pointer<T>& p, const troupe_pointer<U>& q) {      \
    return p.raw() op q.raw();                                                                   \
  }                                                                                              \
  template <class T>                                                                             \
  TROUPE_CHECKED bool operator op(const troupe_pointer<T>& p, const volatile void* q) {          \
    return static_cast<const volatile void*>(p.raw()) op q;                                      \
  }                                                                                              \
  template <class T>                                                                             \
  TROUPE_CHECKED bool operator op(const volatile void* p, const troupe_pointer<T>& q) {          \
    return p op static_cast<const volatile void*>(q.raw());                                      \
  }
TROUPE_COMPARES(==)
TROUPE_COMPARES(!=)
TROUPE_COMPARES(<)
TROUPE_COMPARES(>)
TROUPE_COMPARES(<=)
TROUPE_COMPARES(>=)
#undef TROUPE_COMPARES

// ---- what sources are written anew in ----

/// `&p[i]`, of which nothing is touched.
template <class T, class I>
TROUPE_CHECKED troupe_pointer<T> troupe_address(const troupe_pointer<T>& p, I index) {
  return p + index;
}
template <class T, class I>
TROUPE_CHECKED T* troupe_address(T* p, I index) {
  return p + index;
}

/// Casts between pointers, and from them to integers. The array stays the same.
template <class To>
struct troupe_caster {
  template <class T>
  static TROUPE_CHECKED To from(const troupe_pointer<T>& p) {
    return (To)p.raw();
  }
  template <class T>
  static TROUPE_CHECKED To from(T* p) {
    return (To)p;
  }
};
template <class To>
struct troupe_caster<To*> {
  template <class T>
  static TROUPE_CHECKED troupe_pointer<To> from(const troupe_pointer<T>& p) {
    return {(To*)p.raw(), p.array};
  }
  template <class T>
  static TROUPE_CHECKED To* from(T* p) {
    return (To*)p;
  }
  static TROUPE_CHECKED To* from(unsigned long long address) { return (To*)address; }
  static TROUPE_CHECKED To* from(unsigned long address) { return (To*)address; }
  static TROUPE_CHECKED To* from(long long address) { return (To*)address; }
  static TROUPE_CHECKED To* from(int address) { return (To*)(long long)address; }
  static TROUPE_CHECKED To* from(decltype(nullptr)) { return nullptr; }
};
template <class To, class From>
TROUPE_CHECKED auto troupe_cast(From&& from) {
  return troupe_caster<To>::from(from);
}

/// Of a call: a plain pointer as a checked one, and everything else as it is.
template <class T>
struct troupe_argument {
  static constexpr bool is_plain = false;
  template <class U>
  static TROUPE_CHECKED U& checked(U& argument) {
    return argument;
  }
};
template <class T>
struct troupe_argument<T&> : troupe_argument<T> {};
template <class T>
struct troupe_argument<const T> : troupe_argument<T> {};
template <class T>
struct troupe_argument<T*> {
  static constexpr bool is_plain = true;
  static TROUPE_CHECKED troupe_pointer<T> checked(T* argument) { return argument; }
};
template <class T, decltype(sizeof(0)) size>
struct troupe_argument<T[size]> : troupe_argument<T*> {};
template <class T, decltype(sizeof(0)) size>
struct troupe_argument<const T[size]> : troupe_argument<const T*> {};
template <bool condition>
struct troupe_if {};
template <>
struct troupe_if<true> {
  static constexpr bool value = true;
};
/// A function whose template's arguments are found by its pointers: it takes plain ones, too.
#define TROUPE_TAKES_PLAIN(name)                                                        \
  template <class... Troupe>                                                            \
  TROUPE_CHECKED auto name(Troupe&&... arguments)                                       \
      ->decltype(troupe_if<(troupe_argument<Troupe>::is_plain || ...)>::value,          \
                 name(troupe_argument<Troupe>::checked(arguments)...)) {                \
    return name(troupe_argument<Troupe>::checked(arguments)...);                        \
  }

// ---- functions of CUDA that take pointers ----

#define TROUPE_ATOMIC(name)                                                                           \
  template <class T, class V>                                                                         \
  TROUPE_CHECKED auto name(const troupe_pointer<T>& p, V value)->decltype(name(p.raw(), static_cast<T>(value))) { \
    return name(p.checked(), static_cast<T>(value));                                                  \
  }
#define TROUPE_ATOMICS(name) TROUPE_ATOMIC(name) TROUPE_ATOMIC(name##_block) TROUPE_ATOMIC(name##_system)
TROUPE_ATOMICS(atomicAdd)
TROUPE_ATOMICS(atomicSub)
TROUPE_ATOMICS(atomicMin)
TROUPE_ATOMICS(atomicMax)
TROUPE_ATOMICS(atomicAnd)
TROUPE_ATOMICS(atomicOr)
TROUPE_ATOMICS(atomicXor)
TROUPE_ATOMICS(atomicInc)
TROUPE_ATOMICS(atomicDec)
TROUPE_ATOMIC(atomicExch)
#undef TROUPE_ATOMICS
#undef TROUPE_ATOMIC
template <class T, class V, class W>
TROUPE_CHECKED auto atomicCAS(const troupe_pointer<T>& p, V compare, W value)
    -> decltype(atomicCAS(p.raw(), static_cast<T>(compare), static_cast<T>(value))) {
  return atomicCAS(p.checked(), static_cast<T>(compare), static_cast<T>(value));
}

#define TROUPE_LOAD(name)                                                                       \
  template <class T>                                                                            \
  TROUPE_CHECKED auto name(const troupe_pointer<T>& p)->decltype(name(p.raw())) {               \
    return name(p.checked());                                                                   \
  }
#define TROUPE_STORE(name)                                                                      \
  template <class T, class V>                                                                   \
  TROUPE_CHECKED auto name(const troupe_pointer<T>& p, V value)->decltype(name(p.raw(), static_cast<T>(value))) { \
    name(p.checked(), static_cast<T>(value));                                                   \
  }
TROUPE_LOAD(__ldg)
TROUPE_LOAD(__ldcs)
TROUPE_LOAD(__ldca)
TROUPE_LOAD(__ldcg)
TROUPE_LOAD(__ldcv)
TROUPE_LOAD(__ldlu)
TROUPE_STORE(__stcs)
TROUPE_STORE(__stcg)
TROUPE_STORE(__stwb)
TROUPE_STORE(__stwt)
#undef TROUPE_LOAD
#undef TROUPE_STORE
#undef TROUPE_POINTER_MEMBERS
