// The functions that put elements together, as constants, with the types that have them: loops over rows are compiled
// for each, and none asks in its innermost turn which function it runs.
#pragma once

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/op/primitives_functions.hpp"

namespace troupe::host {

/// Whether elements of `T` may be put together to `T`.
template <Combine function, class T>
inline constexpr bool kCombines = !detail::kIsComplex<T> && (!detail::kIsSmallFloat<T> || sizeof(T) > 1) &&
                                  (function == Combine::min || function == Combine::max ||
                                   (function < Combine::min ? !std::same_as<T, bool> : std::integral<T>));

/// Calls `f(function, type)` with both as constants, of those that go together.
template <class F>
void with_combine(Combine function, DType dtype, F&& f) {
  visit(dtype, [&]<class T>(std::type_identity<T> type) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto attempt = [&]<Combine known>(std::integral_constant<Combine, known> constant) {
        if constexpr (kCombines<known, T>)
          if (known == function) f(constant, type);
      };
      (attempt(std::integral_constant<Combine, static_cast<Combine>(i)>{}), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Combine::kLast) + 1>{});
  });
}

/// From memory that may be unaligned.
template <class T>
T load_bits_or_bool(const std::byte* from) noexcept {
  if constexpr (std::same_as<T, bool>) {
    return *from != std::byte{0};
  } else {
    T bits;
    std::memcpy(&bits, from, sizeof(T));
    return bits;
  }
}

}  // namespace troupe::host
