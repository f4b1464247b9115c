#include "troupe/op/dnn_window.hpp"

#include <string>

#include "troupe/op/check.hpp"

namespace troupe::inline v0::op {
namespace {

Result<void> check_step(std::string_view call, std::string_view name, std::int64_t step, std::int64_t least) {
  if (step >= least && step <= kMostDnnStep) return {};
  return refuse(call, std::string(name) + " is " + std::to_string(step) + "; it must be from " + std::to_string(least) +
                          " to " + std::to_string(kMostDnnStep));
}

}  // namespace

std::string axis_name(int space_axis) { return "axis " + std::to_string(space_axis + 2); }

Result<void> check_window(std::string_view call, const DnnWindow& window, int space) {
  for (std::size_t i = 0; i < kMaxSpace; ++i) {
    TROUPE_TRY(check_step(call, "stride", window.stride[i], 1));
    TROUPE_TRY(check_step(call, "padding", window.before[i], 0));
    TROUPE_TRY(check_step(call, "padding", window.after[i], 0));
    TROUPE_TRY(check_step(call, "dilation", window.dilation[i], 1));
  }
  for (auto i = static_cast<std::size_t>(space); i < kMaxSpace; ++i)
    if (window.stride[i] != 1 || window.before[i] != 0 || window.after[i] != 0 || window.dilation[i] != 1)
      return refuse(call, "stride, padding and dilation are for " + std::to_string(i + 1) +
                              " axes; behind the channels there are " + std::to_string(space));
  return {};
}

Result<void> check_layers(std::string_view call, std::string_view name, const View& view) {
  const int space = space_of(view);
  bool is_good = space >= 1 && space <= kMaxSpace;
  for (int i = 1; is_good && i < view.shape.rank(); ++i) is_good = view.shape[i] >= 1;
  if (is_good) return {};
  return refuse(
      call, std::string(name) + " is " + view.shape.to_string() +
                "; it must be [batch, channels, ...] with one to three axes behind the channels, and an element at " +
                "least along each");
}

Result<void> check_like(std::string_view call, std::string_view name, const View& view, std::string_view like_name,
                        const View& like) {
  if (view.shape.rank() == like.shape.rank() && view.shape[0] == like.shape[0] && view.shape[1] == like.shape[1])
    return {};
  return refuse(call, std::string(name) + " is " + view.shape.to_string() + "; it must have as many axes, the batch " +
                          "and the channels of " + std::string(like_name) + ", which is " + like.shape.to_string());
}

}  // namespace troupe::inline v0::op
