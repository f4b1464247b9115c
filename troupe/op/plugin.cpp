#include "troupe/op/plugin.hpp"

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {

Result<void> check(const PluginCall& op) {
  const auto check_text = [](std::string_view what, const std::string& text) -> Result<void> {
    if (!text.empty() && text.size() <= kMaxTextBytes) return {};
    return refuse("call_plugin", std::string(what) + " has " + std::to_string(text.size()) +
                                     " bytes; it must have 1 to " + std::to_string(kMaxTextBytes));
  };
  TROUPE_TRY(check_text("the path", op.path));
  TROUPE_TRY(check_text("the name of the function", op.function));
  if (op.parameters.size() > kMaxParameterBytes)
    return refuse("call_plugin", "there are " + std::to_string(op.parameters.size()) +
                                     " bytes of parameters; it takes at most " + std::to_string(kMaxParameterBytes));
  if (op.arrays.size() > kMaxPluginArrays)
    return refuse("call_plugin", "there are " + std::to_string(op.arrays.size()) + " arrays; it takes at most " +
                                     std::to_string(kMaxPluginArrays));
  return {};
}

extern const FamilyOps plugin_ops = register_ops("plugin", PluginOps{});

}  // namespace troupe::inline v0::op
