// A plugin that takes calls of every name, and one function with a name of its own.
#include <iterator>

#include "troupe/plugin.h"

namespace {

TroupeStatus any(const TroupeCall* call) {
  call->set_error(call, 0, call->function);
  return TROUPE_REFUSED;
}

TroupeStatus named(const TroupeCall*) { return TROUPE_OK; }

constexpr TroupeFunction kFunctions[] = {{"*", any}, {"named", named}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "any_plugin", std::size(kFunctions),
                                  kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin() { return &kPlugin; }
