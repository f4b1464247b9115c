// The plugins that a worker has loaded, and how one of their functions is called. A plugin is loaded once, at its first
// call, and never unloaded: its code may have left threads and callbacks behind, and the worker is disposable anyway.
// So when a plugin is rebuilt under the same path, the next worker sees the new one, not this worker.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/plugin.h"

namespace troupe::backend {

/// An array of a plugin call, found in this process's memory.
struct PluginArgument {
  void* data = nullptr;  // of element [0, 0, ...]
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
  op::Access access = op::Access::read;
};

/// Where a plugin's sentences go. The text is gone after the call.
using LogFn = std::function<void(LogLevel level, std::string_view text)>;

/// How many shared objects one worker loads, those that turned out to be no plugin included.
inline constexpr std::size_t kMaxPlugins = 256;
/// The name of a function that takes the calls of all names that its table does not have.
inline constexpr std::string_view kAnyFunction = "*";
/// How many functions a plugin may have; beyond it a table is taken for garbage.
inline constexpr std::size_t kMaxPluginFunctions = 4096;

/// Whether a worker can use what `troupe_plugin()` gave; `path` is for the sentence.
Result<void> check(const TroupePlugin* plugin, std::string_view path);

class Plugins {
 public:
  explicit Plugins(std::size_t limit = kMaxPlugins) noexcept : limit_(limit) {}
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  /// Calls the op's function and waits until it has returned. `arrays` are the op's, in their order; `lane` is the
  /// native lane or null. A path without a slash is looked up where the loader looks for libraries. From any thread.
  ///  - `invalid_argument`: not a plugin that can be loaded, or no such function; nothing was called.
  ///  - `out_of_memory`: too many plugins, or the function threw `std::bad_alloc`.
  ///  - `library_error`: the function returned a failure or threw. The origin has the plugin's name and code.
  ///  - `invalid_argument` with that origin: it returned TROUPE_REFUSED, and `has_refused` becomes true.
  /// A function that crashes or never returns takes the worker with it.
  Result<void> call(const op::PluginCall& op, std::span<const PluginArgument> arrays, void* lane, const LogFn& log,
                    bool& has_refused);

  /// Loads a plugin ahead of its first call; does nothing when it is loaded.
  Result<void> load(const std::string& path);
  /// Loads the plugin of a call and looks whether it has the function: what fails here has not begun. True when it was
  /// not loaded before.
  Result<bool> prepare(const op::PluginCall& op);

 private:
  using Loaded = Result<const TroupePlugin*>;  // or why the shared object is not a plugin

  Loaded find_or_load(const std::string& path);
  const Loaded* find(const std::string& path) const;

  const std::size_t limit_;
  std::mutex loading_;  // one load at a time; calls of what is loaded go on meanwhile
  mutable std::shared_mutex mutex_;
  std::map<std::string, Loaded> loaded_;  // nothing is ever taken out
};

}  // namespace troupe::backend
