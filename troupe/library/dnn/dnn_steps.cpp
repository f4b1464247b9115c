#include "troupe/library/dnn/dnn_steps.hpp"

#include <string>

#include "troupe/op/check.hpp"

namespace troupe::inline v0::detail {

Result<op::SpaceNumbers> along(std::string_view call, std::string_view name, const AlongSpace& numbers, int space,
                               std::int64_t beyond) {
  if (numbers.count() != 1 && numbers.count() != space)
    return op::refuse(call, std::string(name) + " has " + std::to_string(numbers.count()) +
                                " numbers; behind the channels there are " + std::to_string(space) +
                                " axes, and it must have one number, or one for each");
  op::SpaceNumbers all{beyond, beyond, beyond};
  for (int i = 0; i < space; ++i) all[static_cast<std::size_t>(i)] = numbers[i];
  return all;
}

Result<op::DnnWindow> window_of(std::string_view call, const WindowSteps& steps, int space) {
  op::DnnWindow window;
  window.stride = TROUPE_TRY(along(call, "stride", steps.stride, space, 1));
  window.before = TROUPE_TRY(along(call, "padding", steps.padding, space, 0));
  window.after = TROUPE_TRY(along(call, "padding_after", steps.padding_after.value_or(steps.padding), space, 0));
  window.dilation = TROUPE_TRY(along(call, "dilation", steps.dilation, space, 1));
  return window;
}

}  // namespace troupe::inline v0::detail
