// What an op can use when the host runs it: the place of its arrays, its work, and the plugins. And the table of how
// each op is run, to which every folder beside this file adds its family.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/plugin/plugin_caller.hpp"
#include "troupe/backend/run_table.hpp"

namespace troupe::host {

class FftPlans;
class KernelPrograms;

/// Most ops need only their arrays, and take a `HostViews`.
class HostTools : public HostViews {
 public:
  HostTools(const HostViews& views, const backend::Work& work, backend::PluginCaller& plugins, FftPlans& fft_plans,
            KernelPrograms& programs, bool& has_begun) noexcept
      : HostViews(views),
        work_(work),
        plugins_(plugins),
        fft_plans_(fft_plans),
        programs_(programs),
        has_begun_(has_begun) {}

  const backend::Work& work() const noexcept { return work_; }
  backend::PluginCaller& plugins() const noexcept { return plugins_; }
  FftPlans& fft_plans() const noexcept { return fft_plans_; }
  KernelPrograms& programs() const noexcept { return programs_; }
  /// From now on the op may write.
  void begin() const noexcept { has_begun_ = true; }

 private:
  const backend::Work& work_;
  backend::PluginCaller& plugins_;
  FftPlans& fft_plans_;
  KernelPrograms& programs_;
  bool& has_begun_;
};

using RunTable = backend::OpRunTable<HostTools>;

}  // namespace troupe::host
