#include "troupe/backend/host/blas/blas_kernels.hpp"

#include <type_traits>

#include "troupe/backend/host/kernels/walk.hpp"

namespace troupe::host {
namespace {

template <class T>
void axpy_element(detail::ComputeType<T> alpha, const std::byte* x, std::byte* y) noexcept {
  const auto in = detail::to_compute(load<T>(x));
  const auto before = detail::to_compute(load<T>(y));
  if constexpr (detail::kIsComplex<T>) {  // without the detour for infinities that `operator*` takes
    store(y, T(before.real() + (alpha.real() * in.real() - alpha.imag() * in.imag()),
               before.imag() + (alpha.real() * in.imag() + alpha.imag() * in.real())));
  } else {
    store(y, static_cast<T>(before + alpha * in));
  }
}

template <class T>
void axpy_row(detail::ComputeType<T> alpha, const std::byte* x, std::int64_t x_step, std::byte* y, std::int64_t y_step,
              std::int64_t count) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if constexpr (std::is_arithmetic_v<T>) {
    using Part = typename detail::UnsignedOf<T>::type;
    using Vector [[gnu::vector_size(16)]] = Part;
    constexpr std::int64_t kBytes = sizeof(Vector);
    if (x_step == kSize && y_step == kSize) {
      const auto factor = static_cast<Part>(alpha);
      for (; count >= kBytes / kSize; count -= kBytes / kSize, x += kBytes, y += kBytes) {
        Vector in;
        Vector sum;
        std::memcpy(&in, x, kBytes);
        std::memcpy(&sum, y, kBytes);
        sum += factor * in;
        std::memcpy(y, &sum, kBytes);
      }
    }
  }
  for (; count > 0; --count, x += x_step, y += y_step) axpy_element<T>(alpha, x, y);
}

}  // namespace

Result<void> axpy(const op::Scalar& alpha, const HostView& x, const HostView& y, Team& team) {
  TROUPE_TRY(check_same_shape(x, y));
  TROUPE_TRY(check_same_dtype(x, y));
  return visit(y.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if constexpr (std::same_as<T, bool>) {
      return fail(
          ErrorKind::unsupported,
          "axpy adds numbers, not bool; it takes f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 u8 i16 u16 i32 u32 i64 u64 c64 "
          "c128");
    } else {
      const auto factor = alpha.as_factor<T>();
      walk<2>({&x, &y}, team, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
        axpy_row<T>(factor, at[0], step[0], at[1], step[1], count);
      });
      return {};
    }
  });
}

}  // namespace troupe::host
