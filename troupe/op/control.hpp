// Ops that compute nothing. `Nop` makes the round trip to a worker's lane and back: for measuring, and for asking if
// anybody is there.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kControlFamily{0};

struct Nop {
  static constexpr Kind kKind = kind(kControlFamily, 0);
  static constexpr std::string_view kName = "control.nop";
  template <class Self, class V>
  static void describe(Self&, V&) {}
  friend bool operator==(const Nop&, const Nop&) = default;
};

using ControlOps = OpList<Nop>;

Result<void> check(const Nop& op);

}  // namespace troupe::inline v0::op
