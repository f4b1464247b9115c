#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/fft/cufft.hpp"

#include "troupe/backend/cuda/lanes/op_tools.hpp"

namespace troupe::cuda {

std::vector<long long> CufftProblem::key() const {
  std::vector<long long> all{type, is_f16 ? 1 : 0, rank, batch};
  all.insert(all.end(), lengths.begin(), lengths.end());
  for (const CufftSide* side : {&in, &out}) {
    all.insert(all.end(), side->embed.begin(), side->embed.end());
    all.insert(all.end(), {side->stride, side->distance});
  }
  return all;
}

CufftPlan::~CufftPlan() {
  if (is_made_) (void)table_.cufftDestroy(handle_);
}

Result<void> CufftPlan::make(CufftProblem problem, const LaneTools& on) {
  TROUPE_TRY(table_.cufftCreate(&handle_));
  is_made_ = true;
  TROUPE_TRY(table_.cufftSetAutoAllocation(handle_, 0));
  if (problem.is_f16)
    TROUPE_TRY(table_.cufftXtMakePlanMany(
        handle_, problem.rank, problem.lengths.data(), problem.in.embed.data(), problem.in.stride, problem.in.distance,
        problem.type == CUFFT_R2C ? CUDA_R_16F : CUDA_C_16F, problem.out.embed.data(), problem.out.stride,
        problem.out.distance, problem.type == CUFFT_C2R ? CUDA_R_16F : CUDA_C_16F, problem.batch, &work_bytes_,
        CUDA_C_16F));
  else
    TROUPE_TRY(table_.cufftMakePlanMany64(
        handle_, problem.rank, problem.lengths.data(), problem.in.embed.data(), problem.in.stride, problem.in.distance,
        problem.out.embed.data(), problem.out.stride, problem.out.distance, problem.type, problem.batch, &work_bytes_));
  TROUPE_TRY(table_.cufftSetStream(handle_, on.stream()));
  if (work_bytes_ == 0 || work_bytes_ > Cufft::kMostWorkBytes) return {};
  work_.emplace(TROUPE_TRY(on.scratch(work_bytes_)));
  size_bytes = work_bytes_;
  return table_.cufftSetWorkArea(handle_, work_->data());
}

Result<std::unique_ptr<Cufft>> Cufft::create(CUstream) {
  return std::unique_ptr<Cufft>(new Cufft(*TROUPE_TRY(find_table<CufftTable>())));
}

Result<std::unique_ptr<CufftPlan>> Cufft::take(const CufftProblem& problem, const LaneTools& on) {
  std::vector<long long> key = problem.key();
  if (std::unique_ptr<CufftPlan> kept = plans_.take(key)) return kept;
  auto made = std::make_unique<CufftPlan>(table_, std::move(key));
  TROUPE_TRY(made->make(problem, on));
  return made;
}

}  // namespace troupe::cuda

#endif
