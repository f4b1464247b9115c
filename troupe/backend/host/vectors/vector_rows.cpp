#include "troupe/backend/host/vectors/vector_rows.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <type_traits>
#include <utility>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/vectors/half_bits.hpp"
#include "troupe/backend/host/vectors/sleef.hpp"
#include "troupe/op/tensor_functions.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between functions of one level only
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of g++ 12, in its own header for AVX-512
#endif

namespace troupe::host {
namespace {

template <class C>
using One = typename NumberRows<C>::One;
template <class C>
using Two = typename NumberRows<C>::Two;

// How vectors of more than 128 bits are passed to a function follows, in clang, from the options of the whole file.
// SLEEF expects them in registers, so there its functions of 128 bits are called at every level.
#ifdef __clang__
#define TROUPE_SLEEF_LEVEL_OF(level) basic
#else
#define TROUPE_SLEEF_LEVEL_OF(level) level
#endif

/// What the level that every CPU has does with f16: instructions on ARM, none elsewhere. The NaN is that of
/// small_float.hpp.
struct BasicHalves {
#ifdef __aarch64__
  static constexpr std::int64_t kNumbers = 4;
  static void widen(const std::byte* in, std::byte* out) noexcept {
    const float32x4_t wide = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(reinterpret_cast<const std::uint8_t*>(in))));
    const uint32x4_t number = vbslq_u32(vceqq_f32(wide, wide), vreinterpretq_u32_f32(wide), vdupq_n_u32(0x7FFF'FFFF));
    vst1q_u8(reinterpret_cast<std::uint8_t*>(out), vreinterpretq_u8_u32(number));
  }
  static void narrow(const std::byte* in, std::byte* out) noexcept {
    const float32x4_t wide = vreinterpretq_f32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(in)));
    const uint16x4_t half = vreinterpret_u16_f16(vcvt_f16_f32(wide));
    const uint16x4_t number = vbsl_u16(vmovn_u32(vceqq_f32(wide, wide)), half, vdup_n_u16(0x7FFF));
    vst1_u8(reinterpret_cast<std::uint8_t*>(out), vreinterpret_u8_u16(number));
  }
#else
  static constexpr std::int64_t kNumbers = 0;
#endif
};

/// Calls `f` with every function of a kind as a constant.
template <class F, class Call>
void each_function(Call&& call) {
  [&]<std::size_t... numbers>(std::index_sequence<numbers...>) {
    (call(std::integral_constant<F, static_cast<F>(numbers)>{}), ...);
  }(std::make_index_sequence<kFunctionsOf<F>>{});
}

/// Calls `f` with the types whose conversions vectors make quicker.
template <class Call>
void each_real_type(Call&& call) {
  [&]<class... Ts>(std::type_identity<std::tuple<Ts...>>) {
    const auto attempt = [&]<class T>(std::type_identity<T> type) {
      if constexpr (!detail::kIsComplex<T> && (!detail::kIsSmallFloat<T> || sizeof(T) == 2)) call(type);
    };
    (attempt(std::type_identity<Ts>{}), ...);
  }(std::type_identity<detail::ElementTypes>{});
}

namespace basic {
constexpr VectorLevel kThisLevel = VectorLevel::basic;
using Halves = BasicHalves;
#define TROUPE_VECTOR_BYTES 16
#define TROUPE_SLEEF_LEVEL TROUPE_SLEEF_LEVEL_OF(basic)
#include "troupe/backend/host/vectors/vector_rows.inc"
#undef TROUPE_SLEEF_LEVEL
#undef TROUPE_VECTOR_BYTES
}  // namespace basic

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
namespace avx2 {
constexpr VectorLevel kThisLevel = VectorLevel::avx2;
/// The CPU's own conversions, with the NaN of small_float.hpp.
struct Halves {
  static constexpr std::int64_t kNumbers = 8;
  static void widen(const std::byte* in, std::byte* out) noexcept {
    const __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFF'FFFF));
    _mm256_storeu_ps(reinterpret_cast<float*>(out),
                     _mm256_blendv_ps(wide, nan, _mm256_cmp_ps(wide, wide, _CMP_UNORD_Q)));
  }
  static void narrow(const std::byte* in, std::byte* out) noexcept {
    const __m256 wide = _mm256_loadu_ps(reinterpret_cast<const float*>(in));
    const __m128i half = _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(wide, wide, _CMP_UNORD_Q));
    const __m128i mask = _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_blendv_epi8(half, _mm_set1_epi16(0x7FFF), mask));
  }
};
#define TROUPE_VECTOR_BYTES 32
#define TROUPE_SLEEF_LEVEL TROUPE_SLEEF_LEVEL_OF(avx2)
#include "troupe/backend/host/vectors/vector_rows.inc"
#undef TROUPE_SLEEF_LEVEL
#undef TROUPE_VECTOR_BYTES
}  // namespace avx2
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(                                                                           \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512))), \
    apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
namespace avx512 {
constexpr VectorLevel kThisLevel = VectorLevel::avx512;
struct Halves {
  static constexpr std::int64_t kNumbers = 16;
  static void widen(const std::byte* in, std::byte* out) noexcept {
    const __m512 wide = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FFF'FFFF));
    _mm512_storeu_ps(out, _mm512_mask_blend_ps(_mm512_cmp_ps_mask(wide, wide, _CMP_UNORD_Q), wide, nan));
  }
  static void narrow(const std::byte* in, std::byte* out) noexcept {
    const __m512 wide = _mm512_loadu_ps(in);
    const __m256i half = _mm512_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(wide, wide, _CMP_UNORD_Q);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_mask_blend_epi16(is_nan, half, _mm256_set1_epi16(0x7FFF)));
  }
};
#define TROUPE_VECTOR_BYTES 64
#define TROUPE_SLEEF_LEVEL TROUPE_SLEEF_LEVEL_OF(avx512)
#include "troupe/backend/host/vectors/vector_rows.inc"
#undef TROUPE_SLEEF_LEVEL
#undef TROUPE_VECTOR_BYTES
}  // namespace avx512
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

}  // namespace

const VectorRows& vector_rows([[maybe_unused]] VectorLevel level) noexcept {
#ifdef __x86_64__
  if (level == VectorLevel::avx512) {
    static const auto* const kRows = new VectorRows(avx512::make_vector_rows());
    return *kRows;
  }
  if (level == VectorLevel::avx2) {
    static const auto* const kRows = new VectorRows(avx2::make_vector_rows());
    return *kRows;
  }
#endif
  static const auto* const kRows = new VectorRows(basic::make_vector_rows());
  return *kRows;
}

const VectorRows& vector_rows() noexcept {
  static const VectorRows& kRows = vector_rows(vector_level());
  return kRows;
}

template <class C>
const NumberRows<C>& complex_rows() noexcept {
  static const auto* const kRows = new NumberRows<C>(basic::make_number_rows<C>());
  return *kRows;
}
template const NumberRows<std::complex<float>>& complex_rows();
template const NumberRows<std::complex<double>>& complex_rows();

const FoldRows<std::complex<double>>& complex_folds() noexcept {
  static const auto* const kRows = new FoldRows<std::complex<double>>(basic::make_fold_rows<std::complex<double>>());
  return *kRows;
}

}  // namespace troupe::host
