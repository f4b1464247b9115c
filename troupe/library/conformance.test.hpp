// What the conformance suites share. Each test of a suite is one op, run on every backend and for every type that the
// op has, against a reference in higher precision that the test computes itself. Types are template parameters, because
// references need them; the backend is one at run time, so that a test is compiled once for all of them.
//
//   template <class T>
//   class BlasConformance : public Conformance<T> {};
//   CONFORMANCE_SUITE(BlasConformance, Types<float, double>);
//   CONFORMANCE_TEST(BlasConformance, scal) {
//     this->covers("blas", "scal");
//     for (const Layout layout : kLayouts) {
//       Sample<T> x = this->random({31, 17}, layout);
//       value(this->device().blas().scal(2.0, x.array()).get());
//       std::vector<Wide<T>> want = widened(x.values());
//       for (Wide<T>& element : want) element *= 2;
//       this->expect_close(x.read(), want, 1);
//     }
//   }
//
// A test that passes is a line in the table of what each backend can do (docs/capabilities.md, by
// tools/capabilities.py): nothing is listed that no test ran.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/sanitized.hpp"
#include "troupe/core/seed.test.hpp"
#include "troupe/troupe.hpp"

namespace troupe::conformance {

// ---- cases ----

/// Where a test runs: the backend, and its name in the test's name.
struct Place {
  const char* backend;
  const char* name;
};
// Sanitizers do not work with a GPU, and GPUs are tested with one compiler.
#if TROUPE_SANITIZED || defined(__clang__)
inline constexpr std::array kPlaces{Place{"host", "host"}};
#else
inline constexpr std::array kPlaces{Place{"host", "host"},
                                    Place{"cuda", "Gpu"}};  // as in the names of all tests that need one
#endif

template <class... Ts>
struct TypeList {};
template <class T>
struct Same {
  using type = T;
};
/// The first type and the last.
template <class First, class... Rest>
struct Ends {
  using type = TypeList<First, typename decltype((Same<Rest>{}, ...))::type>;
};
template <class Only>
struct Ends<Only> {
  using type = TypeList<Only>;
};
// Every type takes time to compile and to run. ThreadSanitizer looks at threads, so one is enough; AddressSanitizer
// looks at addresses, which types change by their size alone, so two are.
#ifndef TROUPE_TEST_TYPES
template <class... Ts>
using Types = TypeList<Ts...>;
#elif TROUPE_TEST_TYPES == 1
template <class T, class...>
using Types = TypeList<T>;
#else
template <class... Ts>
using Types = typename Ends<Ts...>::type;
#endif
using FourTypes = Types<float, double, std::complex<float>, std::complex<double>>;

/// Adds a test for each type and place: `Suite/host_f32.test`, `Suite/Gpu_f32.test`, ...
template <template <class> class Suite, template <class> class Test, class... Ts>
bool add_tests(const std::string& suite, const char* test, const char* file, int line, TypeList<Ts...>) {
  const auto add = [&]<class T>(const Place& place) {
    const std::string name = suite + "/" + place.name + "_" + std::string(troupe::name(dtype_of<T>));
    ::testing::RegisterTest(name.c_str(), test, nullptr, nullptr, file, line, [&place]() -> Suite<T>* {
      auto* const made = new Test<T>;
      made->run_on(place);
      return made;
    });
  };
  for (const Place& place : kPlaces) (add.template operator()<Ts>(place), ...);
  return true;
}

/// The types of a suite's tests: CONFORMANCE_SUITE(BlasConformance, Types<float, double>).
#define CONFORMANCE_SUITE(Suite, ...) using TypesOf##Suite = __VA_ARGS__

/// Like TYPED_TEST; the type is called T.
#define CONFORMANCE_TEST(Suite, test)                                                                               \
  template <class T>                                                                                                \
  class Suite##_##test : public Suite<T> {                                                                          \
    void TestBody() override;                                                                                       \
  };                                                                                                                \
  [[maybe_unused]] const bool kAdded##Suite##_##test =                                                              \
      ::troupe::conformance::add_tests<Suite, Suite##_##test>(#Suite, #test, __FILE__, __LINE__, TypesOf##Suite{}); \
  template <class T>                                                                                                \
  void Suite##_##test<T>::TestBody()

// ---- numbers ----

/// What a reference is computed in.
template <class T>
struct WideOf {
  using type = double;
};
template <>
struct WideOf<double> {
  using type = long double;
};
template <class T>
struct WideOf<std::complex<T>> {
  using type = std::complex<typename WideOf<T>::type>;
};
template <std::integral T>
struct WideOf<T> {
  using type = std::int64_t;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
Wide<T> widen(T element) {
  if constexpr (detail::kIsComplex<T>)
    return Wide<T>(element.real(), element.imag());
  else if constexpr (detail::kIsSmallFloat<T>)
    return static_cast<float>(element);
  else
    return static_cast<Wide<T>>(element);
}
template <class T>
std::vector<Wide<T>> widened(const std::vector<T>& elements) {
  std::vector<Wide<T>> wide;
  wide.reserve(elements.size());
  for (const T element : elements) wide.push_back(widen(element));
  return wide;
}

/// The conjugate, of a real number itself.
template <class W>
W conjugate(W number) {
  if constexpr (detail::kIsComplex<W>)
    return std::conj(number);
  else
    return number;
}

/// The distance from 1 to the next number.
template <class T>
constexpr double epsilon() {
  if constexpr (detail::kIsComplex<T>)
    return std::numeric_limits<typename T::value_type>::epsilon();
  else if constexpr (std::same_as<T, f16>)
    return 0x1p-10;
  else if constexpr (std::same_as<T, bf16>)
    return 0x1p-7;
  else if constexpr (std::same_as<T, f8e4m3>)
    return 0x1p-3;
  else if constexpr (std::same_as<T, f8e5m2>)
    return 0x1p-2;
  else if constexpr (std::integral<T>)
    return 0;
  else
    return std::numeric_limits<T>::epsilon();
}

/// Fills the memory around an array: nothing may read or change it.
template <class T>
T poison() {
  if constexpr (detail::kIsComplex<T>) {
    return T(poison<typename T::value_type>(), poison<typename T::value_type>());
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(0x5a);
  } else {
    return T(std::numeric_limits<float>::quiet_NaN());
  }
}

/// From -1 to 1, rounded to the type; integers from -9 to 9, or 0 to 9.
template <class T>
T random_element(std::mt19937_64& random) {
  if constexpr (detail::kIsComplex<T>) {
    const auto real = random_element<typename T::value_type>(random);
    return T(real, random_element<typename T::value_type>(random));
  } else if constexpr (std::same_as<T, bool>) {
    return random() % 2 == 1;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(std::uniform_int_distribution<int>(std::is_signed_v<T> ? -9 : 0, 9)(random));
  } else {
    const double number = std::uniform_real_distribution<double>(-1, 1)(random);
    if constexpr (std::same_as<T, double>)
      return number;
    else
      return T(static_cast<float>(number));
  }
}

// ---- arrays ----

/// How an array lies in memory.
enum class Layout : std::uint8_t {
  dense,       // row-major, without gaps
  offset,      // the same, from the middle of another array
  transposed,  // column-major
  padded,      // row-major, with a gap after each row
  sliced,      // every second element of every dimension
  reversed,    // the last dimension runs backwards
};
inline constexpr std::array kLayouts{Layout::dense,  Layout::offset, Layout::transposed,
                                     Layout::padded, Layout::sliced, Layout::reversed};
inline const char* name(Layout layout) {
  constexpr std::array kNames{"dense", "offset", "transposed", "padded", "sliced", "reversed"};
  return kNames[static_cast<std::size_t>(layout)];
}
/// A different layout for the second operand of a test, so that not all pairs need be tried.
inline Layout next(Layout layout, int by = 1) {
  return kLayouts[(static_cast<std::size_t>(layout) + static_cast<std::size_t>(by)) % kLayouts.size()];
}

/// An array on a device with the given layout and poison all around it. Knows what it was filled with, and notices when
/// something beside it has changed.
template <Element T>
class Sample {
 public:
  /// `values` in row-major order; poison where there are none.
  Sample(Device device, const Shape& shape, Layout layout, std::vector<T> values)
      : device_(std::move(device)), values_(std::move(values)) {
    place(shape, layout);
    around_.assign(static_cast<std::size_t>(whole_.element_count()), poison<T>());
    if (values_.empty()) values_.assign(static_cast<std::size_t>(array_.element_count()), poison<T>());
    write();
  }

  const Array<T>& array() const noexcept { return array_; }
  /// What it was last filled with, or read from it.
  const std::vector<T>& values() const noexcept { return values_; }
  /// Fills it again.
  void write(std::vector<T> values) {
    values_ = std::move(values);
    write();
  }
  /// What it holds now, in row-major order.
  std::vector<T> read() {
    const HostArray<T> now = value(device_.read(whole_).get());
    std::vector<bool> inside(around_.size(), false);
    for_each_place([&](std::size_t i, std::size_t at) {
      values_[i] = now[static_cast<std::int64_t>(at)];
      inside[at] = true;
    });
    for (std::size_t i = 0; i < around_.size(); ++i)
      if (!inside[i] && !same_bytes(now[static_cast<std::int64_t>(i)], around_[i])) {
        ADD_FAILURE() << "element " << i << " beside the array " << array_.shape().to_string() << " was written";
        break;
      }
    return values_;
  }

 private:
  static bool same_bytes(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

  void place(const Shape& shape, Layout layout) {
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    const int rank = shape.rank();
    const int last = rank - 1;
    const auto make = [&](const std::vector<std::int64_t>& of) {
      Shape whole{std::span<const std::int64_t>(of)};
      return value(device_.array<T>(whole));
    };
    if (rank == 0 || layout == Layout::dense) {
      whole_ = array_ = make(extents);
    } else if (layout == Layout::transposed) {
      std::vector<std::int64_t> turned(extents.rbegin(), extents.rend());
      whole_ = make(turned);
      array_ = whole_.transpose();
    } else if (layout == Layout::reversed) {
      whole_ = array_ = make(extents);
      if (extents.back() > 0) array_ = value(whole_.slice(last, extents.back() - 1, -1, -1));
    } else if (layout == Layout::offset) {
      extents.front() += 3;
      whole_ = make(extents);
      array_ = value(whole_.slice(0, 2, 2 + shape[0]));
    } else if (layout == Layout::padded) {
      extents.back() += 5;
      whole_ = make(extents);
      array_ = value(whole_.slice(last, 1, 1 + shape[last]));
    } else {
      for (std::int64_t& extent : extents) extent = 2 * extent + 1;
      whole_ = array_ = make(extents);
      for (int i = 0; i < rank; ++i) array_ = value(array_.slice(i, 1, 1 + 2 * shape[i], 2));
    }
  }

  /// `f(i, at)`: element i in row-major order is element `at` of the memory.
  template <class F>
  void for_each_place(F&& f) const {
    const std::int64_t count = array_.element_count();
    if (count == 0) return;
    const op::Range range = whole_.range();
    const auto first = (static_cast<std::int64_t>(array_.view().address) - static_cast<std::int64_t>(range.begin)) /
                       static_cast<std::int64_t>(sizeof(T));
    // The memory is that of `whole_`, which is dense: its row-major order is the order of its addresses.
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = first;
      std::int64_t rest = i;
      for (int d = array_.rank() - 1; d >= 0; --d) {
        at += rest % array_.shape()[d] * array_.strides()[d];
        rest /= array_.shape()[d];
      }
      f(static_cast<std::size_t>(i), static_cast<std::size_t>(at));
    }
  }

  void write() {
    const std::size_t count = around_.size();
    const auto all = std::make_unique<T[]>(count);  // a vector of bool has no memory that could be written
    std::ranges::copy(around_, all.get());
    for_each_place([&](std::size_t i, std::size_t at) { all[at] = values_[i]; });
    if (count > 0) value(device_.write(whole_, std::span<const T>(all.get(), count)).get());
  }

  Device device_;
  Array<T> whole_;
  Array<T> array_;
  std::vector<T> values_;
  std::vector<T> around_;
};

// ---- the fixture ----

/// The devices of this process, one for each backend, opened when they are first needed; and the file that
/// TROUPE_CAPABILITIES names, which a process writes anew.
class Devices : public ::testing::Environment {
 public:
  static Devices& instance() {
    static auto* const kInstance = new Devices;  // GoogleTest destroys it, after `TearDown`
    static const bool kAdded = ::testing::AddGlobalTestEnvironment(kInstance) != nullptr;
    (void)kAdded;
    return *kInstance;
  }
  /// Null when there is none.
  const Device* find(const std::string& backend) {
    if (!system_) system_ = std::make_unique<System>();
    std::optional<Device>& device = backend == "host" ? host_ : gpu_;
    if (device) return &*device;
    bool is_there = false;
    for (const DeviceInfo& info : system_->devices()) is_there |= info.backend == backend;
    if (!is_there) return nullptr;
    DeviceOptions options{.standby = Standby::none};
    const char* const isolation = std::getenv("TROUPE_TEST_ISOLATION");  // NOLINT(concurrency-mt-unsafe)
    if (isolation && std::string_view(isolation) == "thread") options.isolation = Isolation::thread;
    const char* const sandbox = std::getenv("TROUPE_TEST_SANDBOX");  // NOLINT(concurrency-mt-unsafe)
    if (sandbox && std::string_view(sandbox) == "standard") options.sandbox = Sandbox::standard;
    if (sandbox && std::string_view(sandbox) == "strict") options.sandbox = Sandbox::strict;
    device.emplace(value(system_->device(backend, options)));
    return &*device;
  }
  /// One line for an op that a test has covered: "host blas scal f32 6".
  void record(const std::string& line) { records_ << line << std::endl; }
  void TearDown() override {
    host_.reset();
    gpu_.reset();
    system_.reset();
  }

 private:
  Devices() {
    const char* const file = std::getenv("TROUPE_CAPABILITIES");  // NOLINT(concurrency-mt-unsafe)
    if (!file) return;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    records_.open(file);
  }

  std::ofstream records_;
  std::unique_ptr<System> system_;
  std::optional<Device> host_;
  std::optional<Device> gpu_;
};

template <class T>
class Conformance : public ::testing::Test {
 public:
  using Number = T;
  /// Before the test runs; the host unless told.
  void run_on(const Place& place) noexcept { place_ = &place; }

 protected:
  void SetUp() override {
    device_ = Devices::instance().find(place_->backend);
    if (!device_) GTEST_SKIP() << "no GPU";
  }
  void TearDown() override {
    if (covered_.empty() || HasFailure() || IsSkipped()) return;
    Devices::instance().record(std::string(place_->backend) + '\t' + covered_ + '\t' +
                               std::string(troupe::name(dtype_of<Number>)) + '\t' + std::to_string(cases_));
  }

  const Device& device() const { return *device_; }
  /// Says which op this test is about: the family, and the op's name in the table.
  void covers(const std::string& family, const std::string& op) { covered_ = family + '\t' + op; }

  Sample<Number> random(const Shape& shape, Layout layout = Layout::dense) { return random_of<Number>(shape, layout); }
  template <Element U>
  Sample<U> random_of(const Shape& shape, Layout layout = Layout::dense) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::vector<U> values(static_cast<std::size_t>(count));
    for (auto&& element : values) element = random_element<U>(random_);
    return Sample<U>(device(), shape, layout, std::move(values));
  }
  Sample<Number> poisoned(const Shape& shape, Layout layout = Layout::dense) {
    return poisoned_of<Number>(shape, layout);
  }
  template <Element U>
  Sample<U> poisoned_of(const Shape& shape, Layout layout = Layout::dense) {
    return Sample<U>(device(), shape, layout, {});
  }

  /// Within `roundings` roundings of the type, each as large as the number itself or `magnitude`, whichever is more.
  template <class U>
  void expect_close(const std::vector<U>& got, const std::vector<Wide<U>>& want, double roundings,
                    double magnitude = 1) {
    ++cases_;
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double size = std::max(static_cast<double>(std::abs(want[i])), magnitude);
      const auto off = static_cast<double>(std::abs(widen(got[i]) - want[i]));
      if (off <= roundings * epsilon<U>() * size) continue;  // a NaN is not
      ADD_FAILURE() << "element " << i << " of " << got.size() << " is off by " << off << ", of numbers up to " << size
                    << ": " << text(got[i]) << " instead of " << text(want[i]) << " (TROUPE_TEST_SEED=" << seed_ << ")";
      return;
    }
  }
  void expect_equal(const std::vector<Number>& got, const std::vector<Number>& want) {
    ++cases_;
    EXPECT_TRUE(got == want);
  }
  /// Counts a case that was compared in another way.
  void count_case() { ++cases_; }
  std::mt19937_64& random_numbers() { return random_; }

 private:
  template <class U>
  static std::string text(const U& number) {
    if constexpr (detail::kIsComplex<U>)
      return text(number.real()) + (number.imag() < 0 ? "" : "+") + text(number.imag()) + "i";
    else if constexpr (detail::kIsSmallFloat<U>)
      return std::to_string(static_cast<float>(number));
    else
      return std::to_string(number);
  }

  const Place* place_ = &kPlaces.front();
  const Device* device_ = nullptr;
  std::string covered_;
  int cases_ = 0;
  const std::uint64_t seed_ = test_seed();
  std::mt19937_64 random_{seed_};
};

}  // namespace troupe::conformance
