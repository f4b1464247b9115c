// What the host does for the ops of op/tensor.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::host {

Result<void> run_op(const op::UnaryOp& op, const HostPlaces& here);
Result<void> run_op(const op::BinaryOp& op, const HostPlaces& here);
Result<void> run_op(const op::TernaryOp& op, const HostPlaces& here);
Result<void> run_op(const op::Reduce& op, const HostPlaces& here);
Result<void> run_op(const op::Contract& op, const HostPlaces& here);

}  // namespace troupe::host
