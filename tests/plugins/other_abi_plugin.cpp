// A plugin built against an interface that this Troupe does not know. Whatever else is in its table may mean anything.
#include "troupe/plugin.h"

extern "C" const TroupePlugin* troupe_plugin(void) {  // NOLINT(modernize-redundant-void-arg): as declared
  static const TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, 999, "other_abi", 0, nullptr};
  return &kPlugin;
}
