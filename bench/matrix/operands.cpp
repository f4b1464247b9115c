#include "bench/matrix/operands.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/numbers.hpp"

namespace troupe::bench::matrix {
namespace {

/// After so many numbers the same ones come again.
constexpr std::int64_t kPeriod = 1 << 20;

std::vector<float> numbers_of(const Operand& operand, std::int64_t count, std::size_t seed) {
  std::vector<float> numbers = random_numbers(static_cast<std::size_t>(count), static_cast<std::uint32_t>(seed + 1));
  const bool is_whole = operand.dtype == DType::boolean || operand.dtype == DType::u8 || operand.dtype == DType::i32;
  for (float& number : numbers) {
    const double scaled = operand.low + (operand.high - operand.low) * (static_cast<double>(number) + 0.5);
    number = static_cast<float>(is_whole ? std::floor(scaled) : scaled);
  }
  return numbers;
}

template <Element T>
Result<AnyArray> memory_of(const Device& device, const Operand& operand, std::size_t seed) {
  const Shape shape{std::span<const std::int64_t>(operand.shape)};
  const Array<T> array = TROUPE_TRY(device.array<T>(shape));
  const Array<T> flat = TROUPE_TRY(array.reshape({array.element_count()}));
  const std::int64_t count = std::min(kPeriod, flat.element_count());
  const Array<float> numbers = TROUPE_TRY(device.array<float>({count}));
  TROUPE_TRY(device.write(numbers, numbers_of(operand, count, seed)).get());
  for (std::int64_t begin = 0; begin < flat.element_count(); begin += count) {
    const std::int64_t end = std::min(begin + count, flat.element_count());
    const Array<float> part = TROUPE_TRY(numbers.slice(0, 0, end - begin));
    TROUPE_TRY(device.cast(part, TROUPE_TRY(flat.slice(0, begin, end))).submit());
  }
  TROUPE_TRY(device.wait_for(array).get());
  return array;
}

}  // namespace

Result<Given> make(const Device& device, const Operand& operand, std::size_t seed) {
  if (operand.number) return Given{.array = {}, .number = operand.number};
  AnyArray array = TROUPE_TRY(
      visit(operand.dtype, [&]<class T>(std::type_identity<T>) { return memory_of<T>(device, operand, seed); }));
  if (!operand.order.empty()) array = TROUPE_TRY(array.permute(operand.order));
  if (operand.slice)
    array = TROUPE_TRY(array.slice(array.rank() - 1, operand.slice->begin, operand.slice->end, operand.slice->step));
  return Given{.array = std::move(array), .number = {}};
}

}  // namespace troupe::bench::matrix
