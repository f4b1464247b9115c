// A user's own op: a function in a shared object that the worker loads, called with its arrays and parameters. The C
// interface it is called through is troupe/plugin.h.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kPluginFamily{3};

/// Arrays of one call.
inline constexpr std::size_t kMaxPluginArrays = 16;

struct PluginCall {
  static constexpr Kind kKind = kind(kPluginFamily, 0);
  static constexpr std::string_view kName = "plugin.call";
  static constexpr bool kSaysWhenItBegins = true;  // what it names may not be there
  static constexpr bool kTakesInPlace = true;      // by two pointers to one array
  std::string path;                                // of the shared object
  std::string function;                            // its name in the plugin's table
  std::vector<Argument> arrays;
  std::vector<std::byte> parameters;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("path", self.path);
    v.field("function", self.function);
    v.arguments("arrays", self.arrays);
    v.field("parameters", self.parameters);
  }
  /// Nobody knows how long it takes: never run it where a short op would run.
  static constexpr std::uint64_t work() noexcept { return ~std::uint64_t{0}; }
  friend bool operator==(const PluginCall&, const PluginCall&) = default;
};

using PluginOps = OpList<PluginCall>;

Result<void> check(const PluginCall& op);

}  // namespace troupe::inline v0::op
