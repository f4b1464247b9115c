// CUDA's functions of numbers. Products are rounded before they are added, unless a function's name says otherwise.
#pragma once

#include "threads_and_atomics.h"

// ---- floating-point ----

#define TROUPE_SAME(name, as) inline float name(float x) { return as(x); }
TROUPE_SAME(__expf, expf)
TROUPE_SAME(__logf, logf)
TROUPE_SAME(__log2f, log2f)
TROUPE_SAME(__log10f, log10f)
TROUPE_SAME(__sinf, sinf)
TROUPE_SAME(__cosf, cosf)
TROUPE_SAME(__tanf, tanf)
TROUPE_SAME(__tanhf, tanhf)
TROUPE_SAME(__fsqrt_rn, sqrtf)
#undef TROUPE_SAME
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * fmod(static_cast<double>(x), 2.0))); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * fmod(static_cast<double>(x), 2.0))); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

namespace troupe_kernel {
template <class A, class B>
using Common = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, std::common_type_t<A, B>>;
}
template <class A, class B>
constexpr troupe_kernel::Common<A, B> min(A a, B b) {
  using T = troupe_kernel::Common<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  return x < y || y != y ? x : y;  // a number, where the other is none
}
template <class A, class B>
constexpr troupe_kernel::Common<A, B> max(A a, B b) {
  using T = troupe_kernel::Common<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  return y < x || y != y ? x : y;
}
constexpr unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
constexpr unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
constexpr long long llmin(long long a, long long b) { return a < b ? a : b; }
constexpr long long llmax(long long a, long long b) { return a < b ? b : a; }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

// ---- bits ----

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
  x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
  x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned how = selector >> 4 * i & 15;
    unsigned byte = static_cast<unsigned>(both >> 8 * (how & 7) & 255);
    if ((how & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32); }
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __mul24(int x, int y) {
  return static_cast<int>(static_cast<unsigned>((x << 8 >> 8)) * static_cast<unsigned>((y << 8 >> 8)));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffU) * (y & 0xffffffU); }
inline unsigned __sad(int x, int y, unsigned z) {
  return z + static_cast<unsigned>(x < y ? static_cast<int64_t>(y) - x : static_cast<int64_t>(x) - y);
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }

// ---- from type to type ----

namespace troupe_kernel {
/// A GPU gives the nearest number where there is none, and 0 for what is no number.
template <class To, class From>
To saturated(From x) {
  if (x != x) return 0;
  if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}
template <class To, class From>
To copied(From x) {
  static_assert(sizeof(To) == sizeof(From), "");
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}
}  // namespace troupe_kernel

#define TROUPE_TO_INTEGER(name, from, to)                                                                 \
  inline to name##_rn(from x) { return troupe_kernel::saturated<to>(std::nearbyint(x)); }                 \
  inline to name##_rz(from x) { return troupe_kernel::saturated<to>(std::trunc(x)); }                     \
  inline to name##_ru(from x) { return troupe_kernel::saturated<to>(std::ceil(x)); }                      \
  inline to name##_rd(from x) { return troupe_kernel::saturated<to>(std::floor(x)); }
TROUPE_TO_INTEGER(__float2int, float, int)
TROUPE_TO_INTEGER(__float2uint, float, unsigned)
TROUPE_TO_INTEGER(__float2ll, float, long long)
TROUPE_TO_INTEGER(__float2ull, float, unsigned long long)
TROUPE_TO_INTEGER(__double2int, double, int)
TROUPE_TO_INTEGER(__double2uint, double, unsigned)
TROUPE_TO_INTEGER(__double2ll, double, long long)
TROUPE_TO_INTEGER(__double2ull, double, unsigned long long)
#undef TROUPE_TO_INTEGER
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return static_cast<double>(x); }
inline double __uint2double_rn(unsigned x) { return static_cast<double>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline int __float_as_int(float x) { return troupe_kernel::copied<int>(x); }
inline unsigned __float_as_uint(float x) { return troupe_kernel::copied<unsigned>(x); }
inline float __int_as_float(int x) { return troupe_kernel::copied<float>(x); }
inline float __uint_as_float(unsigned x) { return troupe_kernel::copied<float>(x); }
inline long long __double_as_longlong(double x) { return troupe_kernel::copied<long long>(x); }
inline double __longlong_as_double(long long x) { return troupe_kernel::copied<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                                     static_cast<unsigned>(low)));
}

// ---- loads and stores that say how they are cached ----

#define TROUPE_LOAD(name)      \
  template <class T>           \
  T name(const T* address) {   \
    return *address;           \
  }
TROUPE_LOAD(__ldg)
TROUPE_LOAD(__ldca)
TROUPE_LOAD(__ldcg)
TROUPE_LOAD(__ldcs)
TROUPE_LOAD(__ldlu)
TROUPE_LOAD(__ldcv)
#undef TROUPE_LOAD
#define TROUPE_STORE(name)              \
  template <class T>                    \
  void name(T* address, T value) {      \
    *address = value;                   \
  }
TROUPE_STORE(__stwb)
TROUPE_STORE(__stcg)
TROUPE_STORE(__stcs)
TROUPE_STORE(__stwt)
#undef TROUPE_STORE
