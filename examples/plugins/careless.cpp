// The plugin of the README: an op that crashes whoever runs it. Through volatile, so that no compiler sees it coming.
#include "troupe/plugin.h"

namespace {

TroupeStatus look_up(const TroupeCall*) {
  const volatile int* volatile table = nullptr;  // nobody has loaded it
  return *table;
}

constexpr TroupeFunction kFunctions[] = {{"look_up", look_up}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "careless", 1, kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }  // NOLINT(modernize-redundant-void-arg)
