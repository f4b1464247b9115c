// Runs `plugin.call` for a backend: loads the plugin, finds the arrays where the backend has them, and calls the
// function. What differs between backends is where an array is, and which lane the function is told of.
#pragma once

#include <functional>
#include <vector>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/plugin/plugins.hpp"

namespace troupe::backend {

class PluginCaller {
 public:
  explicit PluginCaller(const Setup& setup) : log_(setup.log), after_loading_(setup.after_loading) {}

  /// `at(view)` is the address of its first element; `lane` is the native lane or null; `begin` is called when the
  /// function may have written: not when it was not found, and not when it has refused. Any thread.
  template <class At, class Begin>
  Result<void> call(const op::PluginCall& op, void* lane, const At& at, const Begin& begin) {
    if (TROUPE_TRY(plugins_.prepare(op))) after_loading_();  // an exit() of the plugin's must not get past us
    std::vector<PluginArgument> arguments;
    for (const op::Argument& argument : op.arrays)
      arguments.push_back({.data = at(argument.view),
                           .dtype = argument.view.dtype,
                           .shape = argument.view.shape,
                           .strides = argument.view.strides,
                           .access = argument.access});
    const LogFn log = [this](LogLevel level, std::string_view text) {
      if (log_) log_({.level = level, .time = std::chrono::steady_clock::now(), .source = "plugin", .message = text});
    };
    bool has_refused = false;
    Result<void> end = plugins_.call(op, arguments, lane, log, has_refused);
    if (!has_refused) begin();
    return end;
  }

 private:
  const LogSink log_;
  const std::function<void()> after_loading_;
  Plugins plugins_;
};

}  // namespace troupe::backend
