// Moving and setting memory. Reading and writing arrays from the app are copies too: the app's side of a transfer is
// shared memory, a chunk of the vault like any other.
#pragma once

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kMemoryFamily{1};

/// Every element of `out` becomes `value`, converted to its type.
struct Fill {
  static constexpr Kind kKind = kind(kMemoryFamily, 0);
  static constexpr std::string_view kName = "memory.fill";
  View out;
  Scalar value;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.writes("out", self.out);
    v.field("value", self.value);
  }
  friend bool operator==(const Fill&, const Fill&) = default;
};

/// `out` becomes `in`, element by element: the same shape and type, any strides, no overlap.
struct Copy {
  static constexpr Kind kKind = kind(kMemoryFamily, 1);
  static constexpr std::string_view kName = "memory.copy";
  View in;
  View out;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("in", self.in);
    v.writes("out", self.out);
  }
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// `out` becomes `in`, converted by the rules of `convert`: the same shape, any types and strides, no overlap.
struct Cast {
  static constexpr Kind kKind = kind(kMemoryFamily, 2);
  static constexpr std::string_view kName = "memory.cast";
  View in;
  View out;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("in", self.in);
    v.writes("out", self.out);
  }
  friend bool operator==(const Cast&, const Cast&) = default;
};

/// Nothing: it reads `in`, so it ends when all that writes it has ended.
struct Ready {
  static constexpr Kind kKind = kind(kMemoryFamily, 3);
  static constexpr std::string_view kName = "memory.ready";
  View in;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("in", self.in);
  }
  static constexpr std::uint64_t work() noexcept { return 0; }
  friend bool operator==(const Ready&, const Ready&) = default;
};

using MemoryOps = OpList<Fill, Copy, Cast, Ready>;

Result<void> check(const Fill& op);
Result<void> check(const Copy& op);
Result<void> check(const Cast& op);
Result<void> check(const Ready& op);

}  // namespace troupe::inline v0::op
