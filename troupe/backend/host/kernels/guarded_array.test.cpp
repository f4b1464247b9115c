#include "troupe/backend/host/kernels/guarded_array.test.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace troupe::host {
namespace {

constexpr std::byte kGuard{0xAB};
constexpr std::int64_t kGuardBytes = 64;

Wide number_at(DType dtype, const std::byte* at) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) { return convert<Wide>(load<T>(at)); });
}

bool is_nan(const Wide& number) { return std::isnan(number.real()) || std::isnan(number.imag()); }

/// From -1 to 1. The standard distribution asks for logarithms in 128 bits with clang on ARM.
double unit(std::mt19937_64& engine) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())), -63);
}

template <class T>
T random_element(std::mt19937_64& engine) {
  if constexpr (detail::kIsComplex<T>) {
    const double real = unit(engine);
    return convert<T>(Wide(real, unit(engine)));
  } else if constexpr (std::same_as<T, bool>) {
    return (engine() & 1) != 0;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(engine());
  } else {
    return convert<T>(unit(engine));
  }
}

}  // namespace

GuardedArray::GuardedArray(DType dtype, Shape shape, Strides strides)
    : dtype_(dtype), size_(size_bytes(dtype)), shape_(shape), strides_(strides), count_(value(element_count(shape))) {
  const OffsetSpan span = value(span_of(shape, strides));
  const std::int64_t elements = span.empty() ? 0 : span.length();
  memory_.assign(static_cast<std::size_t>(elements * size_ + 2 * kGuardBytes), kGuard);
  first_ = kGuardBytes - (span.empty() ? 0 : span.lowest * size_);
  for (std::int64_t i = 0; i < count_; ++i) std::memset(at(i), 0xFF, static_cast<std::size_t>(size_));
}

std::byte* GuardedArray::at(std::int64_t number) {
  std::int64_t offset = 0;
  for (int i = shape_.rank(); i-- > 0; number /= shape_[i]) offset += number % shape_[i] * strides_[i];
  return memory_.data() + first_ + offset * size_;
}

void GuardedArray::set(std::int64_t number, const op::Scalar& element) {
  visit(dtype_, [&]<class T>(std::type_identity<T>) { store(at(number), element.as<T>()); });
}

Wide GuardedArray::number(std::int64_t number) { return number_at(dtype_, at(number)); }

std::uint64_t GuardedArray::integer(std::int64_t number) {
  return visit(dtype_, [&]<class T>(std::type_identity<T>) { return convert<std::uint64_t>(load<T>(at(number))); });
}

std::vector<Wide> GuardedArray::numbers() {
  std::vector<Wide> all(static_cast<std::size_t>(count_));
  visit(dtype_, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t i = 0; i < count_; ++i) all[static_cast<std::size_t>(i)] = convert<Wide>(load<T>(at(i)));
  });
  return all;
}

bool GuardedArray::guards_are_whole() {
  std::vector<std::byte> rest = memory_;
  for (std::int64_t i = 0; i < count_; ++i) std::fill_n(rest.begin() + (at(i) - memory_.data()), size_, kGuard);
  return std::count(rest.begin(), rest.end(), kGuard) == static_cast<std::ptrdiff_t>(rest.size());
}

std::int64_t differences(GuardedArray& a, GuardedArray& b) {
  const auto size = static_cast<std::size_t>(size_bytes(a.dtype()));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) count += std::memcmp(a.at(i), b.at(i), size) != 0;
  return count;
}

std::int64_t differences_but_nan(GuardedArray& a, GuardedArray& b) {
  std::int64_t count = differences(a, b);
  if (count == 0 || is_integer(a.dtype()) || a.dtype() == DType::boolean) return count;
  const auto size = static_cast<std::size_t>(size_bytes(a.dtype()));
  for (std::int64_t i = 0; i < a.count(); ++i)
    count -= std::memcmp(a.at(i), b.at(i), size) != 0 && is_nan(a.number(i)) && is_nan(b.number(i));
  return count;
}

GuardedArray converted(GuardedArray& in, DType dtype, Shape shape) {
  GuardedArray out(dtype, shape);
  visit(in.dtype(), [&]<class From>(std::type_identity<From>) {
    visit(dtype, [&]<class To>(std::type_identity<To>) {
      for (std::int64_t i = 0; i < in.count(); ++i) store(out.at(i), convert<To>(load<From>(in.at(i))));
    });
  });
  return out;
}

std::vector<NamedStrides> layouts(const Shape& shape) {
  const int rank = shape.rank();
  std::vector<NamedStrides> all{{"contiguous", contiguous_strides(shape)}};
  if (rank == 0) return all;
  Strides sliced = contiguous_strides(shape);  // rows of a larger array
  for (int i = rank - 1; i-- > 0;) sliced[i] = std::max<std::int64_t>(shape[i + 1], 1) * sliced[i + 1] + 3;
  Strides transposed = sliced;  // the first dimension is the densest
  std::int64_t step = 1;
  for (int i = 0; i < rank; step *= std::max<std::int64_t>(shape[i], 1), ++i) transposed[i] = step;
  Strides spread = sliced;
  Strides backwards = contiguous_strides(shape);
  for (int i = 0; i < rank; ++i) {
    spread[i] = 2 * spread[i];
    backwards[i] = -backwards[i];
  }
  Strides mixed = transposed;
  mixed[rank - 1] *= -3;
  all.push_back({"sliced", sliced});
  all.push_back({"transposed", transposed});
  all.push_back({"spread", spread});
  all.push_back({"backwards", backwards});
  all.push_back({"mixed", mixed});
  return all;
}

std::vector<NamedStrides> input_layouts(const Shape& shape) {
  std::vector<NamedStrides> all = layouts(shape);
  const int rank = shape.rank();
  if (rank == 0) return all;
  Strides first = contiguous_strides(shape);
  first[0] = 0;
  Strides last = contiguous_strides(shape);
  last[rank - 1] = 0;
  Strides every = first;
  for (int i = 0; i < rank; ++i) every[i] = 0;
  all.push_back({"first repeated", first});
  all.push_back({"last repeated", last});
  all.push_back({"all repeated", every});
  return all;
}

op::Scalar Random::element(DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) { return op::Scalar(random_element<T>(engine_)); });
}

void Random::fill(GuardedArray& array) {
  visit(array.dtype(), [&]<class T>(std::type_identity<T>) {
    for (std::int64_t i = 0; i < array.count(); ++i) store(array.at(i), random_element<T>(engine_));
  });
}

void Random::fill_with_bits(GuardedArray& array) {
  const auto size = static_cast<std::size_t>(size_bytes(array.dtype()));
  for (std::int64_t i = 0; i < array.count(); ++i) {
    const std::array<std::uint64_t, 2> bits{engine_(), engine_()};
    std::memcpy(array.at(i), bits.data(), size);
  }
}

double rounding(DType dtype, double size) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (detail::kIsSmallFloat<T>) {
      using Format = typename T::Format;
      return std::max(std::ldexp(size, -Format::kMantissaBits - 1),
                      std::ldexp(1.0, Format::kLeastExponent - Format::kMantissaBits - 1));
    } else if constexpr (detail::kIsComplex<T>) {
      return size * std::numeric_limits<typename T::value_type>::epsilon() / 2;
    } else {
      return size * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    }
  });
}

}  // namespace troupe::host
