// A lane's plans of cuFFT. A plan takes long to make, so it is kept for the next transform of the same lengths and
// strides; those that were not used for long go first. Their work areas are ours: one for the time of a transform.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "troupe/backend/cuda/fft/cufft_library.hpp"
#include "troupe/backend/kept_plans.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// Where the numbers of one side of a transform lie, as cuFFT has it: number [b, i, j, k] is at b `distance` + ((i
/// embed[1] + j) embed[2] + k) `stride`.
struct CufftSide {
  std::array<long long, 3> embed{};
  long long stride = 1;
  long long distance = 1;
};

struct CufftProblem {
  cufftType type = CUFFT_C2C;
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
  Result<void> make(CufftProblem problem, CUstream stream);

  cufftHandle handle() const noexcept { return handle_; }
  std::uint64_t work_bytes() const noexcept { return work_bytes_; }

  const std::vector<long long> key;
  const std::uint64_t size_bytes = 0;  // that cuFFT does not tell: their number is the limit

 private:
  const CufftTable& table_;
  cufftHandle handle_ = 0;
  bool is_made_ = false;
  std::size_t work_bytes_ = 0;
};

class Cufft {
 public:
  static constexpr std::size_t kMostPlans = 64;

  static Result<std::unique_ptr<Cufft>> create(CUstream stream);

  const CufftTable& functions() const noexcept { return table_; }
  /// The plan that was kept, or a new one. `keep` gives it back.
  Result<std::unique_ptr<CufftPlan>> take(const CufftProblem& problem);
  void keep(std::unique_ptr<CufftPlan> plan) { plans_.keep(std::move(plan)); }

 private:
  Cufft(const CufftTable& table, CUstream stream) noexcept : table_(table), stream_(stream) {}

  const CufftTable& table_;
  CUstream stream_;
  backend::KeptPlans<CufftPlan> plans_{{.plans = kMostPlans}};
};

}  // namespace troupe::cuda
