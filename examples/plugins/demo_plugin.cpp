// The ops that the demo and the examples need and no library has: two that go wrong on purpose, one that takes its
// time, and one that behaves. What goes wrong does so through volatile, so that no compiler sees it coming.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>

#include "troupe/plugin.h"

namespace {

TroupeStatus refuse(const TroupeCall* call, const char* why) {
  call->set_error(call, 0, why);
  return TROUPE_REFUSED;
}

/// The parameters as one `T`, if they are one.
template <class T>
std::optional<T> parameter(const TroupeCall* call) {
  if (call->parameter_bytes != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, call->parameters, sizeof(T));
  return value;
}

bool is_vector_of(const TroupeArray& array, std::uint32_t dtype) { return array.dtype == dtype && array.rank == 1; }

/// Dereferences null. Array 0 (i64, update), if there is one, gets the time of the crash first, in nanoseconds.
TroupeStatus crash(const TroupeCall* call) {
  if (call->array_count == 1 && is_vector_of(call->arrays[0], TROUPE_I64) && call->arrays[0].shape[0] > 0)
    *static_cast<volatile std::int64_t*>(call->arrays[0].data) =
        std::chrono::steady_clock::now().time_since_epoch().count();
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
  return TROUPE_OK;
}

/// Never returns.
TroupeStatus hang(const TroupeCall*) {
  volatile std::uint32_t turns = 0;
  for (;;) turns = turns + 1;
}

/// Keeps a core busy for parameter (int32) milliseconds; what its arrays are does not matter.
TroupeStatus spin_ms(const TroupeCall* call) {
  const auto duration_ms = parameter<std::int32_t>(call);
  if (!duration_ms) return refuse(call, "spin_ms takes an int32, the milliseconds");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(*duration_ms);
  while (std::chrono::steady_clock::now() < end) {
  }
  return TROUPE_OK;
}

/// Multiplies array 0 (a vector of f32, update) by the parameter (float).
TroupeStatus scale(const TroupeCall* call) {
  const auto factor = parameter<float>(call);
  if (!factor) return refuse(call, "scale takes a float, the factor");
  if (call->array_count != 1 || !is_vector_of(call->arrays[0], TROUPE_F32) || call->arrays[0].access != TROUPE_UPDATE)
    return refuse(call, "scale updates one vector of f32");
  const TroupeArray& vector = call->arrays[0];
  for (std::int64_t i = 0; i < vector.shape[0]; ++i) static_cast<float*>(vector.data)[i * vector.strides[0]] *= *factor;
  return TROUPE_OK;
}

constexpr TroupeFunction kFunctions[] = {{"crash", crash}, {"hang", hang}, {"spin_ms", spin_ms}, {"scale", scale}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "demo_plugin", std::size(kFunctions),
                                  kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }  // NOLINT(modernize-redundant-void-arg)
