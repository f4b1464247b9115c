// A window that goes over the axes of space: those behind [batch, channels], one to three of them. What convolutions
// and pools have in common, for checks and for backends.
#pragma once

#include <array>

#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr int kMaxSpace = 3;
/// Strides, paddings and dilations are at most so large, and so are the windows of pools.
inline constexpr std::int64_t kMostDnnStep = 0x7fffffff;

using SpaceNumbers = std::array<std::int64_t, kMaxSpace>;

/// How it goes along each axis of space; entries behind the last axis are 1, and paddings 0.
struct DnnWindow {
  SpaceNumbers stride{1, 1, 1};
  SpaceNumbers before{};  // padding in front of the first element
  SpaceNumbers after{};   // and behind the last one
  SpaceNumbers dilation{1, 1, 1};

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    constexpr std::array<std::array<std::string_view, kMaxSpace>, 4> kNames{
        {{"stride_0", "stride_1", "stride_2"},
         {"before_0", "before_1", "before_2"},
         {"after_0", "after_1", "after_2"},
         {"dilation_0", "dilation_1", "dilation_2"}}};
    for (std::size_t i = 0; i < kMaxSpace; ++i) {
      v.field(kNames[0][i], self.stride[i]);
      v.field(kNames[1][i], self.before[i]);
      v.field(kNames[2][i], self.after[i]);
      v.field(kNames[3][i], self.dilation[i]);
    }
  }
  friend bool operator==(const DnnWindow&, const DnnWindow&) = default;
};

/// Along one axis: how many elements a window of `extent` reaches over. At most 2^62.
constexpr std::int64_t reach_of(std::int64_t extent, std::int64_t dilation) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t reach = 0;
  if (extent < 1) return 0;
  return __builtin_mul_overflow(extent - 1, dilation, &reach) || reach >= kMost ? kMost : reach + 1;
}
/// How many places it has there; 0 when it does not fit in once. Needs steps that were checked.
constexpr std::int64_t places_of(std::int64_t in, std::int64_t extent, const DnnWindow& window,
                                 std::size_t axis) noexcept {
  const auto padded = static_cast<std::uint64_t>(in) + static_cast<std::uint64_t>(window.before[axis]) +
                      static_cast<std::uint64_t>(window.after[axis]);
  const auto reach = static_cast<std::uint64_t>(reach_of(extent, window.dilation[axis]));
  if (padded < reach) return 0;
  return static_cast<std::int64_t>((padded - reach) / static_cast<std::uint64_t>(window.stride[axis]) + 1);
}

/// The axes of space of an array, 0 to 3; less than 0 for one that has no batch and channels.
constexpr int space_of(const View& view) noexcept { return view.shape.rank() - 2; }

/// The same as if there were three axes of space, by axes of extent 1 in front.
constexpr SpaceNumbers in_three(const SpaceNumbers& numbers, int space, std::int64_t missing) noexcept {
  SpaceNumbers all{missing, missing, missing};
  for (int i = 0; i < space; ++i)
    all[static_cast<std::size_t>(kMaxSpace - space + i)] = numbers[static_cast<std::size_t>(i)];
  return all;
}
constexpr DnnWindow in_three(const DnnWindow& window, int space) noexcept {
  return {.stride = in_three(window.stride, space, 1),
          .before = in_three(window.before, space, 0),
          .after = in_three(window.after, space, 0),
          .dilation = in_three(window.dilation, space, 1)};
}

/// Steps that are none, or too large; and more of them than there are axes. Needs an array with axes of space.
Result<void> check_window(std::string_view call, const DnnWindow& window, int space);
/// From 3 to 5 axes, of which only the batch may have no elements.
Result<void> check_layers(std::string_view call, std::string_view name, const View& view);
/// As many axes as `like`, and its batch and channels.
Result<void> check_like(std::string_view call, std::string_view name, const View& view, std::string_view like_name,
                        const View& like);
/// "axis 2".
std::string axis_name(int space_axis);

}  // namespace troupe::inline v0::op
