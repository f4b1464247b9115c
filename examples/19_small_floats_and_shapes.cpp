// Small floats and shapes: the element types of arrays, with conversions that round as the hardware does, and shapes
// whose sizes are checked for overflow. Shapes may come from users: a bad one is an error, never a crash.
#include <cstdint>
#include <cstdio>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

bool rounds_as_the_hardware_does() {
  const f16 tenth(0.1f);
  std::printf("0.1 in f16 is %.10g, in bf16 %.10g, in f8e4m3 %g\n", static_cast<double>(tenth),
              static_cast<double>(bf16(0.1f)), static_cast<double>(f8e4m3(0.1f)));
  std::printf("1e6 in f16 is %g, in f8e4m3 %g: f16 has infinities, the 8-bit types saturate\n",
              static_cast<double>(f16(1e6f)), static_cast<double>(f8e4m3(1e6f)));
  return tenth.bits == 0x2E66 && static_cast<float>(f8e4m3(1e6f)) == 448.0f && convert<std::int8_t>(300.0f) == 127 &&
         convert<std::int32_t>(bf16(-2.5f)) == -2;
}

bool types_have_names() {
  const DType dtype = value(parse_dtype("bf16"));
  const bool right = visit(dtype, []<class T>(std::type_identity<T>) { return std::is_same_v<T, bf16>; });
  std::printf("%s: %d bytes\n", std::string(name(dtype)).c_str(), static_cast<int>(size_bytes(dtype)));
  return right && dtype_of<float> == DType::f32 && parse_dtype("f7").error().kind() == ErrorKind::invalid_argument;
}

bool sizes_are_checked() {
  const Shape matrix{2, 3};
  const std::int64_t bytes = value(size_bytes(matrix, DType::f16));
  std::printf("%s has strides %s and %d bytes in f16\n", matrix.to_string().c_str(),
              contiguous_strides(matrix).to_string().c_str(), static_cast<int>(bytes));
  const Strides columns_first{1, 2};
  const OffsetSpan touched = value(span_of(matrix, columns_first));

  const Result<std::int64_t> huge = element_count(Shape{INT64_MAX, 2});
  const Result<std::int64_t> negative = element_count(Shape{4, -1});
  std::printf("%s\n%s\n", huge.error().to_string().c_str(), negative.error().to_string().c_str());
  return bytes == 12 && !is_contiguous(matrix, columns_first) && touched.length() == 6 && !huge && !negative;
}

int main() {
  const bool rounds = rounds_as_the_hardware_does();
  const bool named = types_have_names();
  return sizes_are_checked() && rounds && named ? 0 : 1;
}
