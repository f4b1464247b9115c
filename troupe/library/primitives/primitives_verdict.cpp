#include "troupe/library/primitives/primitives_verdict.hpp"

#include <string>

#include "troupe/op/check.hpp"
#include "troupe/op/primitives_finding.hpp"

namespace troupe::inline v0 {
namespace {

using op::PrimitivesFault;

std::string number(std::span<const std::int32_t> words, std::size_t which) {
  const auto low = static_cast<std::uint32_t>(words[2 + 2 * which]);
  const auto high = static_cast<std::uint32_t>(words[3 + 2 * which]);
  return std::to_string(static_cast<std::int64_t>((std::uint64_t{high} << 32) | low));
}

std::string sentence(PrimitivesFault fault, const std::string& place, const std::string& value,
                     const std::string& bound) {
  switch (fault) {
    case PrimitivesFault::first_offset: return "the first offset is " + value + "; it must be 0";
    case PrimitivesFault::offset_falls:
      return "offset " + place + " is " + value + ", after " + bound + "; offsets must not fall";
    case PrimitivesFault::last_offset:
      return "the last offset is " + value + "; it must be " + bound + ", the number of elements";
    case PrimitivesFault::bound_falls: return "bound " + place + " is less than the one before it; bounds must ascend";
    case PrimitivesFault::bound_is_nan: return "bound " + place + " is NaN";
    case PrimitivesFault::index_outside:
      return "index " + place + " is " + value + "; it must be from 0 to before " + bound;
    case PrimitivesFault::a_falls:
      return "element " + place + " of a is less than the one before it; a must ascend: sort it first";
    case PrimitivesFault::b_falls:
      return "element " + place + " of b is less than the one before it; b must ascend: sort it first";
    case PrimitivesFault::none: break;
  }
  return "the verdict " + std::to_string(static_cast<int>(fault)) + " has no meaning";
}

}  // namespace

Result<void> judge_primitives(std::string_view call, std::span<const std::int32_t> words) {
  const auto fault = static_cast<PrimitivesFault>(words[0]);
  if (fault == PrimitivesFault::none) return {};
  return op::refuse(call, sentence(fault, number(words, 0), number(words, 1), number(words, 2)));
}

}  // namespace troupe::inline v0
