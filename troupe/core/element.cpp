#include "troupe/core/element.hpp"

#include <array>
#include <string>

#include "troupe/core/shape.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::array<std::string_view, kDTypes> kNames{"f64", "f32",  "f16", "bf16", "f8e4m3", "f8e5m2",
                                                       "i8",  "u8",   "i16", "i32",  "u32",    "i64",
                                                       "u64", "bool", "c64", "c128", "u16"};

}  // namespace

std::string_view name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  TROUPE_ASSERT(index < kNames.size(), "a DType is one of its enumerators");
  return kNames[index];
}

Result<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return fail(ErrorKind::invalid_argument, "there is no element type \"" + std::string(name) + "\"");
}

}  // namespace troupe::inline v0
