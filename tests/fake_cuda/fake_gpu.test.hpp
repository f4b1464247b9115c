// What the tests over the fake driver share: a device with a fake GPU, and the page that says what fails there and
// what was called. Workers are threads of this process, where nothing says otherwise: then what they leave behind is
// seen here. Processes find the fakes by their environment.
#pragma once

#include <filesystem>
#include <fstream>

#include "tests/fake_cuda/control.hpp"
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/wire/run_child.hpp"

namespace troupe {

using fake_cuda::Kind;

/// Files that the tests make: gone in the end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "troupe_fake_XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The environment in which this process and its workers find the fakes, and their page. One for all tests of the
/// process: the driver is opened once.
class FakeCuda {
 public:
  static FakeCuda& get() {
    static FakeCuda fake;
    return fake;
  }
  fake_cuda::Page& page() noexcept { return page_; }

  void use_all_libraries() { setenv("TROUPE_CUDA_LIBRARIES", beside("fake_cuda").c_str(), 1); }

 private:
  FakeCuda() : page_(make_page()) {
    use_all_libraries();
    setenv("LD_AUDIT", beside("fake_cuda/libhide_libraries.so").c_str(), 1);
    unsetenv("TROUPE_MATMUL_TUNING");
    unsetenv("TROUPE_TENSOR_TUNING");
  }
  fake_cuda::Page& make_page() {
    const std::string path = (folder_ / "page").string();
    std::ofstream(path) << std::string(sizeof(fake_cuda::Page), '\0');
    setenv(fake_cuda::kPageVariable, path.c_str(), 1);
    return fake_cuda::map_page(path.c_str());
  }

  TestFolder folder_;
  fake_cuda::Page& page_;
};

class FakeGpu : public DeviceTest {
 protected:
  FakeGpu() { reset_page(); }
  ~FakeGpu() override { FakeCuda::get().use_all_libraries(); }

  static fake_cuda::Page& page() { return FakeCuda::get().page(); }
  static void reset_page() { std::memset(static_cast<void*>(&page()), 0, sizeof(fake_cuda::Page)); }

  /// The n-th call from now on answers `code`; of one function only, if it is named.
  static void fail_call(std::uint64_t n, int code, std::string_view only = {}) {
    page().fail_at = 0;
    page().fail_code = code;
    page().fail_only = only.empty() ? 0 : fake_cuda::hash_of(only);
    page().numbered = page().failed = 0;
    page().fail_at = n;
  }
  static void fail_nothing() { page().fail_at = 0; }
  /// While it lives, streams begin nothing.
  class Held {
   public:
    Held() { page().held = 1; }
    ~Held() { release(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void release() { page().held = 0; }
  };
  /// The call that `fail_call` named has come, and fails whatever is said from now on.
  static bool has_failed() { return page().failed != 0; }
  static std::uint64_t calls(std::string_view function) {
    const fake_cuda::CallCount* const count = count_of(page(), fake_cuda::hash_of(function));
    return count ? count->count.load() : 0;
  }
  static std::int64_t alive(Kind kind) { return page().alive[static_cast<std::size_t>(kind)]; }
  /// Nothing of any kind is left; devices whose last handle is gone may need a moment.
  static void expect_all_gone() {
    constexpr std::array kNames{"contexts",       "streams",     "events",  "modules",        "memory",
                                "scratch memory", "descriptors", "handles", "sealed mappings"};
    const auto none_is = [](const auto& count) { return count.load() == 0; };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!std::ranges::all_of(page().alive, none_is) && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    for (std::size_t i = 0; i < kNames.size(); ++i) EXPECT_EQ(page().alive[i].load(), 0) << kNames[i];
  }

  static DeviceInfo gpu_info() {
    return {.index = 0,
            .backend = "cuda",
            .id = {},
            .name = "Fake GPU",
            .memory_bytes = fake_cuda::kDefaultMemoryBytes,
            .capability = 90};
  }
  static DeviceOptions in_thread() {
    DeviceOptions options = patient();
    options.isolation = Isolation::thread;
    options.standby = Standby::none;
    return options;
  }
  /// Without a standby, unless asked for: a process costs time.
  static DeviceOptions in_process(Standby standby = Standby::none) {
    DeviceOptions options = patient();
    options.standby = standby;
    options.standbys = 1;  // so that a test knows how many there are
    return options;
  }
  Result<Device> try_open(const DeviceOptions& options) { return Device::open(system, gpu_info(), options); }
  Device open_gpu(const DeviceOptions& options = in_thread()) { return value(try_open(options)); }

  /// A folder with these libraries and no others, for workers that are started from now on. `old/libcublas.so.13` is
  /// an older version.
  void use_libraries(std::initializer_list<std::string_view> files) {
    libraries_.emplace();
    for (const std::string_view file : files)
      std::filesystem::create_symlink(beside(("fake_cuda/" + std::string(file)).c_str()),
                                      *libraries_ / std::filesystem::path(file).filename().string());
    setenv("TROUPE_CUDA_LIBRARIES", (*libraries_ / "").parent_path().c_str(), 1);
  }

  /// What a worker that is asked one thing prints.
  static std::string ask_worker(const std::string& option) {
    const wire::ChildAnswer answer =
        value(wire::run_child(beside("troupe-worker"), {option}, {}, std::chrono::seconds(60)));
    return answer.printed;
  }

  static Array<float> ramp(const Device& device, std::int64_t count) {
    Array<float> array = value(device.array<float>({count}));
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    value(device.write(array, numbers).get());
    return array;
  }
  static bool is_ramp(const Device& device, const Array<float>& array) {
    const HostArray<float> content = value(device.read(array).get());
    for (std::int64_t i = 0; i < content.size(); ++i)
      if (content[i] != static_cast<float>(i)) return false;
    return true;
  }

 private:
  std::optional<TestFolder> libraries_;
};

}  // namespace troupe
