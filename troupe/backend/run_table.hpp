// How a backend runs each op: a table of the same shape as op/table.hpp. Each of the backend's rooms adds the ops of
// its family, in one function `add_<family>`; there is one for every family in op/families.hpp, so a backend that
// forgets one does not link.
//
//   void add_blas(RunTable& table) { table.add(op::BlasOps{}); }  // a `run_op(op, tools)` for each
//
// An op has begun when its `run_op` is called: from then on what it writes is unknown if it fails. An op that first
// finds out whether it can be run says so (`kSaysWhenItBegins`), and calls `tools.begin()` itself.
#pragma once

#include <array>

#include "troupe/op/table.hpp"

namespace troupe::backend {

template <class Tools>
class OpRunTable {
 public:
  using Run = Result<void> (*)(const void* op, const Tools& tools);

  template <class... Ops>
  void add(op::OpList<Ops...>) {
    (add_one<Ops>(), ...);
  }
  /// Null for an op that nobody added.
  Run find(op::Kind kind) const noexcept {
    const std::size_t family = op::family_number(kind), number = op::number_in_family(kind);
    return family < kMaxFamilies && number < kMaxOps ? runs_[family][number] : nullptr;
  }

 private:
  static constexpr std::size_t kMaxFamilies = 64;
  static constexpr std::size_t kMaxOps = 64;

  template <class Op>
  void add_one() {
    static_assert(op::family_number(Op::kKind) < kMaxFamilies && op::number_in_family(Op::kKind) < kMaxOps);
    runs_[op::family_number(Op::kKind)][op::number_in_family(Op::kKind)] = [](const void* op, const Tools& tools) {
      if constexpr (!requires { Op::kSaysWhenItBegins; }) tools.begin();
      return run_op(*static_cast<const Op*>(op), tools);
    };
  }

  std::array<std::array<Run, kMaxOps>, kMaxFamilies> runs_{};
};

}  // namespace troupe::backend
