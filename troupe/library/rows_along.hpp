// Arrays as ops on rows want them: with the axis that a call names behind all others. Once for all families that have
// rows. For the library's sources.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "troupe/device/make_call.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {

/// An array under the name that the call gives it.
struct NamedArray {
  std::string_view name;
  const AnyArray& array;
};

/// The same array with the axis behind all others: ops know rows only. An array without axes stays as it is, and the
/// op refuses it.
inline Result<AnyArray> rows_along(const Device& device, std::string_view call, const NamedArray& named, int axis) {
  TROUPE_TRY(DeviceParts::check(device, call, named.name, named.array));
  const int rank = named.array.rank();
  const int counted = axis < 0 ? axis + rank : axis;
  if (rank == 0 || counted == rank - 1) return named.array;
  if (counted < 0 || counted >= rank)
    return op::refuse(call, std::string(named.name) + " is " + named.array.shape().to_string() + "; it has no axis " +
                                std::to_string(axis));
  std::array<int, kMaxRank> order{};
  int at = 0;
  for (int i = 0; i < rank; ++i)
    if (i != counted) order[static_cast<std::size_t>(at++)] = i;
  order[static_cast<std::size_t>(at)] = counted;
  return named.array.permute(std::span(order).first(static_cast<std::size_t>(rank)));
}

}  // namespace troupe::inline v0
