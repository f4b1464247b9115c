#include "tests/fake_cuda/kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/fake_cuda/driver.hpp"
#include "troupe/backend/cuda/kernels/axes_builder.hpp"
#include "troupe/backend/cuda/memory/memory_arguments.hpp"
#include "troupe/backend/cuda/random/random_engine_groups.hpp"
#include "troupe/backend/cuda/random/random_groups.hpp"

namespace fake_cuda {
namespace {

constexpr std::size_t kVerdictWords = 8;  // of a sparse matrix: all zeros says that nothing was found
constexpr long long kElementsOfAll = 1;   // as many as every matrix has whose elements are counted

template <class T>
T argument(void** arguments, int which) {
  T value{};
  std::memcpy(&value, arguments[which], sizeof value);
  return value;
}

std::function<void()> fill(std::size_t size, void** arguments) {
  const auto layout = argument<troupe::cuda::Layout>(arguments, 1);
  if (layout.rank != 0) return {};
  return [=, out = argument<std::byte*>(arguments, 0), value = argument<troupe::cuda::Bytes16>(arguments, 2)] {
    for (long long i = 0; i < layout.count; ++i) std::memcpy(out + static_cast<std::size_t>(i) * size, &value, size);
  };
}

template <std::size_t size>
std::function<void()> copy(void** arguments) {
  return [m = argument<troupe::cuda::MoveArguments>(arguments, 0)] {
    using namespace troupe::cuda;
    for (long long block = 0; block < blocks_of(m.axes, kGroupThreads); ++block)
      for (unsigned thread = 0; thread < kGroupThreads; ++thread) {
        const auto place =
            place_of_thread<moved_items(size), kGroupThreads>(m.axes, static_cast<unsigned>(block), thread);
        for (int i = 0; i < place.items; ++i) {
          const auto at = [&](int v) { return (place.at[v] + i * m.axes.strides[v]) * static_cast<long long>(size); };
          std::memcpy(static_cast<std::byte*>(m.out) + at(1), static_cast<const std::byte*>(m.in) + at(0), size);
        }
      }
  };
}

std::function<void()> report_nothing(std::int32_t* verdict) {
  return [verdict] { std::fill_n(verdict, kVerdictWords, 0); };
}

/// A kernel of the user's that writes what it was given, whether it may or not.
std::function<void()> scribble(CUdeviceptr address) {
  return [address] {
    if (is_read_only(address)) return poison(CUDA_ERROR_ILLEGAL_ADDRESS);
    *at<float>(address) = 666.0f;
  };
}

/// One that writes the element behind an array of that many.
std::function<void()> overrun(CUdeviceptr address, long long elements) {
  return [=] { at<float>(address)[elements] = 666.0f; };
}

/// The threads of a random kernel, one after another.
template <class Numbers>
std::function<void()> draw(void** arguments,
                           void (*group)(const troupe::cuda::RandomTarget&, const Numbers&, long long)) {
  return [group, target = *static_cast<const troupe::cuda::RandomTarget*>(arguments[0]),
          of = *static_cast<const Numbers*>(arguments[1])] {
    for (long long i = 0; i < target.groups; ++i) group(target, of, i);
  };
}
std::function<void()> work_of_random_kernel(std::string_view name, void** arguments) {
  using namespace troupe;        // for the types of the elements
  using namespace troupe::cuda;  // for what the threads do
#define FAKE_KERNEL(kernel, type, T, Numbers) \
  if (name == "troupe_" #kernel "_" #type) return draw<Numbers>(arguments, kernel##_group<T>);
  TROUPE_RANDOM_KERNELS(FAKE_KERNEL)
#undef FAKE_KERNEL
  return {};
}

/// The threads of a kernel that is told how many there are.
template <class Arguments>
std::function<void()> each_thread(void** arguments, void (*thread)(const Arguments&, long long)) {
  return [thread, of = *static_cast<const Arguments*>(arguments[0]), count = argument<long long>(arguments, 1)] {
    for (long long i = 0; i < count; ++i) thread(of, i);
  };
}
/// The threads of a block, one after another.
constexpr auto kThreadsOfBlock = [](int count, const auto& f) {
  for (int i = 0; i < count; ++i) f(i);
};
/// What makes the bits of engines that have no counter.
std::function<void()> work_of_engine_kernel(std::string_view name, void** arguments, unsigned blocks) {
  using namespace troupe::cuda;
  if (name == "troupe_xorwow_words") return each_thread<XorwowArguments>(arguments, make_segment);
  if (name == "troupe_mrg32k3a_words") return each_thread<MrgArguments>(arguments, make_segment);
  if (name == "troupe_sobol_words") return each_thread<SobolArguments>(arguments, make_sobol);
  if (name == "troupe_put_numbers") return each_thread<PutArguments>(arguments, put_number);
  if (name == "troupe_start_mt19937")
    return [of = *static_cast<const Mt19937StartArguments*>(arguments[0])] { start_mt19937(of, kThreadsOfBlock); };
  if (name == "troupe_jump_mt19937")
    return [blocks, of = *static_cast<const Mt19937JumpArguments*>(arguments[0])] {
      for (unsigned block = 0; block < blocks; ++block) jump_mt19937(of, block, kThreadsOfBlock);
    };
  if (name == "troupe_mt19937_words")
    return [blocks, of = *static_cast<const Mt19937WordsArguments*>(arguments[0])] {
      unsigned shared[kMt19937Shared];
      for (unsigned block = 0; block < blocks; ++block) make_mt19937_segment(of, block, shared, kThreadsOfBlock);
    };
  return {};
}

}  // namespace

std::function<void()> work_of_kernel(std::string_view name, void** arguments, unsigned blocks) {
  if (name == "scribble") return scribble(argument<CUdeviceptr>(arguments, 0));
  if (name == "overrun") return overrun(argument<CUdeviceptr>(arguments, 0), argument<long long>(arguments, 1));
  if (name == "troupe_fill_8") return fill(8, arguments);
  if (name == "troupe_fill_16") return fill(16, arguments);
  if (name == "troupe_copy_4") return copy<4>(arguments);
  if (name == "troupe_copy_16") return copy<16>(arguments);
  if (name == "troupe_give_verdict")
    return [ours = argument<const int*>(arguments, 0), theirs = argument<const int*>(arguments, 1),
            batch = argument<long long>(arguments, 2), out = argument<int*>(arguments, 3)] {
      for (long long i = 0; i < batch; ++i) out[i] = ours[i] != 0 ? ours[i] : theirs[i];
    };
  if (name == "troupe_report_dense") return report_nothing(argument<std::int32_t*>(arguments, 1));
  if (name.starts_with("troupe_report_")) return report_nothing(argument<std::int32_t*>(arguments, 3));
  if (name.starts_with("troupe_sum_up_"))
    return [total = argument<long long*>(arguments, 2)] { *total = kElementsOfAll; };
  if (auto work = work_of_engine_kernel(name, arguments, blocks)) return work;
  return work_of_random_kernel(name, arguments);
}

}  // namespace fake_cuda
