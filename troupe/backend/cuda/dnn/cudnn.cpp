#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/cudnn.hpp"

#include <algorithm>
#include <string>

#include "troupe/backend/cuda/driver/cuda_types.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt_library.hpp"

namespace troupe::cuda {
namespace {

// What a kernel that we take does not do: sums in an order that changes from run to run, products of numbers that were
// rounded to fewer digits or moved to another space, sums that are rounded on the way.
constexpr std::array kNever{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
                            CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                            CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
                            CUDNN_NUMERICAL_NOTE_FFT,
                            CUDNN_NUMERICAL_NOTE_WINOGRAD,
                            CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                            CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
                            CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13};

/// Whether an engine keeps our promises; on tensor cores floats would be rounded to tf32.
Result<bool> is_exact(const CudnnDescriptor& choice, bool may_use_tensor_cores) {
  const CudnnDescriptor engine = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  cudnnBackendDescriptor_t into = engine.get();
  std::int64_t count = 0;
  TROUPE_TRY(cudnn().cudnnBackendGetAttribute(choice.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              1, &count, static_cast<void*>(&into)));
  std::array<cudnnBackendNumericalNote_t, 32> notes{};
  TROUPE_TRY(cudnn().cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                              notes.size(), &count, notes.data()));
  return std::none_of(notes.begin(), notes.begin() + count, [&](cudnnBackendNumericalNote_t note) {
    return std::ranges::find(kNever, note) != kNever.end() ||
           (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && !may_use_tensor_cores);
  });
}

/// Whether cuDNN could do what it was asked for. Memory that is missing may be there the next time, so that is an
/// error.
Result<bool> is_granted(const Result<void>& answer) {
  if (answer) return true;
  if (answer.error().kind() == ErrorKind::out_of_memory) return fail(answer.error());
  return false;
}

}  // namespace

// ---- a plan ----

Result<void> CudnnPlan::make(cudnnHandle_t handle, const CudnnGraph& graph, bool may_use_tensor_cores) {
  if (!TROUPE_TRY(is_granted(describe(handle, graph)))) return {};
  numbers_ = graph.numbers();
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    if (TROUPE_TRY(try_mode(handle, mode, may_use_tensor_cores))) return {};
  graph_.clear();
  return {};
}

Result<void> CudnnPlan::describe(cudnnHandle_t handle, const CudnnGraph& graph) {
  graph_ = TROUPE_TRY(graph.described(handle));
  return {};
}

Result<bool> CudnnPlan::try_mode(cudnnHandle_t handle, cudnnBackendHeurMode_t mode, bool may_use_tensor_cores) {
  const CudnnDescriptor heuristics = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  TROUPE_TRY(heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_.back()));
  TROUPE_TRY(heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode));
  if (!TROUPE_TRY(is_granted(heuristics.finish()))) return false;
  std::vector<CudnnDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> into;
  for (int i = 0; i < Cudnn::kMostChoices; ++i) {
    choices.push_back(TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)));
    into.push_back(choices.back().get());
  }
  std::int64_t count = 0;
  if (!TROUPE_TRY(is_granted(cudnn().cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, Cudnn::kMostChoices,
                                                              &count, static_cast<void*>(into.data())))))
    return false;
  choices.resize(static_cast<std::size_t>(std::min<std::int64_t>(count, Cudnn::kMostChoices)));
  for (CudnnDescriptor& choice : choices) {
    const Result<bool> exact = is_exact(choice, may_use_tensor_cores);
    if (!exact || !*exact) continue;
    if (TROUPE_TRY(is_granted(try_choice(handle, std::move(choice))))) return true;
  }
  return false;
}

Result<void> CudnnPlan::try_choice(cudnnHandle_t handle, CudnnDescriptor choice) {
  CudnnDescriptor plan = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  TROUPE_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, choice));
  TROUPE_TRY(plan.finish());
  std::int64_t count = 0;
  std::int64_t workspace_bytes = 0;
  TROUPE_TRY(cudnn().cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                              &count, &workspace_bytes));
  if (static_cast<std::uint64_t>(workspace_bytes) > Cudnn::kMostWorkspaceBytes)
    return fail(ErrorKind::unsupported,
                "a plan of cuDNN wants a workspace of " + std::to_string(workspace_bytes) + " bytes");
  choice_ = std::move(choice);
  plan_ = std::move(plan);
  workspace_bytes_ = static_cast<std::uint64_t>(workspace_bytes);
  return {};
}

Result<void> CudnnPlan::run(cudnnHandle_t handle, std::span<const CUdeviceptr> arrays, CUdeviceptr workspace) const {
  std::vector<std::int64_t> tensors;
  std::vector<const void*> data;
  for (const CUdeviceptr array : arrays) {
    tensors.push_back(static_cast<std::int64_t>(tensors.size() + 1));
    data.push_back(pointer(array));
  }
  for (const auto& [tensor, number] : numbers_) {
    tensors.push_back(tensor);
    data.push_back(&number);
  }
  const CudnnDescriptor pack = TROUPE_TRY(CudnnDescriptor::make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  TROUPE_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, tensors));
  TROUPE_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data.size(),
                      static_cast<const void*>(data.data())));
  TROUPE_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, pointer(workspace)));
  TROUPE_TRY(pack.finish());
  return cudnn().cudnnBackendExecute(handle, plan_.get(), pack.get());
}

// ---- the handle ----

Result<std::unique_ptr<Cudnn>> Cudnn::create(CUstream stream) {
  std::unique_ptr<Cudnn> made(new Cudnn);
  (void)find_table<CublasLtTable>();  // which cuDNN wants, and would not find where only we look
  const Result<const CudnnTable*> found = find_table<CudnnTable>();
  if (!found) {
    if (found.error().kind() != ErrorKind::unsupported) return fail(found.error());
    made->missing_ = found.error();
    return made;
  }
  made->version_ = (*found)->cudnnGetVersion();
  TROUPE_TRY((*found)->cudnnCreate(&made->handle_));
  TROUPE_TRY((*found)->cudnnSetStream(made->handle_, stream));
  return made;
}

Cudnn::~Cudnn() {
  plans_.clear();
  if (handle_) (void)cudnn().cudnnDestroy(handle_);
}

Result<std::unique_ptr<CudnnPlan>> Cudnn::take(std::vector<std::int64_t> key, const std::function<CudnnGraph()>& graph,
                                               bool may_use_tensor_cores) {
  if (std::unique_ptr<CudnnPlan> kept = plans_.take(key)) return kept;
  auto plan = std::make_unique<CudnnPlan>(std::move(key));
  TROUPE_TRY(plan->make(handle_, graph(), may_use_tensor_cores));
  return plan;
}

}  // namespace troupe::cuda

#endif
