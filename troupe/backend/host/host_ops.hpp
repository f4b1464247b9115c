// From an op's bytes to the kernel that does it: the host's one table of what it can do. An op family that the host can
// do is a function here for each of its ops.
#pragma once

#include <functional>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/host/host_memory.hpp"
#include "troupe/backend/host/host_view.hpp"
#include "troupe/backend/host/plugins.hpp"
#include "troupe/core/log.hpp"
#include "troupe/op/families.hpp"

namespace troupe::host {

class HostOps {
 public:
  HostOps(HostMemory& memory, const backend::Setup& setup)
      : memory_(memory), log_(setup.log), after_loading_(setup.after_loading) {}

  /// Runs one op to its end. Its views lie in mapped memory; whoever calls has checked that. Any thread.
  Result<void> run(const backend::Work& work) noexcept;

 private:
  Result<void> run(const op::Nop&) { return {}; }
  Result<void> run(const op::Ready&) { return {}; }
  Result<void> run(const op::Fill& op);
  Result<void> run(const op::Copy& op);
  Result<void> run(const op::Cast& op);
  Result<void> run(const op::Axpy& op);
  Result<void> run(const op::Gemm& op);
  Result<void> run(const op::PluginCall& op);
  Result<void> run(const op::Launch& op);

  HostView here(const op::View& view) const noexcept;

  HostMemory& memory_;
  const LogSink log_;
  const std::function<void()> after_loading_;
  Plugins plugins_;
};

}  // namespace troupe::host
