// A lane's plans of cuFFT. A plan takes long to make, so it is kept for the next transform of the same lengths and
// strides; those that were not used for long go first. Work areas are ours: a small one stays with its plan, because
// getting it and telling cuFFT of it costs as much as a small transform; a large one is there for one transform.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <vector>

#include "troupe/backend/cuda/fft/cufft_library.hpp"
#include "troupe/backend/cuda/lanes/stream_scratch.hpp"
#include "troupe/backend/kept_plans.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

class LaneTools;

/// Where the numbers of one side of a transform lie, as cuFFT has it: number [b, i, j, k] is at b `distance` + ((i
/// embed[1] + j) embed[2] + k) `stride`.
struct CufftSide {
  std::array<long long, 3> embed{};
  long long stride = 1;
  long long distance = 1;
};

struct CufftProblem {
  cufftType type = CUFFT_C2C;
  bool is_f16 = false;  // of the numbers of the type, which is one of f32 then
  int rank = 1;
  std::array<long long, 3> lengths{};  // the first `rank`
  CufftSide in;
  CufftSide out;
  long long batch = 1;

  /// All of it as numbers.
  std::vector<long long> key() const;
};

class CufftPlan {
 public:
  CufftPlan(const CufftTable& table, std::vector<long long> its_key) noexcept
      : key(std::move(its_key)), table_(table) {}
  ~CufftPlan();
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  Result<void> make(CufftProblem problem, const LaneTools& on);

  cufftHandle handle() const noexcept { return handle_; }
  /// What the next transform must be given; 0 when it has what it needs.
  std::uint64_t missing_work_bytes() const noexcept { return work_ ? 0 : work_bytes_; }

  const std::vector<long long> key;
  std::uint64_t size_bytes = 0;  // of the work area that it keeps; cuFFT does not tell what else it has

 private:
  const CufftTable& table_;
  cufftHandle handle_ = 0;
  bool is_made_ = false;
  std::size_t work_bytes_ = 0;
  std::optional<StreamScratch> work_;
};

class Cufft {
 public:
  static constexpr std::size_t kMostPlans = 64;
  /// A plan keeps a work area of at most so many bytes, and all plans of a lane together keep at most so many.
  static constexpr std::uint64_t kMostWorkBytes = std::uint64_t{32} << 20;
  static constexpr std::uint64_t kMostWorkBytesOfAll = std::uint64_t{128} << 20;

  static Result<std::unique_ptr<Cufft>> create(CUstream stream);

  const CufftTable& functions() const noexcept { return table_; }
  /// The plan that was kept, or a new one. `keep` gives it back.
  Result<std::unique_ptr<CufftPlan>> take(const CufftProblem& problem, const LaneTools& on);
  void keep(std::unique_ptr<CufftPlan> plan) { plans_.keep(std::move(plan)); }

 private:
  explicit Cufft(const CufftTable& table) noexcept : table_(table) {}

  const CufftTable& table_;
  backend::KeptPlans<CufftPlan> plans_{{.plans = kMostPlans, .bytes = kMostWorkBytesOfAll}};
};

}  // namespace troupe::cuda
