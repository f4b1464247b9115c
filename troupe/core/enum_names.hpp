// The names of an enum's values, as they are spelled in the source: made by the compiler, so that nobody writes them
// twice. For enums whose values go from 0 to `kLast` without gaps.
//
//   enum class Triangle { lower, upper, kLast = upper };
//   enum_names<Triangle>()[1]  // "upper"
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace troupe::inline v0 {

/// The spelling of one value, which the compiler puts at the end of this function's own name.
template <auto value>
constexpr std::string_view enum_name() noexcept {
  const std::string_view function = __PRETTY_FUNCTION__;  // "... [with auto value = troupe::Triangle::upper; ...]"
  const std::size_t begin = function.find("value = ") + 8;
  const std::string_view rest = function.substr(begin, function.find_first_of(";]", begin) - begin);
  const std::size_t colon = rest.rfind(':');
  return colon == std::string_view::npos ? rest : rest.substr(colon + 1);
}

namespace internal {
template <class E>
inline constexpr auto kEnumNames = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<std::string_view, sizeof...(i)>{enum_name<static_cast<E>(i)>()...};
}(std::make_index_sequence<static_cast<std::size_t>(E::kLast) + 1>{});
}  // namespace internal

/// The names of all values, by their numbers.
template <class E>
constexpr const auto& enum_names() noexcept {
  return internal::kEnumNames<E>;
}

}  // namespace troupe::inline v0
