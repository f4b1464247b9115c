#include "troupe/library/dnn/dnn_verdict.hpp"

#include <string>

#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

using op::DnnFault;

std::string number_in(std::span<const std::int32_t> words, std::size_t which) {
  const auto low = static_cast<std::uint32_t>(words[2 + 2 * which]);
  const auto high = static_cast<std::uint32_t>(words[3 + 2 * which]);
  return std::to_string(static_cast<std::int64_t>((std::uint64_t{high} << 32) | low));
}

std::string sentence_of(DnnFault fault, const std::string& place, const std::string& value, const std::string& bound) {
  const std::string within = "; it must be from 0 to ";
  switch (fault) {
    case DnnFault::index_outside: return "index " + place + " is " + value + within + "before " + bound;
    case DnnFault::class_outside: return "target " + place + " is " + value + within + "before " + bound;
    case DnnFault::probability_outside: return "element " + place + " of target is no probability, from 0 to 1";
    case DnnFault::length_outside: return "length " + place + " is " + value + within + bound;
    case DnnFault::first_offset: return "the first offset is " + value + "; it must be 0";
    case DnnFault::offset_falls:
      return "offset " + place + " is " + value + ", after " + bound + "; offsets must not fall";
    case DnnFault::last_offset:
      return "the last offset is " + value + "; it must be " + bound + ", the number of tokens";
    case DnnFault::block_outside: return "block " + place + " of the table is " + value + within + "before " + bound;
    case DnnFault::none: break;
  }
  return "the verdict " + std::to_string(static_cast<int>(fault)) + " has no meaning";
}

}  // namespace

Result<void> judge_dnn(std::string_view call, std::span<const std::int32_t> words) {
  const auto fault = static_cast<DnnFault>(words[0]);
  if (fault == DnnFault::none) return {};
  return op::refuse(call, sentence_of(fault, number_in(words, 0), number_in(words, 1), number_in(words, 2)));
}

}  // namespace troupe::inline v0
