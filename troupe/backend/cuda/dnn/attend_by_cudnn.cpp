#if TROUPE_CUDA_BACKEND

#include <algorithm>
#include <vector>

#include "troupe/backend/cuda/dnn/cudnn_call.hpp"
#include "troupe/backend/cuda/dnn/cudnn_problems.hpp"
#include "troupe/backend/cuda/dnn/dnn_by_cudnn.hpp"

namespace troupe::cuda {
namespace {

/// An array [batch, heads, tokens, width] where it is; none when cuDNN's kernels cannot take it from there, which move
/// 16 bytes at a time.
std::optional<CudnnOperand> heads_of(const op::View& view, CUdeviceptr at) {
  constexpr std::int64_t kTogether = CudnnOperand::kMostAlignment / 2;  // numbers of 16 bits
  CudnnOperand operand;
  std::int64_t dense = 1;
  for (int i = 3; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    operand.extents[axis] = view.shape[i];
    operand.strides[axis] = view.shape[i] == 1 ? dense : view.strides[i];
    if (i == 3 ? operand.strides[axis] != 1 : operand.strides[axis] < 1 || operand.strides[axis] % kTogether != 0)
      return std::nullopt;
    dense *= view.shape[i];
  }
  if (view.shape[3] % kTogether != 0 || at % CudnnOperand::kMostAlignment != 0 || dense > 0x7fffffff)
    return std::nullopt;
  return operand;
}

bool is_row_major(const op::View& view) {
  std::int64_t dense = 1;
  for (int i = view.shape.rank(); i-- > 0; dense *= view.shape[i])
    if (view.shape[i] != 1 && view.strides[i] != dense) return false;
  return true;
}

/// Whether the rules are of those that cuDNN has, and each query sees a key.
bool has_usual_rules(const op::AttentionTerms& terms, const op::AttentionInputs& in) {
  if (terms.window != 0 || terms.has_mask || terms.has_lengths || terms.is_packed || terms.probability > 0)
    return false;
  return !terms.causal || !terms.ends_together || in.q.shape[2] <= in.k.shape[2];
}

constexpr std::size_t kSums = 4;  // which array of the graph they are

/// The problem with all of its arrays, in the graph's order; none when cuDNN is not for it.
class CudnnAttentionOp {
 public:
  CudnnAttentionOp(const op::AttentionTerms& terms, const op::AttentionInputs& in, const LaneTools& on) : on_(on) {
    problem_.dtype = in.q.dtype;
    problem_.causal = terms.causal;
    problem_.shift = terms.causal && terms.ends_together ? in.k.shape[2] - in.q.shape[2] : 0;
    problem_.scale = static_cast<float>(terms.scale);
    is_taken_ = (in.q.dtype == DType::f16 || in.q.dtype == DType::bf16) && has_usual_rules(terms, in);
  }
  void take(const op::View& view, CudnnOperand& to) {
    const CUdeviceptr at = on_.at(view);
    const std::optional<CudnnOperand> operand = heads_of(view, at);
    is_taken_ &= operand.has_value();
    if (operand) to = *operand;
    addresses_.push_back(at);
  }
  void take_sums(const op::View& sums) {
    is_taken_ &= is_row_major(sums);
    addresses_.push_back(on_.at(sums));
  }
  bool is_taken() const noexcept { return is_taken_; }
  CudnnAttentionProblem& problem() noexcept { return problem_; }
  const std::vector<CUdeviceptr>& addresses() const noexcept { return addresses_; }
  /// Makes it a problem of so many sequences, and gives how many bytes each array has of them.
  std::vector<std::uint64_t> take_parts_of(std::int64_t sequences) {
    std::vector<std::uint64_t> bytes;
    for (CudnnOperand* const operand :
         {&problem_.q, &problem_.k, &problem_.v, &problem_.y, &problem_.dy, &problem_.dq, &problem_.dk, &problem_.dv}) {
      operand->extents[0] = sequences;
      bytes.push_back(static_cast<std::uint64_t>(sequences * operand->strides[0] * size_bytes(problem_.dtype)));
    }
    const std::int64_t rows = sequences * problem_.q.extents[1] * problem_.q.extents[2];
    bytes.insert(bytes.begin() + kSums, static_cast<std::uint64_t>(rows) * sizeof(float));
    return bytes;
  }

 private:
  const LaneTools& on_;
  CudnnAttentionProblem problem_;
  std::vector<CUdeviceptr> addresses_;
  bool is_taken_ = false;
};

/// Backward cuDNN adds in one order only when it keeps all slopes of scores: parts of the batch take turns, as large as
/// its workspace may be. How many sequences a part has, the same for all; 0 when one is too large.
std::int64_t sequences_of_part(const CudnnAttentionProblem& problem) {
  const auto rounded = [](std::int64_t count) { return static_cast<double>((count + 127) / 128 * 128); };
  const double one =
      2 * static_cast<double>(problem.q.extents[1]) * rounded(problem.q.extents[2]) * rounded(problem.k.extents[2]);
  constexpr auto kMost = 0.95 * static_cast<double>(Cudnn::kMostWorkspaceBytes);  // there is more than slopes in it
  const std::int64_t batch = problem.q.extents[0];
  for (std::int64_t parts = 1; parts <= batch; ++parts)
    if (batch % parts == 0 && one * static_cast<double>(batch / parts) <= kMost) return batch / parts;
  return 0;
}

}  // namespace

Result<bool> attend_by_cudnn(const op::DnnAttention& op, const LaneTools& on) {
  if (op.work() < CudnnCall::kLeastProducts) return false;
  CudnnAttentionOp with(op.terms, op.in, on);
  with.take(op.in.q, with.problem().q);
  with.take(op.in.k, with.problem().k);
  with.take(op.in.v, with.problem().v);
  with.take(op.y, with.problem().y);
  with.take_sums(op.sums);
  if (!with.is_taken()) return false;
  CudnnCall call(on);
  if (!call.prepare(with.problem().key(), [&] { return with.problem().graph(); }, true)) return false;
  TROUPE_TRY(call.run(with.addresses()));
  call.keep();
  return true;
}

Result<bool> attend_by_cudnn(const op::DnnAttentionGradient& op, const LaneTools& on) {
  if (op.work() < CudnnCall::kLeastProducts) return false;
  CudnnAttentionOp with(op.terms, op.in, on);
  CudnnAttentionProblem& problem = with.problem();
  problem.backward = true;
  with.take(op.in.q, problem.q);
  with.take(op.in.k, problem.k);
  with.take(op.in.v, problem.v);
  with.take(op.y, problem.y);
  with.take_sums(op.sums);
  with.take(op.dy, problem.dy);
  with.take(op.dq, problem.dq);
  with.take(op.dk, problem.dk);
  with.take(op.dv, problem.dv);
  if (!with.is_taken()) return false;
  CudnnCall call(on);
  // Before 9.16 its gradients want whole blocks of 128 keys: NVIDIA's own frontend pads for them.
  if (problem.k.extents[2] % 128 != 0 && !call.is_at_least(91600)) return false;
  const std::int64_t part = sequences_of_part(problem);
  if (part == 0) return false;
  const std::int64_t parts = problem.q.extents[0] / part;
  const std::vector<std::uint64_t> steps = with.take_parts_of(part);
  const Result<StreamScratch> products = on.scratch(steps[kSums]);
  if (!products) return false;
  if (!call.prepare(problem.key(), [&] { return problem.graph(); }, true)) return false;

  std::vector<CUdeviceptr> addresses = with.addresses();
  addresses.push_back(products->address());
  for (std::int64_t i = 0; i < parts; ++i) {
    TROUPE_TRY(call.run(addresses));
    for (std::size_t array = 0; array < steps.size(); ++array) addresses[array] += steps[array];
  }
  call.keep();
  return true;
}

}  // namespace troupe::cuda

#endif
