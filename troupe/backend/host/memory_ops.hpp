// What the host does for the ops of op/memory.hpp and op/control.hpp: all of it is in memory_kernels.hpp, and this only
// finds the arrays.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/backend/host/memory_kernels.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"

namespace troupe::host {

inline Result<void> run_op(const op::Nop&, const HostPlaces&) { return {}; }
inline Result<void> run_op(const op::Ready&, const HostPlaces&) { return {}; }
inline Result<void> run_op(const op::Fill& op, const HostPlaces& here) { return fill(here(op.out), op.value); }
inline Result<void> run_op(const op::Copy& op, const HostPlaces& here) { return copy(here(op.in), here(op.out)); }
inline Result<void> run_op(const op::Cast& op, const HostPlaces& here) { return cast(here(op.in), here(op.out)); }

}  // namespace troupe::host
