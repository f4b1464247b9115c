// What the ops of the dnn family on rows, lists and indices share on a GPU: operands as rows or side by side (as the
// primitives have them), and the place of the first finding, from which the verdict is told.
#pragma once

#include "troupe/backend/cuda/dnn/dnn_kernels.hpp"
#include "troupe/backend/cuda/dnn/dnn_training_arguments.hpp"
#include "troupe/backend/cuda/primitives/primitives_scratch.hpp"
#include "troupe/op/dnn_finding.hpp"

namespace troupe::cuda {

class DnnScratch : public PrimitivesScratch {
 public:
  using PrimitivesScratch::PrimitivesScratch;

  /// A place for the first finding, which is none yet, and a verdict of zeros.
  Result<DnnFirstFinding*> no_dnn_finding(const op::View& verdict) {
    auto* const finding = TROUPE_TRY(no_finding_yet());
    TROUPE_TRY(fill_bytes(on().data(verdict), 0, op::kDnnVerdictWords * size_bytes(DType::i32)));
    return finding;
  }
  /// Looks at indices side by side, and tells the verdict.
  Result<void> check_indices(const GpuRows& indices, op::DnnFault fault, std::int64_t bound, std::int64_t ignored,
                             DnnFirstFinding* finding, const op::View& verdict) const {
    TROUPE_TRY(threads(DnnTrainingKernel::dnn_check_indices, {}, indices.count(),
                       DnnCheckArguments{.data = indices.data(),
                                         .finding = finding,
                                         .count = indices.count(),
                                         .bound = bound,
                                         .ignored = ignored,
                                         .fault = static_cast<int>(fault),
                                         .wide = is_wide(indices)}));
    return tell({.finding = finding,
                 .verdict = on().data<int>(verdict),
                 .data = indices.data(),
                 .bound = bound,
                 .wide = is_wide(indices)});
  }
  /// A place for a finding, which is none yet.
  Result<DnnFirstFinding*> no_finding_yet() {
    auto* const finding = TROUPE_TRY(array<DnnFirstFinding>(1));
    TROUPE_TRY(fill_bytes(finding, 0xff, sizeof(DnnFirstFinding)));
    return finding;
  }
  /// Lengths side by side, from 0 to `most`; tells the verdict if one is outside.
  Result<DnnFirstFinding*> check_lengths(const GpuRows& lengths, std::int64_t most, const op::View& verdict) {
    DnnFirstFinding* const finding = TROUPE_TRY(no_finding_yet());
    TROUPE_TRY(threads(DnnTrainingKernel::dnn_check_indices, {}, lengths.count(),
                       DnnCheckArguments{.data = lengths.data(),
                                         .finding = finding,
                                         .count = lengths.count(),
                                         .bound = most + 1,
                                         .ignored = 0,
                                         .fault = static_cast<int>(op::DnnFault::length_outside),
                                         .wide = is_wide(lengths)}));
    TROUPE_TRY(tell({.finding = finding,
                     .verdict = on().data<int>(verdict),
                     .data = lengths.data(),
                     .bound = most,
                     .wide = is_wide(lengths)}));
    return finding;
  }
  /// Looks at probabilities, and tells the verdict.
  Result<void> check_probabilities(const GpuRows& numbers, DnnFirstFinding* finding, const op::View& verdict) const {
    TROUPE_TRY(threads(DnnTrainingKernel::dnn_check_probabilities, numbers.dtype, numbers.count(),
                       DnnCheckArguments{.data = numbers.data(),
                                         .finding = finding,
                                         .count = numbers.count(),
                                         .bound = 0,
                                         .ignored = 0,
                                         .fault = static_cast<int>(op::DnnFault::probability_outside),
                                         .wide = false}));
    return tell({.finding = finding, .verdict = on().data<int>(verdict), .data = nullptr, .bound = 0, .wide = false});
  }
  Result<void> tell(const DnnTellArguments& arguments) const {
    return threads(DnnTrainingKernel::dnn_tell, {}, 1, arguments);
  }
};

/// Blocks for rows that have a warp each, or a block each.
inline bool is_short_row(std::int64_t length, DType dtype) noexcept {
  return length * size_bytes(dtype) <= kWarpRowBytes;
}
inline std::int64_t blocks_of_rows(std::int64_t rows, bool is_short) noexcept {
  constexpr std::int64_t kWarps = kDnnThreads / 32;
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;
  return std::min(is_short ? divided_up(rows, kWarps) : rows, kMostBlocks);
}

}  // namespace troupe::cuda
