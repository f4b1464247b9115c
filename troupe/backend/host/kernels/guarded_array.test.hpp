// Arrays for the tests of kernels: any layout, in memory of their own, with guard bytes around and between the elements
// that a kernel must leave as they were. Also layouts by name, random elements, and how far from an exact result a
// rounded one may be. Types are values here: only the names of typed tests are templates, which compiles quickly.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/core/seed.test.hpp"
#include "troupe/op/view.hpp"

namespace troupe::host {

using Wide = std::complex<double>;

class GuardedArray {
 public:
  /// Elements start as bytes of 0xFF: NaN in every floating-point type.
  GuardedArray(DType dtype, Shape shape, Strides strides);
  GuardedArray(DType dtype, Shape shape) : GuardedArray(dtype, shape, contiguous_strides(shape)) {}

  DType dtype() const { return dtype_; }
  HostView view() { return {memory_.data() + first_, dtype_, shape_, strides_}; }
  std::int64_t count() const { return count_; }

  /// The element with that number in row-major order.
  std::byte* at(std::int64_t number);
  void set(std::int64_t number, const op::Scalar& element);
  /// The element as a number: not exact for large integers.
  Wide number(std::int64_t number);
  /// An integer's low bits, its sign extended.
  std::uint64_t integer(std::int64_t number);
  std::vector<Wide> numbers();

  /// Whether everything but the elements is as it was made.
  bool guards_are_whole();

 private:
  DType dtype_;
  std::int64_t size_;
  Shape shape_;
  Strides strides_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  std::vector<std::byte> memory_;
};

/// How many elements of two arrays of one type and shape differ in their bytes.
std::int64_t differences(GuardedArray& a, GuardedArray& b);

/// The elements of `in`, one by one, by `convert`.
GuardedArray converted(GuardedArray& in, DType dtype, Shape shape);
/// As `differences`, but a NaN is as good as any other.
std::int64_t differences_but_nan(GuardedArray& a, GuardedArray& b);

/// A layout by name.
struct NamedStrides {
  std::string name;
  Strides strides;
};
/// Layouts in which no two elements share memory: with gaps, transposed, backwards, and mixtures.
std::vector<NamedStrides> layouts(const Shape& shape);
/// Those that only a reader may have, too: elements that repeat.
std::vector<NamedStrides> input_layouts(const Shape& shape);

/// Random numbers, the same in every run unless TROUPE_TEST_SEED is set. Put `trace()` into a SCOPED_TRACE, so that a
/// failure prints the seed.
class Random {
 public:
  explicit Random(std::uint64_t seed = test_seed()) : seed_(seed), engine_(seed) {}
  std::string trace() const { return "TROUPE_TEST_SEED=" + std::to_string(seed_); }
  bool coin() { return (engine_() & 1) != 0; }
  NamedStrides one_of(const std::vector<NamedStrides>& all) {
    return all[static_cast<std::size_t>(engine_() % all.size())];
  }
  /// Any integer; floating-point numbers from -1 to 1, in both parts if complex.
  op::Scalar element(DType dtype);
  void fill(GuardedArray& array);
  /// Any bytes: infinities, NaNs, and bools that are neither 0 nor 1.
  void fill_with_bits(GuardedArray& array);

 private:
  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

/// What the elements of a floating-point type are computed in.
constexpr DType compute_dtype(DType dtype) { return is_floating(dtype) && size_bytes(dtype) < 4 ? DType::f32 : dtype; }

/// The most that rounding to a floating-point or complex type moves a number of this size.
double rounding(DType dtype, double size);

/// For typed tests: "f32" instead of a number.
struct DTypeNames {
  template <class T>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    return std::string(name(dtype_of<T>));
  }
};

/// A test with its own random numbers, whose failures print the seed.
class RandomTest : public testing::Test {
 public:
  RandomTest() : trace_(__FILE__, __LINE__, random.trace()) {}
  Random random;

 private:
  testing::ScopedTrace trace_;
};

}  // namespace troupe::host
