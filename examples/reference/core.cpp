// What actors and devices share, name by name: results and errors, time, the log, element types, shapes. The reference
// shows what stands between `// example:` and `// end`.
#include <array>
#include <string>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

// example: Result, fail, Unexpected
Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorKind::invalid_argument, std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = TROUPE_TRY(half(number));  // returns the error, if there is one: an `Unexpected`
  return half(once);
}
// end

void results_and_errors() {
  expect(quarter(12) == 3 && !quarter(6));

  // example: value, Exception
  expect(value(half(8)) == 4);
  try {
    value(half(7));
  } catch (const Exception& exception) {
    expect(exception.error().message() == "7 is odd");
  }
  // end

  // example: Error, ErrorKind, ErrorOrigin, name
  const Error error(ErrorKind::library_error, "bad handle", ErrorOrigin{.library = "cublas", .native_code = 1});
  expect(error.kind() == ErrorKind::library_error && name(error.kind()) == "library_error");
  expect(error.to_string() == "library_error: bad handle [library cublas, code 1]");
  expect(Error(ErrorKind::timeout).message() == "no answer came in time");
  // end

  // example: kErrorKinds
  std::array<int, kErrorKinds> counts{};
  ++counts[static_cast<std::size_t>(error.kind())];
  // end
}

void time_and_log() {
  // example: Duration, TimePoint, to_string
  const Duration patience = 5ms;
  const TimePoint until = std::chrono::steady_clock::now() + patience;
  expect(until.time_since_epoch() > patience && to_string(patience) == "5 ms");
  // end

  // example: LogSink, LogRecord, LogLevel
  std::vector<std::string> lines;
  const LogSink keep = [&](const LogRecord& record) {  // called from any thread; here there is one
    if (record.level >= LogLevel::warning)
      lines.push_back(std::string(record.source) + ": " + std::string(record.message));
  };
  keep(LogRecord{LogLevel::error, std::chrono::steady_clock::now(), "pool", "a handler does not return"});
  expect(lines.at(0) == "pool: a handler does not return");
  // end

  // example: log_nothing, log_to_stderr
  System quiet({.log = log_nothing()});
  System talkative({.log = log_to_stderr(LogLevel::info)});
  // end
}

// example: Element, dtype_of
template <Element T>
std::string described() {
  return std::string(name(dtype_of<T>)) + " of " + std::to_string(sizeof(T)) + " bytes";
}
// end

void element_types() {
  expect(described<float>() == "f32 of 4 bytes");

  // example: DType, element_t, parse_dtype, kDTypes
  static_assert(std::is_same_v<element_t<DType::c64>, std::complex<float>>);
  expect(value(parse_dtype("bf16")) == DType::bf16 && !parse_dtype("f12"));
  expect(static_cast<int>(DType::bf16) < kDTypes);
  // end

  // example: visit, size_bytes
  const DType dtype = DType::i16;  // known at run time
  const std::size_t bytes = visit(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); });
  expect(bytes == 2 && size_bytes(dtype) == 2);
  // end

  // example: is_floating, is_integer, is_complex, is_signed
  expect(is_floating(DType::f8e4m3) && is_integer(DType::u8) && is_complex(DType::c128));
  expect(is_signed(DType::f16) && !is_signed(DType::u8) && !is_integer(DType::boolean));
  // end

  // example: convert
  expect(convert<std::int8_t>(300.7f) == 127);            // toward zero, and it saturates
  expect(convert<std::int8_t>(std::int32_t{300}) == 44);  // integers wrap
  expect(convert<bool>(0.25) && convert<float>(true) == 1.0f);
  // end

  // example: SmallFloat, f16, bf16, f8e4m3, f8e5m2
  expect(static_cast<float>(f16(1.0f / 3)) == 0.333251953125f);
  expect(static_cast<float>(bf16(1e38f)) > 9e37f);     // the range of a float
  expect(static_cast<float>(f8e4m3(1000)) == 448.0f);  // it saturates
  expect(static_cast<float>(f8e5m2(1000)) == 1024.0f);
  expect(f16::from_bits(0x3c00) == f16(1.0f));
  // end
}

void shapes() {
  // example: Shape, Strides, contiguous_strides, is_contiguous
  const Shape shape{2, 3, 4};
  expect(shape.rank() == 3 && shape[1] == 3 && shape.to_string() == "[2, 3, 4]");
  expect(contiguous_strides(shape) == Strides({12, 4, 1}));
  expect(is_contiguous(shape, {12, 4, 1}) && !is_contiguous(shape, {1, 2, 6}));
  // end

  // example: check, element_count, kMaxRank
  expect(check(shape) && value(element_count(shape)) == 24);
  expect(check(Shape{2, -1}).error().kind() == ErrorKind::invalid_argument);
  expect(!Shape::make(std::vector<std::int64_t>(kMaxRank + 1, 1)));
  expect(!check(SpawnOptions{.name = "no/slash"}));  // the options of an actor can be checked, too
  // end

  // example: size_bytes
  expect(value(size_bytes(shape, DType::f64)) == 192);
  // end

  // example: span_of, OffsetSpan
  const OffsetSpan span = value(span_of({2, 3}, {-3, 1}));  // two rows, the second one before the first
  expect(span.lowest == -3 && span.highest == 2 && span.length() == 6);
  // end
}

int main() {
  results_and_errors();
  time_and_log();
  element_types();
  shapes();
}
