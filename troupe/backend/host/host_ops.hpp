// From an op's bytes to what does it on the CPU. A family that the host can do is a file beside this one,
// `<family>_ops.hpp`, with a `run_op` for each of its ops.
#pragma once

#include <functional>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/host/host_places.hpp"
#include "troupe/backend/host/plugins.hpp"
#include "troupe/core/log.hpp"
#include "troupe/op/families.hpp"

namespace troupe::host {

class HostOps {
 public:
  HostOps(HostMemory& memory, const backend::Setup& setup)
      : here_(memory), log_(setup.log), after_loading_(setup.after_loading) {}

  /// Runs one op to its end. Its views lie in mapped memory; whoever calls has checked that. Any thread.
  Result<void> run(const backend::Work& work) noexcept;

 private:
  Result<void> call_plugin(const op::PluginCall& op);

  const HostPlaces here_;
  const LogSink log_;
  const std::function<void()> after_loading_;
  Plugins plugins_;
};

}  // namespace troupe::host
