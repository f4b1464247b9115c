// What is beside the transforms: shifts, frequencies, convolutions, the functions of a scope, and what is refused
// before there is an op.
#include "troupe/library/fft/fft.hpp"

#include "troupe/device/device_fixture.test.hpp"
#include "troupe/library/scope/scope.hpp"

namespace troupe {
namespace {

using C = std::complex<double>;

class FftFunctions : public DeviceTest {
 protected:
  template <Element T>
  Array<T> array(const std::vector<T>& elements, const Shape& shape) {
    Array<T> made = value(device.array<T>(shape));
    if (!elements.empty()) value(device.write(made, std::span<const T>(elements)).get());
    return made;
  }
  template <Element T>
  Array<T> array(const std::vector<T>& elements) {
    return array(elements, {static_cast<std::int64_t>(elements.size())});
  }
  template <Element T>
  std::vector<T> elements(const Array<T>& array) {
    const HostArray<T> read = value(device.read(array).get());
    return {read.begin(), read.end()};
  }
  static std::string text(const Result<void>& end) { return end ? "" : std::string(end.error().message()); }

  /// Sums of a[i] b[k - i], or of a[i + k] conj(b[i]) where b is turned.
  template <class T>
  static std::vector<T> full(const std::vector<T>& a, std::vector<T> b, bool is_correlation) {
    if (is_correlation) {
      std::ranges::reverse(b);
      if constexpr (detail::kIsComplex<T>)
        for (T& number : b) number = std::conj(number);
    }
    std::vector<T> sums(a.size() + b.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += a[i] * b[j];
    return sums;
  }
  template <class T>
  void expect_sums(const std::vector<T>& a, const std::vector<T>& b, bool is_correlation, ConvolveMode mode,
                   std::size_t first, std::size_t count) {
    const Array<T> out = value(device.array<T>({static_cast<std::int64_t>(count)}));
    const Fft fft = device.fft();
    value((is_correlation ? fft.correlate(array(a), array(b), out, mode) : fft.convolve(array(a), array(b), out, mode))
              .get());
    const std::vector<T> want = full(a, b, is_correlation), got = elements(out);
    ASSERT_LE(first + count, want.size());
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(std::abs(got[i] - want[first + i]), 0, 1e-12) << i;
  }

  Device device = open();
};

TEST_F(FftFunctions, shifts_put_frequency_0_into_the_middle_and_back) {
  const Array<float> x = array<float>({0, 1, 2, 3, 4});
  const Array<float> y = value(device.array<float>({5})), z = value(device.array<float>({5}));
  value(device.fft().fftshift(x, y).get());
  EXPECT_EQ(elements(y), (std::vector<float>{3, 4, 0, 1, 2}));
  value(device.fft().ifftshift(y, z).get());
  EXPECT_EQ(elements(z), elements(x));
  const Array<float> m = array<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  const Array<float> turned = value(device.array<float>({2, 3}));
  value(device.fft().fftshift(m, turned).get());
  EXPECT_EQ(elements(turned), (std::vector<float>{5, 3, 4, 2, 0, 1}));
  value(device.fft().fftshift(m, turned, -1).get());
  EXPECT_EQ(elements(turned), (std::vector<float>{2, 0, 1, 5, 3, 4}));
  const Array<float> one = array<float>({7}), nothing = value(device.array<float>({0}));
  value(device.fft().fftshift(one, value(device.array<float>({1}))).get());
  value(device.fft().fftshift(nothing, value(device.array<float>({0}))).get());
}

TEST_F(FftFunctions, shifts_refuse_what_does_not_go_together) {
  const Array<float> x = array<float>({0, 1, 2, 3});
  EXPECT_EQ(text(device.fft().fftshift(x, x).get()),
            "fftshift: x and y overlap, and the op would write one of them; use another array");
  EXPECT_EQ(text(device.fft().ifftshift(x, value(device.array<float>({3}))).get()),
            "ifftshift: x is [4] and y is [3]; they must have the same shape");
  EXPECT_EQ(text(device.fft().fftshift(x, value(device.array<double>({4}))).get()),
            "fftshift: x is f32 and y is f64; they must have the same type");
  EXPECT_EQ(text(device.fft().fftshift(x, value(device.array<float>({4})), 1).get()),
            "fftshift: x is [4]; it has no axis 1");
}

TEST_F(FftFunctions, frequencies_are_numpys) {
  EXPECT_EQ(fftfreq(4), (std::vector<double>{0, 0.25, -0.5, -0.25}));
  EXPECT_EQ(fftfreq(5, 0.5), (std::vector<double>{0, 0.4, 0.8, -0.8, -0.4}));
  EXPECT_EQ(rfftfreq(4, 0.125), (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(rfftfreq(5), (std::vector<double>{0, 0.2, 0.4}));
  EXPECT_TRUE(fftfreq(0).empty() && rfftfreq(-1).empty());
}

TEST_F(FftFunctions, convolutions_are_the_sums) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, b{1, -1, 0.5};
  for (const bool is_correlation : {false, true}) {
    expect_sums(a, b, is_correlation, ConvolveMode::full, 0, 8);
    expect_sums(a, b, is_correlation, ConvolveMode::same, 1, 6);
    expect_sums(a, b, is_correlation, ConvolveMode::valid, 2, 4);
    expect_sums(b, a, is_correlation, ConvolveMode::same, 1, 6);
    expect_sums(b, a, is_correlation, ConvolveMode::valid, 2, 4);
    expect_sums<double>({2}, {3}, is_correlation, ConvolveMode::full, 0, 1);
    expect_sums<C>({C(1, 2), C(0, -1), C(3, 1)}, {C(0, 1), C(2, -1)}, is_correlation, ConvolveMode::full, 0, 4);
  }
  // Of an even number of terms, the middle is where NumPy has it.
  const std::vector<double> even{1, 2, 3, 4};
  expect_sums(a, even, false, ConvolveMode::same, 1, 6);
  expect_sums(a, even, true, ConvolveMode::same, 1, 6);
  expect_sums(even, a, true, ConvolveMode::same, 2, 6);
}

TEST_F(FftFunctions, convolutions_take_batches) {
  const Array<float> a = array<float>({1, 2, 3, 4, 5, 6}, {2, 3}), b = array<float>({1, 1, 2, 0}, {2, 2});
  const Array<float> out = value(device.array<float>({2, 4}));
  value(device.fft().convolve(a, b, out).get());
  const std::vector<float> want{1, 3, 5, 3, 8, 10, 12, 0}, got = elements(out);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f);
}

TEST_F(FftFunctions, convolutions_refuse_what_does_not_go_together) {
  const Array<float> a = array<float>({1, 2, 3}), out = value(device.array<float>({5}));
  const Fft fft = device.fft();
  EXPECT_EQ(text(fft.convolve(a, a, value(device.array<float>({4}))).get()), "convolve: out is [4]; it must be [5]");
  EXPECT_EQ(text(fft.correlate(a, a, out, ConvolveMode::valid).get()), "correlate: out is [5]; it must be [1]");
  EXPECT_EQ(text(fft.convolve(a, array<double>({1}), out).get()),
            "convolve: a is f32 and b is f64; they must have the same type");
  EXPECT_EQ(text(fft.convolve(a, value(device.array<float>({0})), out).get()),
            "convolve: b is [0]; it needs at least one element along its last axis");
  EXPECT_EQ(text(fft.convolve(a, array<float>({1, 2}, {2, 1}), out).get()),
            "convolve: a is [3] and b is [2, 1]; they may differ along the last axis only");
  const Array<std::int32_t> whole = array<std::int32_t>({1});
  EXPECT_EQ(text(fft.convolve(whole, whole, whole).get()), "convolve: a is i32; it must be f32, f64, c64 or c128");
  EXPECT_EQ(text(fft.convolve(Array<float>(), a, out).get()),
            "convolve: a is an empty handle: default-constructed or moved from");
}

TEST_F(FftFunctions, transforms_take_axes_that_are_there) {
  const Array<C> x = array<C>(std::vector<C>(24, 1.0), {2, 3, 4});
  const auto refused = [&](detail::Axes axes) { return text(device.fft().forward(x, x, {.axes = axes}).get()); };
  EXPECT_EQ(refused(3), "forward: x is [2, 3, 4]; it has no axis 3");
  EXPECT_EQ(refused(-4), "forward: x is [2, 3, 4]; it has no axis -4");
  EXPECT_EQ(refused({1, -2}), "forward: axis 1 is given twice");
  EXPECT_EQ(refused({}), "forward: 0 axes are given; a transform takes 1 to 3");
  const Array<C> of_four = value(x.reshape({2, 3, 2, 2}));
  EXPECT_EQ(text(device.fft().forward(of_four, of_four, {.axes = {0, 1, 2, 3}}).get()),
            "forward: 4 axes are given; a transform takes 1 to 3");
  EXPECT_EQ(text(device.fft().inverse(Array<C>(), x).get()),
            "inverse: x is an empty handle: default-constructed or moved from");
  value(device.fft().forward(x, x, {.axes = std::vector{0, -1}}).get());
  EXPECT_EQ(elements(x)[0], C(8));
}

TEST_F(FftFunctions, a_scope_makes_the_results_itself) {
  Scope on(device);
  const auto x = on.from(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  const Array<C> half = on.rfft(x * 1.0);
  const Array<double> back = on.irfft(half);
  const Array<C> two = on.rfft(x, {.axes = {1, 0}});
  const Array<double> odd = on.irfft(on.rfft(on.full<double>({5}, 1.0)), {.length = 5});
  const Array<C> z = on.full<C>({3}, C(1, 1));
  const Array<C> same = on.ifft(on.fft(z, {.norm = FftNorm::ortho}), {.norm = FftNorm::ortho});
  value(on.end().get());
  EXPECT_EQ(half.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements(half)[0], C(10));
  EXPECT_EQ(back.shape(), (Shape{2, 4}));
  EXPECT_NEAR(elements(back)[7], 8, 1e-14);
  EXPECT_EQ(two.shape(), (Shape{2, 4}));
  EXPECT_EQ(elements(two)[0], C(36));
  EXPECT_EQ(odd.shape(), (Shape{5}));
  EXPECT_NEAR(std::abs(elements(same)[2] - C(1, 1)), 0, 1e-14);
}

TEST_F(FftFunctions, a_scope_says_what_it_cannot_make) {
  const auto refused = [&](const auto& make) {
    Scope on(device);
    make(on);
    return text(on.end().get());
  };
  EXPECT_EQ(refused([](Scope& on) { (void)on.irfft(on.full<C>({1}, C(1))); }),
            "irfft: the result would have 0 elements along its last axis; say with length how many it has");
  EXPECT_EQ(refused([](Scope& on) { (void)on.irfft(on.full<C>({3}, C(1)), {.length = 8}); }),
            "irfft: x is [3] and length is 8; half a spectrum of it has 5 numbers");
  EXPECT_EQ(refused([](Scope& on) { (void)on.rfft(on.full<double>({3}, 1), {.axes = 1}); }),
            "rfft: x is [3]; it has no axis 1");
  EXPECT_EQ(refused([](Scope& on) { (void)on.rfft(on.full<double>({3}, 1), {.axes = {}}); }), "rfft: no axis is given");
  EXPECT_EQ(refused([](Scope& on) { (void)on.fft(Array<C>()); }),
            "fft: x is an empty handle: default-constructed or moved from");
}

}  // namespace
}  // namespace troupe
