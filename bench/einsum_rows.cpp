#if TROUPE_CUDA_BACKEND

#include "bench/einsum_rows.hpp"

#include "bench/einsum_cases.hpp"

namespace troupe::bench {
namespace {

constexpr int kEinsums = 20;
constexpr double kUs = 1e-3;  // of a nanosecond

References torch_einsum(const SharedGpu& gpu, const EinsumCase& einsum, int count) {
  return {.all = {{"PyTorch's torch.einsum", [=] { return kUs * gpu->torch().einsum_ns(einsum, count); }}},
          .why_none = {}};
}

}  // namespace

std::vector<Row> einsum_rows(const SharedGpu& gpu, const Options& options) {
  const int count = options.count(kEinsums);
  std::vector<Row> rows;
  rows.push_back({.name = "einsum abcd,cdef->abef f32, 64 each",
                  .unit = "us",
                  .ours = [=] { return kUs * gpu->linear().einsum_ns(64, count); },
                  .references = torch_einsum(gpu, kEinsumCases[0], count),
                  .limit = Limit::at_most_times(1.02),  // as fast; the rest is for what rounds differ by
                  .rounds = options.rounds(5)});
  // Skipped where there is no cuTENSOR: the other engines are as fast as PyTorch, and not faster.
  for (const EinsumCase& einsum : kEinsumCases)
    rows.push_back({.name = "einsum " + std::string(einsum.text) + " f32, measured",
                    .unit = "us",
                    .ours = [=] { return kUs * gpu->linear().measured_einsum_ns(einsum, count); },
                    .references = torch_einsum(gpu, einsum, count),
                    .limit = Limit::at_most_times(0.97),
                    .rounds = options.rounds(5)});
  return rows;
}

}  // namespace troupe::bench

#endif
