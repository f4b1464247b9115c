// A user's plugin, in C: it doubles the elements of a vector of f32.
#include <troupe/plugin.h>

static TroupeStatus twice(const TroupeCall* call) {
  const TroupeArray* array = &call->arrays[0];
  if (call->array_count != 1 || array->dtype != TROUPE_F32 || array->rank != 1) {
    call->set_error(call, 0, "twice needs one vector of f32");
    return TROUPE_REFUSED;
  }
  for (int64_t i = 0; i < array->shape[0]; ++i) ((float*)array->data)[i * array->strides[0]] *= 2.0f;
  return TROUPE_OK;
}

static const TroupeFunction functions[] = {{"twice", twice}};
static const TroupePlugin plugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "doubler", 1, functions};
const TroupePlugin* troupe_plugin(void) { return &plugin; }
