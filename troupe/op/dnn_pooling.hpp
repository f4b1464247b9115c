// Pools as data: a window goes over each channel of x [batch, channels, ...] and makes one element of y of what it
// sees. An adaptive pool has a window for each element of y instead, which together see all of x.
#pragma once

#include "troupe/op/dnn_family.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::inline v0::op {

/// An adaptive pool has no numbers of its own: its windows are those of `adaptive_begin` and `adaptive_end`.
struct DnnPool {
  DnnWindow window;
  SpaceNumbers extent{1, 1, 1};
  std::int64_t adaptive = 0;  // 0 or 1

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    constexpr std::array<std::string_view, kMaxSpace> kNames{"extent_0", "extent_1", "extent_2"};
    DnnWindow::describe(self.window, v);
    for (std::size_t i = 0; i < kMaxSpace; ++i) v.field(kNames[i], self.extent[i]);
    v.field("adaptive", self.adaptive);
  }
  friend bool operator==(const DnnPool&, const DnnPool&) = default;
};

/// The greatest element of each window, a NaN before all others, and where it is: its place among those of its channel
/// in row-major order (i32 or i64), the first of several. A window that sees nothing gives -infinity and -1.
struct DnnMaxPool {
  static constexpr Kind kKind = dnn_kind(kDnnPooling, 0);
  static constexpr std::string_view kName = "dnn.max_pool";
  DnnPool pool;
  bool has_indices = false;
  View x;
  View y;
  View indices;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("pool", self.pool);
    v.field("has_indices", self.has_indices);
    v.reads("x", self.x);
    v.writes("y", self.y);
    if (self.has_indices) v.writes("indices", self.indices);
  }
  friend bool operator==(const DnnMaxPool&, const DnnMaxPool&) = default;
};

/// dx = the sum of dy of those windows whose greatest element it was. Indices that no window sees count for nothing.
struct DnnMaxPoolGradient {
  static constexpr Kind kKind = dnn_kind(kDnnPooling, 1);
  static constexpr std::string_view kName = "dnn.max_pool_gradient";
  DnnPool pool;
  View dy;
  View indices;
  View dx;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("pool", self.pool);
    v.reads("dy", self.dy);
    v.reads("indices", self.indices);
    v.writes("dx", self.dx);
  }
  friend bool operator==(const DnnMaxPoolGradient&, const DnnMaxPoolGradient&) = default;
};

/// The mean of each window: of the elements that it sees, or with `counts_padding` of all, padding being 0. One that
/// sees nothing gives 0.
struct DnnAveragePool {
  static constexpr Kind kKind = dnn_kind(kDnnPooling, 2);
  static constexpr std::string_view kName = "dnn.average_pool";
  DnnPool pool;
  bool counts_padding = true;
  View x;
  View y;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("pool", self.pool);
    v.field("counts_padding", self.counts_padding);
    v.reads("x", self.x);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnAveragePool&, const DnnAveragePool&) = default;
};

struct DnnAveragePoolGradient {
  static constexpr Kind kKind = dnn_kind(kDnnPooling, 3);
  static constexpr std::string_view kName = "dnn.average_pool_gradient";
  DnnPool pool;
  bool counts_padding = true;
  View dy;
  View dx;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("pool", self.pool);
    v.field("counts_padding", self.counts_padding);
    v.reads("dy", self.dy);
    v.writes("dx", self.dx);
  }
  friend bool operator==(const DnnAveragePoolGradient&, const DnnAveragePoolGradient&) = default;
};

using DnnPoolingOps = OpList<DnnMaxPool, DnnMaxPoolGradient, DnnAveragePool, DnnAveragePoolGradient>;

Result<void> check(const DnnMaxPool& op);
Result<void> check(const DnnMaxPoolGradient& op);
Result<void> check(const DnnAveragePool& op);
Result<void> check(const DnnAveragePoolGradient& op);

}  // namespace troupe::inline v0::op
