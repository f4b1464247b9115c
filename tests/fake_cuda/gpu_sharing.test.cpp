// A GPU's vault in the app's own context: the same memory, at the array's place, read-only where it is sealed, and
// nothing of it left behind.
#include "troupe/device/gpu_sharing.hpp"

#include <cstring>
#include <thread>

#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

using detail::GpuLease;
using detail::GpuSharing;

constexpr const char* kUuid = "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00";

class FakeSharing : public FakeGpu {
 protected:
  static std::shared_ptr<GpuSharing> open_sharing() { return value(GpuSharing::open(kUuid)); }
  /// The fake's addresses are those of this process.
  static float* numbers(const GpuLease& lease) { return reinterpret_cast<float*>(lease.address()); }
};

TEST_F(FakeSharing, shows_what_ops_write_and_ops_see_what_is_written_here) {
  const Device gpu = open_gpu(in_process());
  const Array<float> before = ramp(gpu, 1000), array = ramp(gpu, 1000);
  const std::int64_t memory = alive(Kind::memory);  // the worker's
  {
    const std::shared_ptr<GpuSharing> sharing = open_sharing();
    EXPECT_EQ(sharing->ordinal(), 0);
    const std::shared_ptr<GpuLease> lease = value(sharing->lend(array));
    EXPECT_EQ(numbers(*lease)[7], 7.0f);
    value(gpu.fill(array, 5.0f).get());
    EXPECT_EQ(numbers(*lease)[7], 5.0f);
    for (int i = 0; i < 1000; ++i) numbers(*lease)[i] = static_cast<float>(i);
    EXPECT_TRUE(is_ramp(gpu, array));
    EXPECT_TRUE(is_ramp(gpu, before)) << "its neighbour";

    const AnyArray part = value(array.slice(0, 100, 200));
    EXPECT_EQ(numbers(*value(sharing->lend(part)))[0], 100.0f);
  }
  EXPECT_EQ(alive(Kind::memory), memory) << "nothing of ours is left";
}

TEST_F(FakeSharing, maps_a_chunk_once) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  const Array<float> a = ramp(gpu, 10), b = ramp(gpu, 10);
  const std::uint64_t maps = calls("cuMemMap");
  const std::shared_ptr<GpuLease> first = value(sharing->lend(a)), second = value(sharing->lend(b));
  EXPECT_EQ(calls("cuMemMap"), maps + 1);
  EXPECT_NE(first->address(), second->address());
}

TEST_F(FakeSharing, waits_for_this_context_before_the_memory_is_anybody_elses) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  std::shared_ptr<GpuLease> lease = value(sharing->lend(ramp(gpu, 10)));
  const std::uint64_t waits = calls("cuCtxSynchronize");
  std::jthread([moved = std::move(lease)] {}).join();
  EXPECT_EQ(calls("cuCtxSynchronize"), waits + 1);
  EXPECT_EQ(gpu.stats().memory.blocks, 0U);
}

TEST_F(FakeSharing, keeps_what_it_could_not_wait_for) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  std::shared_ptr<GpuLease> lease = value(sharing->lend(ramp(gpu, 10)));
  fail_call(1, 1, "cuCtxSynchronize");
  lease.reset();
  fail_nothing();
  EXPECT_EQ(gpu.stats().memory.blocks, 1U) << "a kernel may still use it";
}

TEST_F(FakeSharing, maps_sealed_arrays_for_reading_only) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  const Array<float> weights = value(gpu.sealable_array<float>({1000}));
  value(gpu.fill(weights, 4.0f).get());
  {
    const std::shared_ptr<GpuLease> writable = value(sharing->lend(weights));
    EXPECT_FALSE(writable->is_read_only());
    EXPECT_TRUE(sharing->can_be_written(weights));
  }
  EXPECT_FALSE(sharing->can_be_written(weights));
  value(gpu.seal(weights).get());
  const std::shared_ptr<GpuLease> sealed = value(sharing->lend(weights));
  EXPECT_TRUE(sealed->is_read_only());
  EXPECT_FALSE(sharing->can_be_written(weights));
  EXPECT_EQ(numbers(*sealed)[999], 4.0f);
  EXPECT_DEATH(numbers(*sealed)[0] = 1.0f, "");
  value(gpu.unseal(weights).get());
  const std::shared_ptr<GpuLease> again = value(sharing->lend(weights));
  numbers(*again)[0] = 1.0f;
  EXPECT_EQ(numbers(*sealed)[0], 1.0f) << "two mappings of one memory";
}

TEST_F(FakeSharing, copies_what_is_in_this_context_into_an_array) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  const Array<float> from = ramp(gpu, 1000), to = value(gpu.array<float>({1000}));
  value(gpu.fill(to, 0.0f).get());
  const std::shared_ptr<GpuLease> source = value(sharing->lend(from)), target = value(sharing->lend(to));
  value(sharing->copy_into(*target, source->address(), 4000));
  EXPECT_TRUE(is_ramp(gpu, to));
}

TEST_F(FakeSharing, outlives_workers) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  const Array<float> array = ramp(gpu, 1000);
  const std::shared_ptr<GpuLease> lease = value(sharing->lend(array));
  kill_worker(gpu);
  EXPECT_EQ(numbers(*lease)[999], 999.0f);
  value(gpu.fill(array, 3.0f).get());
  EXPECT_EQ(numbers(*lease)[999], 3.0f);
}

TEST_F(FakeSharing, says_why_it_cannot) {
  const Device gpu = open_gpu();
  const std::shared_ptr<GpuSharing> sharing = open_sharing();
  const HostArray<float> here = value(gpu.host_array<float>({10}));
  EXPECT_EQ(kind_of(sharing->lend(here)), ErrorKind::unsupported);
  EXPECT_EQ(value(sharing->lend(value(gpu.array<float>({0}))))->address(), 0U);
  const Array<float> array = ramp(gpu, 10);
  for (const char* const call :
       {"cuMemImportFromShareableHandle", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    fail_call(1, 2, call);
    const Result<std::shared_ptr<GpuLease>> none = sharing->lend(array);
    fail_nothing();
    ASSERT_EQ(kind_of(none), ErrorKind::library_error) << call;
    EXPECT_TRUE(none.error().message().starts_with(call)) << none.error().message();
  }
  EXPECT_TRUE(sharing->lend(array)) << "and then it can";
  const Result<std::shared_ptr<GpuSharing>> nobody = GpuSharing::open("GPU-00000000-0000-0000-0000-000000000000");
  ASSERT_EQ(kind_of(nobody), ErrorKind::unsupported);
  EXPECT_NE(nobody.error().message().find("CUDA_VISIBLE_DEVICES"), std::string_view::npos);
}

}  // namespace
}  // namespace troupe
