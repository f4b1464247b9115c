// Where the arrays of an op are in this process, and the team that helps with them: what a kernel of the host is given.
// Cheap to copy; the memory and the team outlive it.
#pragma once

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/memory/host_memory.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/op/view.hpp"

namespace troupe::host {

class HostViews {
 public:
  HostViews(HostMemory& memory, Team& team) noexcept : memory_(memory), team_(team) {}

  /// The threads that help with large work.
  Team& team() const noexcept { return team_; }

  /// Needs a view that lies in mapped memory. Null where it has no elements.
  HostView operator()(const op::View& view) const noexcept {
    std::byte* const data = op::element_count(view) == 0 ? nullptr : memory_.at(view.address);
    return {.data = data, .dtype = view.dtype, .shape = view.shape, .strides = view.strides};
  }
  /// The first element, for those who know its type and that the elements lie side by side.
  template <class T>
  T* data(const op::View& view) const noexcept {
    return reinterpret_cast<T*>((*this)(view).data);
  }

 private:
  HostMemory& memory_;
  Team& team_;
};

}  // namespace troupe::host
