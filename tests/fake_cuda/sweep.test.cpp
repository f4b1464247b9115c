// The n-th call fails, for every n: whatever it is, a short story of a device ends in success or in a typed error,
// soon, and nothing is left of it: no memory, no handle, no descriptor, no process.
#include <iterator>

#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
std::string children() {
  std::string all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    std::getline(std::ifstream(task.path() / "children") >> std::ws, all, '\0');
  return all;
}

/// Closes a device, and waits for that.
class Closing {
 public:
  explicit Closing(const Device& device) : device_(device) {}
  ~Closing() { device_.close(); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  Device device_;
};

class FakeSweep : public FakeGpu {
 protected:
  /// Every step must end; which way, its error says.
  static Result<void> tell_story(const Device& gpu) {
    const Array<float> a = TROUPE_TRY(gpu.array<float>({16, 16}));
    const Array<float> b = TROUPE_TRY(gpu.array<float>({16, 16}));
    const Array<float> c = TROUPE_TRY(gpu.array<float>({16, 16}));
    const HostArray<float> ones = TROUPE_TRY(gpu.host_array<float>({16, 16}));
    std::ranges::fill(const_cast<HostArray<float>&>(ones), 1.0f);
    TROUPE_TRY(gpu.write(a, ones).get());
    TROUPE_TRY(gpu.fill(c, 2.0f).get());
    TROUPE_TRY(gpu.blas().gemm(a, a, c).get());
    TROUPE_TRY(gpu.copy(a, b).get());
    const HostArray<float> content = TROUPE_TRY(gpu.read(b).get());
    if (!std::ranges::all_of(content, [](float element) { return element == 1.0f; }))
      return fail(ErrorKind::internal, "the copy is not what was copied");
    return {};
  }
  /// Of the other families, and their libraries.
  static Result<void> go_on(const Device& gpu) {
    const Array<float> a = TROUPE_TRY(gpu.array<float>({4, 4}));
    const Array<float> x = TROUPE_TRY(gpu.array<float>({4, 4}));
    TROUPE_TRY(gpu.fill(a, 1.0f).get());
    TROUPE_TRY(gpu.solver().solve(a, a, x).get());
    TROUPE_TRY(gpu.matmul().multiply(a, a, x).get());
    TROUPE_TRY(gpu.tensor().reduce(Reduction::sum, a).get());
    const Array<std::complex<float>> z = TROUPE_TRY(gpu.array<std::complex<float>>({4}));
    TROUPE_TRY(gpu.fill(z, std::complex<float>(1)).get());
    TROUPE_TRY(gpu.fft().forward(z, z).get());
    const Array<float> image = TROUPE_TRY(gpu.array<float>({2, 16, 16, 16}));
    const Array<float> filters = TROUPE_TRY(gpu.array<float>({16, 16, 3, 3}));
    TROUPE_TRY(gpu.fill(image, 1.0f).get());
    TROUPE_TRY(gpu.fill(filters, 1.0f).get());
    const Array<float> sums = TROUPE_TRY(gpu.array<float>({2, 16, 16, 16}));
    TROUPE_TRY(gpu.dnn().convolution(image, filters, sums, {.padding = 1}).get());
    TROUPE_TRY(gpu.tensor().einsum("ik,kj->ij", a, a, x, {.engine = TensorEngine::cutensor}).get());
    TROUPE_TRY(gpu.tensor().einsum("ik,kj->ji", a, a, x, {.autotune = true}).get());
    const std::vector<Triplet<float>> elements{{0, 0, 1.0f}, {1, 1, 1.0f}};
    const SparseMatrix sparse = TROUPE_TRY(gpu.sparse().from_triplets<float>(4, 4, elements, DType::i32));
    TROUPE_TRY(gpu.sparse().multiply(sparse, a, x).get());
    return gpu.sparse().solve(sparse, a, x).get();
  }
  Result<void> tell_short_story(const DeviceOptions& options) {
    const Device gpu = TROUPE_TRY(try_open(options));
    const Closing closing(gpu);
    return tell_story(gpu);
  }
  Result<void> tell_long_story(const DeviceOptions& options) {
    const Device gpu = TROUPE_TRY(try_open(options));
    const Closing closing(gpu);
    TROUPE_TRY(tell_story(gpu));
    return go_on(gpu);
  }

  /// `story` is told until it passes without a failure; gives how often that was.
  template <class Story>
  int sweep(int code, std::uint64_t step, const Story& story) {
    fail_nothing();
    const Result<void> well = story();
    EXPECT_TRUE(well) << well.error().to_string();
    eventually([&] { return children().empty(); });
    const std::size_t descriptors = open_descriptors();
    int told = 0;
    for (std::uint64_t n = 1; !HasFailure(); n += step) {
      fail_call(n, code);
      const auto began = Clock::now();
      const Result<void> end = story();
      const bool failed = has_failed();
      fail_nothing();
      ++told;
      SCOPED_TRACE("call " + std::to_string(n) + " answered " + std::to_string(code) + ", and the story ended in " +
                   (end ? "success" : end.error().to_string()));
      EXPECT_TRUE(end || end.error().kind() != ErrorKind::internal);
      EXPECT_TRUE(end || failed);
      EXPECT_LT(Clock::now() - began, kSoon);
      eventually([&] { return open_descriptors() <= descriptors && children().empty(); });
      if (!failed) break;
    }
    return told;
  }

  static constexpr auto kSoon = std::chrono::seconds(30);
};

class FakeSweepInThread : public FakeSweep, public ::testing::WithParamInterface<int> {};
class FakeSweepInProcess : public FakeSweep, public ::testing::WithParamInterface<int> {};
std::string name_of(const ::testing::TestParamInfo<int>& code) { return "code_" + std::to_string(code.param); }
INSTANTIATE_TEST_SUITE_P(Fake, FakeSweepInThread, ::testing::Values(1, 2, 999), name_of);
INSTANTIATE_TEST_SUITE_P(Fake, FakeSweepInProcess, ::testing::Values(2, 700, 719, 999), name_of);

TEST_P(FakeSweepInThread, the_nth_call_fails_and_nothing_is_left) {
  const int told = sweep(GetParam(), kSanitized ? 7 : 1, [&] {
    const Result<void> end = tell_long_story(in_thread());
    expect_all_gone();
    return end;
  });
  RecordProperty("stories", told);
}

TEST_P(FakeSweepInProcess, the_nth_call_fails_and_the_story_ends) {
  const int told = sweep(GetParam(), kSanitized ? 29 : 1, [&] { return tell_short_story(in_process()); });
  RecordProperty("stories", told);
}

}  // namespace
}  // namespace troupe
