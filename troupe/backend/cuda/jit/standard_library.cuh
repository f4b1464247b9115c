// What our headers need of the C++ library and of cuda_fp16.h and cuda_bf16.h, for NVRTC, which has neither: the names
// that these headers use, in the meaning that they have there, and no more. A machine that has NVRTC alone so compiles
// what nvcc has compiled here, and the same instructions come of it. NVRTC gets it under the names of all those headers,
// so it is guarded by a name, not by its file.
#ifndef TROUPE_STANDARD_LIBRARY_FOR_NVRTC
#define TROUPE_STANDARD_LIBRARY_FOR_NVRTC

namespace std {

using size_t = decltype(sizeof(0));
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;

// ---- types ----

template <class T, T number>
struct integral_constant {
  static constexpr T value = number;
};
template <class T>
struct type_identity {
  using type = T;
};

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T, class... Ts>
inline constexpr bool kIsOneOf = (is_same_v<T, Ts> || ...);
template <class T>
inline constexpr bool is_integral_v =
    kIsOneOf<T, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
             long long, unsigned long long>;
template <class T>
inline constexpr bool is_floating_point_v = kIsOneOf<T, float, double>;
template <class T>
inline constexpr bool is_signed_v = kIsOneOf<T, signed char, short, int, long, long long, float, double>;

template <bool condition, class A, class>
struct Conditional {
  using type = A;
};
template <class A, class B>
struct Conditional<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename Conditional<condition, A, B>::type;
template <class T>
using make_unsigned_t = conditional_t<
    sizeof(T) == 1, unsigned char,
    conditional_t<sizeof(T) == 2, unsigned short,
                  conditional_t<sizeof(T) == 4, unsigned,
                                conditional_t<kIsOneOf<T, long, unsigned long>, unsigned long, unsigned long long>>>>;

template <class A, class B>
concept same_as = is_same_v<A, B>;
template <class T>
concept integral = is_integral_v<T>;
template <class T>
concept floating_point = is_floating_point_v<T>;
template <class T>
concept unsigned_integral = is_integral_v<T> && !is_signed_v<T>;

/// Only a list of types.
template <class...>
struct tuple {};
template <class>
inline constexpr size_t tuple_size_v = 0;
template <class... Ts>
inline constexpr size_t tuple_size_v<tuple<Ts...>> = sizeof...(Ts);
template <size_t i, class>
struct TupleElement;
template <class T, class... Ts>
struct TupleElement<0, tuple<T, Ts...>> {
  using type = T;
};
template <size_t i, class T, class... Ts>
struct TupleElement<i, tuple<T, Ts...>> : TupleElement<i - 1, tuple<Ts...>> {};
template <size_t i, class Types>
using tuple_element_t = typename TupleElement<i, Types>::type;

template <class T, T...>
struct integer_sequence {};
template <class T, size_t n, T... numbers>
struct CountedDown : CountedDown<T, n - 1, static_cast<T>(n - 1), numbers...> {};
template <class T, T... numbers>
struct CountedDown<T, 0, numbers...> {
  using type = integer_sequence<T, numbers...>;
};
template <class T, T count>
using make_integer_sequence = typename CountedDown<T, static_cast<size_t>(count)>::type;

// ---- values ----

/// Names of functions and types: there, but never used on a GPU.
struct string_view {
  const char* text = "";
  constexpr string_view(const char* all = "") : text(all) {}
};
template <class T, size_t n>
struct array {
  T items[n];
  constexpr const T& operator[](size_t i) const { return items[i]; }
};

template <class To, class From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <class T>
struct numeric_limits {  // of integers
  static constexpr int digits = static_cast<int>(sizeof(T)) * 8 - (is_signed_v<T> ? 1 : 0);
  static constexpr T max() {
    return static_cast<T>(((make_unsigned_t<T>{1} << (digits - 1)) - 1) * 2 + 1);
  }
  static constexpr T min() { return is_signed_v<T> ? static_cast<T>(-max() - 1) : T{0}; }
};
template <>
struct numeric_limits<float> {
  static constexpr float min() { return 0x1p-126F; }
  static constexpr float max() { return 0x1.fffffep+127F; }
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000U); }
  static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000U); }
};
template <>
struct numeric_limits<double> {
  static constexpr double min() { return 0x1p-1022; }
  static constexpr double max() { return 0x1.fffffffffffffp+1023; }
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000UL); }
  static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000UL); }
};

template <class T>
class complex {
 public:
  using value_type = T;
  constexpr complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  friend constexpr bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }

 private:
  T real_;
  T imag_;
};

// ---- functions: the compiler has them, for both types ----

using ::atan2;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log1p;
using ::pow;
using ::rint;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;

}  // namespace std

// ---- floats of 16 bits: the instructions of cuda_fp16.h and cuda_bf16.h ----

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};
__device__ inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
__device__ inline unsigned short __half_as_ushort(__half number) { return number.bits; }
__device__ inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
__device__ inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 number) { return number.bits; }

__device__ inline float __half2float(__half number) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(number.bits));
  return result;
}
__device__ inline __half __float2half_rn(float number) {
  __half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(number));
  return result;
}
__device__ inline __half __double2half(double number) {
  __half result;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(number));
  return result;
}
__device__ inline float __bfloat162float(__nv_bfloat16 number) {
  return __uint_as_float(static_cast<unsigned>(number.bits) << 16);
}
__device__ inline __nv_bfloat16 __float2bfloat16_rn(float number) {
  __nv_bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(number));
  return result;
}
/// Through a float that is rounded to odd, so that rounding it again rounds as if once.
__device__ inline __nv_bfloat16 __double2bfloat16(double number) {
  float close = static_cast<float>(number);
  const double back = close;
  if (fabs(number) < fabs(back)) close = __uint_as_float(__float_as_uint(close) - 1);
  if (back != number) close = __uint_as_float(__float_as_uint(close) | 1);
  return __float2bfloat16_rn(close);
}

#endif
