#include "troupe/backend/host/fft/fft_rows.hpp"

#include <tuple>
#include <utility>

#include "troupe/backend/host/vectors/vector_rows.hpp"
#include "troupe/core/sanitized.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between functions of one level only
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // as many numbers as the radix has
#endif

namespace troupe::host {
namespace {

using AllFftRows = std::tuple<FftRows<float>, FftRows<double>>;

#define TROUPE_LEVEL_ROWS "troupe/backend/host/fft/fft_rows.inc"
#include "troupe/backend/host/vectors/each_level.inc"

}  // namespace

template <class T>
const FftRows<T>& fft_rows(VectorLevel level) noexcept {
  return std::get<FftRows<T>>(rows_of<AllFftRows>(level));
}
template <class T>
const FftRows<T>& fft_rows() noexcept {
  static const FftRows<T>& kRows = fft_rows<T>(vector_level());
  return kRows;
}
template const FftRows<float>& fft_rows(VectorLevel) noexcept;
template const FftRows<double>& fft_rows(VectorLevel) noexcept;
template const FftRows<float>& fft_rows() noexcept;
template const FftRows<double>& fft_rows() noexcept;

}  // namespace troupe::host
