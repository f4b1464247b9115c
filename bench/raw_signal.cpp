#if TROUPE_CUDA_BACKEND

#include "bench/raw_signal.hpp"

#include <cufft.h>
#include <curand.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "bench/numbers.hpp"
#include "bench/raw_cuda_parts.hpp"
#include "troupe/backend/cuda/fft/cufft_library.hpp"

namespace troupe::bench {
namespace {

/// Only measured: our own kernels fill arrays, because cuRAND's bits depend on how a fill is cut.
constexpr cuda::VendorDeclaration kCurand{.name = "cuRAND",
                                          .files = {"libcurand.so.10"},
                                          .versions = {.oldest = {10, 0}, .newest_major = 10},
                                          .version_symbol = "curandGetProperty",
                                          .read_version = cuda::version_by_property,
                                          .install = "the CUDA toolkit"};

template <class Function>
Function* find(const cuda::Library& library, const char* name) {
  Function* const found = library.find_function<Function>(name);
  if (!found) throw std::runtime_error(library.path() + " lacks " + name);
  return found;
}
/// A function of an open library, by the name it has there.
#define TROUPE_RAW_FIND(library, function) find<decltype(::function)>(library, #function)

template <class Status>
void check_status(Status status, const char* call) {
  if (static_cast<int>(status) != 0)  // success, in both
    throw std::runtime_error(std::string(call) + " answered " + std::to_string(static_cast<int>(status)));
}

/// Small numbers at random: a NaN would be as fast, and would not show what it is.
RawMemory numbers_of(const RawGpu& gpu, std::int64_t count) {
  const std::vector<float> numbers = random_numbers(static_cast<std::size_t>(count), 1);
  RawMemory memory(gpu.context(), numbers.size() * sizeof(float));
  gpu.write(memory.get(), numbers.data(), numbers.size() * sizeof(float));
  return memory;
}

}  // namespace

struct RawSignal::Libraries {
  cuda::Library fft = value(cuda::open(cuda::kCufft)).library;
  cuda::Library random = value(cuda::open(kCurand)).library;
};

RawSignal::RawSignal(std::shared_ptr<RawGpu> gpu) : gpu_(std::move(gpu)), libraries_(std::make_unique<Libraries>()) {}
RawSignal::~RawSignal() = default;

double RawSignal::transform_ns(const TransformCase& of, int count) {
  const cuda::Library& library = libraries_->fft;
  const RawMemory x = numbers_of(*gpu_, of.numbers() * (of.is_real ? 1 : 2));
  const RawMemory y(gpu_->context(), static_cast<std::size_t>(of.spectrum_numbers()) * 2 * sizeof(float));
  cufftHandle plan = 0;
  std::size_t work_bytes = 0;
  std::array<long long, 3> lengths{};
  std::ranges::copy(of.lengths, lengths.begin());
  check_status(TROUPE_RAW_FIND(library, cufftCreate)(&plan), "cufftCreate");
  check_status(
      TROUPE_RAW_FIND(library, cufftMakePlanMany64)(plan, of.rank, lengths.data(), nullptr, 1, 0, nullptr, 1, 0,
                                                    of.is_real ? CUFFT_R2C : CUFFT_C2C, of.batch, &work_bytes),
      "cufftMakePlanMany64");
  check_status(TROUPE_RAW_FIND(library, cufftSetStream)(plan, gpu_->stream()), "cufftSetStream");
  const auto complex = TROUPE_RAW_FIND(library, cufftExecC2C);
  const auto real = TROUPE_RAW_FIND(library, cufftExecR2C);
  auto* const out = reinterpret_cast<cufftComplex*>(y.get());
  const double ns = settled_median_ns(count, [&] {
    gpu_->complete([&] {
      if (of.is_real)
        check_status(real(plan, reinterpret_cast<cufftReal*>(x.get()), out), "cufftExecR2C");
      else
        check_status(complex(plan, reinterpret_cast<cufftComplex*>(x.get()), out, CUFFT_FORWARD), "cufftExecC2C");
    });
  });
  check_status(TROUPE_RAW_FIND(library, cufftDestroy)(plan), "cufftDestroy");
  return ns;
}

double RawSignal::fill_ns(FillKind kind, std::int64_t numbers, int count) {
  const cuda::Library& library = libraries_->random;
  const RawMemory out(gpu_->context(), static_cast<std::size_t>(numbers) * sizeof(float));
  curandGenerator_t generator = nullptr;
  check_status(TROUPE_RAW_FIND(library, curandCreateGenerator)(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10),
               "curandCreateGenerator");
  check_status(TROUPE_RAW_FIND(library, curandSetStream)(generator, gpu_->stream()), "curandSetStream");
  const auto uniform = TROUPE_RAW_FIND(library, curandGenerateUniform);
  const auto normal = TROUPE_RAW_FIND(library, curandGenerateNormal);
  auto* const to = reinterpret_cast<float*>(out.get());
  const auto size = static_cast<std::size_t>(numbers);
  const double ns = settled_median_ns(count, [&] {
    gpu_->complete([&] {
      if (kind == FillKind::uniform)
        check_status(uniform(generator, to, size), "curandGenerateUniform");
      else
        check_status(normal(generator, to, size, 0, 1), "curandGenerateNormal");
    });
  });
  check_status(TROUPE_RAW_FIND(library, curandDestroyGenerator)(generator), "curandDestroyGenerator");
  return ns;
}

double RawSignal::copy_ns(std::int64_t bytes, int count) {
  const auto size = static_cast<std::size_t>(bytes);
  const RawMemory from(gpu_->context(), size), to(gpu_->context(), size);
  return settled_median_ns(count, [&] {
    gpu_->complete([&] { TROUPE_RAW(gpu_->driver(), cuMemcpyAsync, to.get(), from.get(), size, gpu_->stream()); });
  });
}

}  // namespace troupe::bench

#endif
