// The plugin of example 31: sorts the rows of a matrix, each by itself. A plugin is a table of functions behind one C
// symbol; this one shows how a function reads its arrays, their strides and its parameters, and how it says no.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "troupe/plugin.h"

namespace {

/// What the caller sends as parameters; app and plugin must agree on it.
struct Parameters {
  std::int32_t descending;
};

TroupeStatus refuse(const TroupeCall* call, std::int64_t code, const std::string& why) {
  call->set_error(call, code, why.c_str());  // copied: the string may go
  return TROUPE_REFUSED;
}

/// array 0 (f32 matrix, update): every row in order.
TroupeStatus sort_rows(const TroupeCall* call) {
  if (call->array_count != 1) return refuse(call, 1, "sort_rows takes one array");
  const TroupeArray& matrix = call->arrays[0];
  if (matrix.dtype != TROUPE_F32 || matrix.rank != 2 || matrix.access != TROUPE_UPDATE)
    return refuse(call, 2, "sort_rows updates a matrix of f32");
  Parameters parameters{};
  if (call->parameter_bytes != sizeof(parameters)) return refuse(call, 3, "sort_rows takes a Parameters struct");
  std::memcpy(&parameters, call->parameters, sizeof(parameters));

  const std::int64_t rows = matrix.shape[0];
  const std::int64_t columns = matrix.shape[1];
  std::vector<float> row(static_cast<std::size_t>(columns));  // a bad_alloc here becomes out_of_memory for the caller
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const first = static_cast<float*>(matrix.data) + r * matrix.strides[0];
    for (std::int64_t c = 0; c < columns; ++c) row[static_cast<std::size_t>(c)] = first[c * matrix.strides[1]];
    if (parameters.descending != 0)
      std::ranges::sort(row, std::greater<>());
    else
      std::ranges::sort(row);
    for (std::int64_t c = 0; c < columns; ++c) first[c * matrix.strides[1]] = row[static_cast<std::size_t>(c)];
  }
  call->log(call, TROUPE_LOG_INFO, ("sorted " + std::to_string(rows) + " rows").c_str());
  return TROUPE_OK;
}

constexpr TroupeFunction kFunctions[] = {{"sort_rows", sort_rows}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "sort_plugin", std::size(kFunctions),
                                  kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }  // NOLINT(modernize-redundant-void-arg)
