// A device with a GPU, against the host's device as the reference: the same ops on the same numbers.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

/// A vector that is an array of bool, too.
template <class T>
struct Elements {
  explicit Elements(std::size_t count) : size(count), data(new T[count]()) {}
  std::span<T> span() const { return {data.get(), size}; }
  std::size_t size;
  std::shared_ptr<T[]> data;
};

class Gpu : public GpuTest {
 protected:
  void SetUp() override {
    open_gpu();
    if (GpuTest::gpu) gpu = *GpuTest::gpu;
  }

  template <Element T>
  static Elements<T> random_elements(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const Elements<T> elements(static_cast<std::size_t>(count));
    for (T& element : elements.span()) {
      const double number = std::uniform_real_distribution<double>(-4, 4)(random);
      if constexpr (detail::kIsComplex<T>)
        element = T(convert<typename T::value_type>(number), convert<typename T::value_type>(number / 2));
      else
        element = convert<T>(number);
    }
    return elements;
  }
  template <Element T>
  static Array<T> array_of(const Device& device, const Shape& shape, const Elements<T>& elements) {
    Array<T> array = value(device.array<T>(shape));
    value(device.write(array, std::span<const T>(elements.span())).get());
    return array;
  }
  template <Element T>
  static testing::AssertionResult same_bits(const Device& a, const Array<T>& on_a, const Device& b,
                                            const Array<T>& on_b) {
    const HostArray<T> left = value(a.read(on_a).get());
    const HostArray<T> right = value(b.read(on_b).get());
    for (std::int64_t i = 0; i < left.size(); ++i)
      if (std::memcmp(left.data() + i, right.data() + i, sizeof(T)) != 0)
        return testing::AssertionFailure() << "element " << i << " is " << testing::PrintToString(left.data()[i])
                                           << ", and there " << testing::PrintToString(right.data()[i]);
    return testing::AssertionSuccess();
  }

  Device host = open();
  Device gpu = host;
};

template <class F>
void for_each_dtype(F&& f) {
  for (int i = 0; i < kDTypes; ++i) visit(static_cast<DType>(i), f);
}

TEST_F(Gpu, gives_back_what_was_written) {
  for_each_dtype([&]<class T>(std::type_identity<T>) {
    const auto elements = random_elements<T>(1000, 1);
    const Array<T> there = array_of(gpu, {1000}, elements);
    const HostArray<T> back = value(gpu.read(there).get());
    EXPECT_EQ(std::memcmp(back.data(), elements.data.get(), 1000 * sizeof(T)), 0) << name(dtype_of<T>);
  });
}

TEST_F(Gpu, fills_any_view_of_any_type) {
  for_each_dtype([&]<class T>(std::type_identity<T>) {
    const T one = convert<T>(1.0);
    const T two = convert<T>(2.0);
    const Array<T> there = value(gpu.array<T>({8, 6}));
    const Array<T> here = value(host.array<T>({8, 6}));
    for (const auto& [device, array] : {std::pair(&gpu, there), std::pair(&host, here)}) {
      value(device->fill(array, one).get());
      value(device->fill(value(array.slice(1, 1, 6, 2)), two).get());
      value(device->fill(value(array.select(0, 3)), two).get());
    }
    EXPECT_TRUE(same_bits(gpu, there, host, here)) << name(dtype_of<T>);
  });
}

TEST_F(Gpu, copies_between_views_of_any_strides) {
  for_each_dtype([&]<class T>(std::type_identity<T>) {
    const auto elements = random_elements<T>(6 * 5 * 4, 2);
    std::vector<Array<T>> results;
    for (const Device* device : {&gpu, &host}) {
      const Array<T> from = array_of(*device, {6, 5, 4}, elements);
      const Array<T> to = value(device->template array<T>({4, 5, 6}));
      value(device->copy(from.transpose(), to).get());
      const Array<T> rows = value(device->template array<T>({6, 2}));
      value(device->copy(value(value(from.select(1, 2)).slice(1, 1, 3)), rows).get());
      results.push_back(to);
      results.push_back(rows);
    }
    EXPECT_TRUE(same_bits(gpu, results[0], host, results[2])) << name(dtype_of<T>);
    EXPECT_TRUE(same_bits(gpu, results[1], host, results[3])) << name(dtype_of<T>);
  });
}

TEST_F(Gpu, converts_between_any_two_types_as_the_host_does) {
  for_each_dtype([&]<class From>(std::type_identity<From>) {
    const std::vector<double> numbers{0.0, -0.0, 1.0,  0.5,  -1.5,  127.5,  255.0, 256.0, 448.0,    500.0,     65504.0,
                                      1e5, 3e9,  -3e9, 1e19, 1e300, -1e300, 1e-8,  6e-8,  INFINITY, -INFINITY, NAN};
    const Elements<From> elements(numbers.size());
    std::ranges::transform(numbers, elements.data.get(), [](double number) { return convert<From>(number); });
    const auto count = static_cast<std::int64_t>(elements.size);
    const Array<From> there = array_of(gpu, {count}, elements);
    const Array<From> here = array_of(host, {count}, elements);
    for_each_dtype([&]<class To>(std::type_identity<To>) {
      const Array<To> on_gpu = value(gpu.array<To>({count}));
      const Array<To> on_host = value(host.array<To>({count}));
      value(gpu.cast(there, on_gpu).get());
      value(host.cast(here, on_host).get());
      EXPECT_TRUE(same_bits(gpu, on_gpu, host, on_host)) << name(dtype_of<From>) << " to " << name(dtype_of<To>);
    });
  });
}

TEST_F(Gpu, adds_as_the_host_does) {
  for_each_dtype([&]<class T>(std::type_identity<T>) {
    if constexpr (!std::same_as<T, bool>) {
      const auto x = random_elements<T>(300, 3);
      const auto y = random_elements<T>(300, 4);
      std::vector<HostArray<T>> sums;
      for (const Device* device : {&gpu, &host}) {
        const Array<T> sum = array_of(*device, {300}, y);
        value(device->blas().axpy(2.0, array_of(*device, {300}, x), sum).get());
        sums.push_back(value(device->read(sum).get()));
      }
      for (std::int64_t i = 0; i < 300; ++i) {
        const auto a = convert<std::complex<double>>(sums[0][i]);
        const auto b = convert<std::complex<double>>(sums[1][i]);
        ASSERT_NEAR(std::abs(a - b), 0, 1e-5 * (1 + std::abs(b))) << name(dtype_of<T>) << ' ' << i;
      }
    }
  });
}

template <Element T>
double tolerance() {
  return sizeof(T) == 1                                                   ? 0.3
         : sizeof(T) == 2                                                 ? 2e-2
         : std::same_as<T, float> || std::same_as<T, std::complex<float>> ? 1e-4
                                                                          : 1e-12;
}

TEST_F(Gpu, multiplies_matrices_that_lie_in_any_way) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    constexpr std::int64_t m = 33, k = 65, n = 17;
    const auto a = random_elements<T>(m * k, 5);
    const auto b = random_elements<T>(k * n, 6);
    for (int lie = 0; lie < 8; ++lie) {
      std::vector<HostArray<T>> products;
      for (const Device* device : {&gpu, &host}) {
        const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool by_columns, const Elements<T>& elements) {
          return by_columns ? array_of(*device, {columns, rows}, elements).transpose()
                            : array_of(*device, {rows, columns}, elements);
        };
        const Array<T> c = matrix(m, n, lie & 4, random_elements<T>(m * n, 7));
        value(device->blas()
                  .gemm(matrix(m, k, lie & 1, a), matrix(k, n, lie & 2, b), c, {.alpha = 0.5, .beta = 2.0})
                  .get());
        const Array<T> plain = value(device->template array<T>({m, n}));
        value(device->copy(c, plain).get());
        products.push_back(value(device->read(plain).get()));
      }
      for (std::int64_t i = 0; i < m * n; ++i) {
        const auto x = convert<std::complex<double>>(products[0][i]);
        const auto y = convert<std::complex<double>>(products[1][i]);
        ASSERT_NEAR(std::abs(x - y), 0, tolerance<T>() * (10 + std::abs(y))) << name(dtype_of<T>) << ' ' << lie;
      }
    }
  };
  check(std::type_identity<f8e5m2>{});
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<f16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<std::complex<float>>{});
  check(std::type_identity<std::complex<double>>{});
}

TEST_F(Gpu, multiplies_matrices_without_a_unit_stride) {
  for (const Device* device : {&gpu, &host}) {
    const Array<float> wide = value(device->array<float>({20, 20}));
    std::vector<float> numbers(400);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7);
    value(device->write(wide, numbers).get());
    const Array<float> a = value(value(wide.slice(0, 0, 20, 2)).slice(1, 0, 20, 2));
    const Array<float> c = filled(*device, {10, 10}, 1.0f);
    value(device->blas().gemm(a, a.transpose(), c, {.beta = 1.0}).get());
    const HostArray<float> product = value(device->read(c).get());
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t j = 0; j < 10; ++j) {
        float sum = 1;
        for (std::size_t k = 0; k < 10; ++k) sum += numbers[40 * i + 2 * k] * numbers[40 * j + 2 * k];
        ASSERT_EQ(product[static_cast<std::int64_t>(10 * i + j)], sum) << i << ' ' << j;
      }
  }
}

TEST_F(Gpu, keeps_the_order_of_ops_that_depend_on_each_other_across_lanes) {
  const Array<float> a = filled(gpu, {256, 256}, 0.0f);
  const Array<float> one = filled(gpu, {256, 256}, 1.0f);
  const Array<float> b = filled(gpu, {256, 256}, 0.0f);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(gpu.fill(a, static_cast<float>(i)).submit());
    ASSERT_TRUE(gpu.blas().axpy(1.0, one, a).submit());
    ASSERT_TRUE(gpu.copy(a, b).submit());
  }
  EXPECT_TRUE(all_equal(gpu, b, 200.0f));
}

TEST_F(Gpu, keeps_its_arrays_when_its_worker_is_killed) {
  if (is_thread) GTEST_SKIP() << "needs worker processes";
  const Array<double> kept = filled(gpu, {1 << 20}, 7.0);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t generation = gpu.generation();
    eventually([&] { return gpu.kill_worker(); });
    eventually([&] { return gpu.generation() > generation; });
    EXPECT_TRUE(all_equal(gpu, kept, 7.0));
    value(gpu.blas().axpy(1.0, kept, filled(gpu, {1 << 20}, 1.0)).get());
  }
}

TEST_F(Gpu, stops_what_runs_past_its_deadline) {
  if (is_thread) GTEST_SKIP() << "needs worker processes";
  constexpr std::int64_t n = 16384;  // two seconds of f64
  const Array<double> a = filled(gpu, {n, n}, 1.0);
  const Array<double> c = filled(gpu, {n, n}, 0.0);
  const Array<float> untouched = filled(gpu, {100}, 3.0f);
  const Array<double> corner = value(value(a.slice(0, 0, 64)).slice(1, 0, 64));
  value(gpu.blas().gemm(corner, corner, filled(gpu, {64, 64}, 0.0)).get());  // so that cuBLAS is loaded
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(kind_of(gpu.blas().gemm(a, a, c, {.beta = 1.0}).deadline(std::chrono::milliseconds(20)).get()),
            ErrorKind::deadline_exceeded);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  std::printf("the error of an op past its deadline of 20 ms: after %.1f ms\n", ms);
  EXPECT_TRUE(all_equal(gpu, untouched, 3.0f));
  EXPECT_EQ(kind_of(gpu.read(value(c.slice(0, 0, 1))).get()), ErrorKind::buffer_tainted);
}

TEST_F(Gpu, has_managed_memory_that_dies_with_its_worker) {
  const Array<float> managed = value(gpu.managed_array<float>({1 << 20}));
  value(gpu.fill(managed, 2.0f).get());
  value(gpu.blas().axpy(1.0, filled(gpu, {1 << 20}, 3.0f), managed).get());
  EXPECT_TRUE(all_equal(gpu, managed, 5.0f));
  EXPECT_EQ(kind_of(gpu.managed_array<float>({std::int64_t{1} << 38})), ErrorKind::out_of_memory);
  if (is_thread) return;
  kill_worker(gpu);
  EXPECT_EQ(kind_of(gpu.read(managed).get()), ErrorKind::buffer_stale);
  value(gpu.fill(value(gpu.managed_array<float>({1 << 20})), 1.0f).get());
}

TEST_F(Gpu, answers_out_of_memory_with_what_is_free) {
  const Result<Array<float>> huge = gpu.array<float>({std::int64_t{1} << 45});
  ASSERT_EQ(kind_of(huge), ErrorKind::out_of_memory);
  EXPECT_TRUE(all_equal(gpu, filled(gpu, {4}, 1.0f), 1.0f));
}

}  // namespace
}  // namespace troupe
