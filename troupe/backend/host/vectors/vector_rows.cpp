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

#define TROUPE_LEVEL_ROWS "troupe/backend/host/vectors/vector_rows.inc"
#include "troupe/backend/host/vectors/each_level.inc"

}  // namespace

const VectorRows& vector_rows(VectorLevel level) noexcept { return rows_of<VectorRows>(level); }

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
