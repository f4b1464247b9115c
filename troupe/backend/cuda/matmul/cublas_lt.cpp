#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/matmul/cublas_lt.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "troupe/backend/cuda/driver/cuda_types.hpp"
#include "troupe/backend/cuda/lanes/measuring.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt_library.hpp"

namespace troupe::cuda {
namespace {

/// For those who have a handle.
const CublasLtTable& lt() noexcept { return table<CublasLtTable>(); }

/// The problem as a line of the tuning's file.
std::string text_of(const LtProblem& p) {
  std::string text;
  const auto add = [&](auto number) { text += (text.empty() ? "" : " ") + std::to_string(number); };
  for (const LtMatrix& m : {p.a, p.b, p.c, p.d}) {
    add(static_cast<int>(m.type));
    add(m.rows);
    add(m.columns);
    add(m.leading);
    add(m.alignment);
    add(m.batch);
    add(m.batch_stride);
  }
  add(static_cast<int>(p.transposes_a));
  add(static_cast<int>(p.transposes_b));
  add(static_cast<int>(p.compute));
  add(static_cast<int>(p.scale));
  add(static_cast<int>(p.epilogue));
  add(static_cast<int>(p.bias_type));
  add(static_cast<int>(p.aux_type));
  add(p.aux_leading);
  add(p.aux_batch_stride);
  add(static_cast<int>(p.scales_d));
  add(static_cast<int>(p.splits));
  return text;
}

static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(AlgorithmBytes));

}  // namespace

/// The descriptors of one problem, and the algorithm that was found for it.
class CublasLt::Plan {
 public:
  Plan() = default;
  ~Plan() {
    if (desc_) (void)lt().cublasLtMatmulDescDestroy(desc_);
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_, d_})
      if (layout) (void)lt().cublasLtMatrixLayoutDestroy(layout);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  Result<void> describe(const LtProblem& p) {
    TROUPE_TRY(lt().cublasLtMatmulDescCreate(&desc_, p.compute, p.scale));
    TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_TRANSA, p.transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N));
    TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_TRANSB, p.transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N));
    TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue));
    has_bias_ = (p.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0 || (p.epilogue & 16) != 0;  // 16: its gradient
    has_aux_ = (p.epilogue & 128) != 0;
    scales_d_ = p.scales_d;
    // Algorithms are chosen by the alignment of these pointers, so there is something in them from the beginning.
    if (has_bias_) {
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.bias_type));
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, kLtAlignment));
    }
    if (scales_d_) TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, kLtAlignment));
    if (has_aux_) {
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, kLtAlignment));
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, p.aux_type));
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.aux_leading));
      TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, p.aux_batch_stride));
    }
    TROUPE_TRY(make(a_, p.a));
    TROUPE_TRY(make(b_, p.b));
    TROUPE_TRY(make(c_, p.c));
    return make(d_, p.d);
  }

  /// The library's guesses, best first.
  Result<std::vector<cublasLtMatmulHeuristicResult_t>> guesses(cublasLtHandle_t handle, const LtProblem& p,
                                                               int most) const {
    cublasLtMatmulPreference_t preference = nullptr;
    TROUPE_TRY(lt().cublasLtMatmulPreferenceCreate(&preference));
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto number) {
      (void)lt().cublasLtMatmulPreferenceSetAttribute(preference, attribute, &number, sizeof number);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    // Parts of a sum are joined in what is computed in, never in a smaller type of the result.
    prefer(
        CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(p.splits ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.a.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.b.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.d.alignment);
    std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
    int count = 0;
    const cublasStatus_t status = lt().cublasLtMatmulAlgoGetHeuristic.status(handle, desc_, a_, b_, c_, d_, preference,
                                                                             most, found.data(), &count);
    (void)lt().cublasLtMatmulPreferenceDestroy(preference);
    found.resize(static_cast<std::size_t>(std::max(count, 0)));
    std::erase_if(found, [](const auto& guess) { return guess.state != CUBLAS_STATUS_SUCCESS; });
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
      found.clear();
    else
      TROUPE_TRY(lt().cublasLtMatmulAlgoGetHeuristic.checked(status));
    return found;
  }

  /// One that was measured before, if the library still takes it; else its best guess. False when there is none.
  Result<bool> choose(cublasLtHandle_t handle, const LtProblem& p, const std::optional<AlgorithmBytes>& measured) {
    if (measured) {
      cublasLtMatmulAlgo_t algorithm{};
      std::memcpy(&algorithm, measured->data(), sizeof algorithm);
      cublasLtMatmulHeuristicResult_t answer{};
      const cublasStatus_t status =
          lt().cublasLtMatmulAlgoCheck.status(handle, desc_, a_, b_, c_, d_, &algorithm, &answer);
      if (status == CUBLAS_STATUS_SUCCESS && answer.workspaceSize <= kWorkspaceBytes) {
        answer.algo = algorithm;
        chosen_ = answer;
        return is_tuned = true;
      }
    }
    const auto found = TROUPE_TRY(guesses(handle, p, 1));
    if (found.empty()) return false;
    chosen_ = found.front();
    return true;
  }
  void choose(const cublasLtMatmulHeuristicResult_t& guess) noexcept { chosen_ = guess; }
  AlgorithmBytes algorithm() const noexcept {
    AlgorithmBytes bytes{};
    std::memcpy(bytes.data(), &chosen_.algo, sizeof chosen_.algo);
    return bytes;
  }
  bool is_tuned = false;

  std::uint64_t workspace_bytes() const noexcept { return chosen_.workspaceSize; }

  Result<void> run(cublasLtHandle_t handle, CUstream stream, const LtCall& call) {
    if (has_bias_) TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias));
    if (has_aux_) TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, call.aux));
    if (scales_d_) TROUPE_TRY(set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, call.scale_d));
    return lt().cublasLtMatmul(handle, desc_, call.alpha, pointer(call.a), a_, pointer(call.b), b_, call.beta,
                               pointer(call.c), c_, pointer(call.d), d_, &chosen_.algo, pointer(call.workspace),
                               chosen_.workspaceSize, stream);
  }

 private:
  template <class T>
  Result<void> set(cublasLtMatmulDescAttributes_t attribute, const T& number) {
    return lt().cublasLtMatmulDescSetAttribute(desc_, attribute, &number, sizeof number);
  }
  static Result<void> make(cublasLtMatrixLayout_t& layout, const LtMatrix& m) {
    TROUPE_TRY(lt().cublasLtMatrixLayoutCreate(&layout, m.type, static_cast<std::uint64_t>(m.rows),
                                               static_cast<std::uint64_t>(m.columns), m.leading));
    if (m.batch == 1) return {};
    const auto set_layout = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& number) {
      return lt().cublasLtMatrixLayoutSetAttribute(layout, attribute, &number, sizeof number);
    };
    TROUPE_TRY(set_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, m.batch));
    return set_layout(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m.batch_stride);
  }

  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr;
  cublasLtMatrixLayout_t c_ = nullptr;
  cublasLtMatrixLayout_t d_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
  bool has_bias_ = false;
  bool has_aux_ = false;
  bool scales_d_ = false;
};

Result<std::unique_ptr<CublasLt>> CublasLt::create(CUstream stream) {
  const CublasLtTable& functions = *TROUPE_TRY(find_table<CublasLtTable>());
  cublasLtHandle_t handle = nullptr;
  TROUPE_TRY(functions.cublasLtCreate(&handle));
  return std::unique_ptr<CublasLt>(new CublasLt(handle, stream));
}

CublasLt::CublasLt(cublasLtHandle_t handle, CUstream stream)
    : handle_(handle),
      stream_(stream),
      tuning_(tuning_path("TROUPE_MATMUL_TUNING"), "matmul", tuning_origin("cuBLASLt", lt().cublasLtGetVersion())) {}

CublasLt::~CublasLt() {
  plans_.clear();
  (void)lt().cublasLtDestroy(handle_);
}

Result<CublasLt::Plan*> CublasLt::find(const LtProblem& problem) {
  if (const auto known = plans_.find(problem); known != plans_.end()) return known->second.get();
  auto plan = std::make_unique<Plan>();
  TROUPE_TRY(plan->describe(problem));
  if (!TROUPE_TRY(plan->choose(handle_, problem, tuning_.find(text_of(problem))))) plan.reset();
  if (plans_.size() == kMaxPlans) plans_.clear();  // rare, and they are made again in no time
  return plans_.emplace(problem, std::move(plan)).first->second.get();
}

std::uint64_t CublasLt::workspace_bytes(const Plan& plan) noexcept { return plan.workspace_bytes(); }

bool CublasLt::is_tuned(const Plan& plan) noexcept { return plan.is_tuned; }

Result<void> CublasLt::run(Plan& plan, const LtCall& call) { return plan.run(handle_, stream_, call); }

Result<bool> CublasLt::tune(const CudaContext& context, const LtProblem& problem, Plan& plan, const LtCall& call) {
  const GpuStopwatch watch = TROUPE_TRY(GpuStopwatch::make(context.driver()));
  const auto candidates = TROUPE_TRY(plan.guesses(handle_, problem, kCandidates));
  std::optional<std::size_t> fastest;
  float least = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    plan.choose(candidates[i]);
    if (!plan.run(handle_, stream_, call)) continue;  // once before it counts; one that does not run is out
    TROUPE_TRY(watch.start(stream_));
    for (int run = 0; run < kRunsEach; ++run) TROUPE_TRY(plan.run(handle_, stream_, call));
    const float milliseconds = TROUPE_TRY(watch.stop(stream_));
    if (fastest && milliseconds >= least) continue;
    fastest = i;
    least = milliseconds;
  }
  if (!fastest) return false;
  plan.choose(candidates[*fastest]);
  plan.is_tuned = true;
  TROUPE_TRY(tuning_.add(text_of(problem), plan.algorithm()));
  return true;
}

}  // namespace troupe::cuda

#endif
