// libcudnn.so.9, the fake. It proposes three engines for every graph: one that adds in any order, one on tensor cores,
// and one without them; every plan wants a workspace. What a graph is made of is counted like a call, so that tests see
// it: "cudnn tensor [8, 64, 28, 28] by [50176, 1, 1792, 64]", "cudnn graph of 3 nodes", "cudnn engine 1". The old one
// is of version 9.1.
#include <array>
#include <cstring>
#include <string>

#include "tests/fake_cuda/stand_in.hpp"

#if FAKE_CUDA_OLD

FAKE_EXPORT std::size_t cudnnGetVersion() { return 90100; }

#else

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 4003, .invalid = 2000, .failed = 5001, .internal = 4000};
constexpr std::int64_t kWorkspaceBytes = 4096;

// The types of descriptors and the names of attributes that matter here.
constexpr int kPlan = 5, kGraph = 15, kTensor = 17;
constexpr int kResults = 202, kEngineOfConfig = 300, kConfigOfPlan = 401, kWorkspaceOfPlan = 402, kOperations = 801;
constexpr int kExtents = 902, kStrides = 903, kNotes = 1303;
constexpr int kOnTensorCores = 0, kInAnyOrder = 4;

struct Descriptor {
  int type = 0;
  int engine = 0;
  std::int64_t nodes = 0;
  std::string extents;
  std::string strides;
};

int answer(const char* function) { return fake_cuda::status_of(fake_cuda_enter(function), kStatuses); }

std::string list_of(std::int64_t count, const void* values) {
  std::string text = "[";
  for (std::int64_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(static_cast<const std::int64_t*>(values)[i]);
  return text + "]";
}
template <class T>
T first_of(const void* values) {
  T value;
  std::memcpy(&value, values, sizeof value);
  return value;
}
}  // namespace

FAKE_EXPORT std::size_t cudnnGetVersion() { return 91900; }
STAND_IN_CREATE(cudnnCreate)
STAND_IN_DESTROY(cudnnDestroy)
STAND_IN(cudnnSetStream)

FAKE_EXPORT int cudnnBackendCreateDescriptor(int type, Descriptor** made) {
  if (const int status = answer("cudnnBackendCreateDescriptor")) return status;
  *made = new Descriptor{.type = type, .engine = 0, .nodes = 0, .extents = {}, .strides = {}};
  fake_cuda_alive(fake_cuda::Kind::handle, 1);
  return 0;
}
FAKE_EXPORT int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  const int status = answer("cudnnBackendDestroyDescriptor");
  delete descriptor;
  fake_cuda_alive(fake_cuda::Kind::handle, -1);
  return status;
}
FAKE_EXPORT int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int, std::int64_t count,
                                         const void* values) {
  if (name == kExtents) descriptor->extents = list_of(count, values);
  if (name == kStrides) descriptor->strides = list_of(count, values);
  if (name == kOperations) descriptor->nodes = count;
  if (name == kConfigOfPlan) descriptor->engine = first_of<Descriptor*>(values)->engine;
  return answer("cudnnBackendSetAttribute");
}
FAKE_EXPORT int cudnnBackendFinalize(Descriptor* descriptor) {
  if (descriptor->type == kTensor)
    fake_cuda_ask(("cudnn tensor " + descriptor->extents + " by " + descriptor->strides).c_str());
  if (descriptor->type == kGraph)
    fake_cuda_ask(("cudnn graph of " + std::to_string(descriptor->nodes) + " nodes").c_str());
  return answer(descriptor->type == kPlan ? "cudnnBackendFinalize(plan)" : "cudnnBackendFinalize");
}
FAKE_EXPORT int cudnnBackendGetAttribute(Descriptor* descriptor, int name, int, std::int64_t wanted,
                                         std::int64_t* count, void* values) {
  if (const int status = answer("cudnnBackendGetAttribute")) return status;
  *count = 1;
  if (name == kResults) {
    *count = wanted < 3 ? wanted : 3;
    for (int i = 0; i < *count; ++i) static_cast<Descriptor**>(values)[i]->engine = i;
  }
  if (name == kEngineOfConfig) first_of<Descriptor*>(values)->engine = descriptor->engine;
  if (name == kWorkspaceOfPlan) std::memcpy(values, &kWorkspaceBytes, sizeof kWorkspaceBytes);
  if (name == kNotes) {
    constexpr std::array kOfEngine{kInAnyOrder, kOnTensorCores};
    *count = descriptor->engine < 2 ? 1 : 0;
    if (*count == 1) std::memcpy(values, &kOfEngine[static_cast<std::size_t>(descriptor->engine)], sizeof(int));
  }
  return 0;
}
FAKE_EXPORT int cudnnBackendExecute(void*, Descriptor* plan, Descriptor*) {
  fake_cuda_ask(("cudnn engine " + std::to_string(plan->engine)).c_str());
  return answer("cudnnBackendExecute");
}
#endif
