// What the host does for the ops of op/memory.hpp and op/control.hpp: all of it is in memory_kernels.hpp, and this only
// finds the arrays.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"

namespace troupe::host {

inline Result<void> run_op(const op::Nop&, const HostViews&) { return {}; }
inline Result<void> run_op(const op::Ready&, const HostViews&) { return {}; }
inline Result<void> run_op(const op::Fill& op, const HostViews& here) {
  return fill(here(op.out), op.value, here.team());
}
inline Result<void> run_op(const op::Copy& op, const HostViews& here) {
  return copy(here(op.in), here(op.out), here.team());
}
inline Result<void> run_op(const op::Cast& op, const HostViews& here) {
  return cast(here(op.in), here(op.out), here.team());
}

}  // namespace troupe::host
