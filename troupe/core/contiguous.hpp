// Elements in ordinary memory, as functions take them that copy from there or to there: a vector, an array, a span or
// any other range whose elements lie side by side, of either constness. What does not fit is answered by a sentence.
#pragma once

#include <concepts>
#include <ranges>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// A range whose elements lie side by side. (`std::vector<bool>` is none: it packs bits.)
template <class R>
concept Contiguous = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// The same with elements of `T`.
template <class R, class T>
concept ContiguousOf = Contiguous<R> && std::same_as<std::ranges::range_value_t<R>, T>;

/// The same with elements that may be written.
template <class R, class T>
concept WritableOf = ContiguousOf<R, T> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Whether the elements are still there when the call that got `R&&` has returned: it was given a name, or it is a view
/// of elements that are elsewhere.
template <class R>
concept Lasting = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
