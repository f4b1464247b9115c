#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/fft/cufft.hpp"

namespace troupe::cuda {

std::vector<long long> CufftProblem::key() const {
  std::vector<long long> all{type, rank, batch};
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

Result<void> CufftPlan::make(CufftProblem problem, CUstream stream) {
  TROUPE_TRY(table_.cufftCreate(&handle_));
  is_made_ = true;
  TROUPE_TRY(table_.cufftSetAutoAllocation(handle_, 0));
  TROUPE_TRY(table_.cufftMakePlanMany64(
      handle_, problem.rank, problem.lengths.data(), problem.in.embed.data(), problem.in.stride, problem.in.distance,
      problem.out.embed.data(), problem.out.stride, problem.out.distance, problem.type, problem.batch, &work_bytes_));
  return table_.cufftSetStream(handle_, stream);
}

Result<std::unique_ptr<Cufft>> Cufft::create(CUstream stream) {
  return std::unique_ptr<Cufft>(new Cufft(*TROUPE_TRY(find_table<CufftTable>()), stream));
}

Result<std::unique_ptr<CufftPlan>> Cufft::take(const CufftProblem& problem) {
  std::vector<long long> key = problem.key();
  if (std::unique_ptr<CufftPlan> kept = plans_.take(key)) return kept;
  auto made = std::make_unique<CufftPlan>(table_, std::move(key));
  TROUPE_TRY(made->make(problem, stream_));
  return made;
}

}  // namespace troupe::cuda

#endif
