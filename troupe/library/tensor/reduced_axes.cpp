#include "troupe/library/tensor/reduced_axes.hpp"

#include <array>
#include <utility>
#include <vector>

#include "troupe/op/check.hpp"

namespace troupe::inline v0::detail {

Result<op::View> with_axes(std::string_view call, const std::string& what, const Shape& shape,
                           const std::optional<Axes>& axes, const AnyArray& out) {
  std::array<bool, kMaxRank> is_reduced{};
  if (!axes) is_reduced.fill(true);
  for (const int axis : axes.value_or(Axes{})) {
    if (axis < 0 || axis >= shape.rank())
      return op::refuse(call, what + " is " + shape.to_string() + "; it has no axis " + std::to_string(axis));
    if (std::exchange(is_reduced[static_cast<std::size_t>(axis)], true))
      return op::refuse(call, "axis " + std::to_string(axis) + " is given twice");
  }
  Shape kept = shape;
  std::vector<std::int64_t> dropped;
  for (int i = 0; i < shape.rank(); ++i) {
    if (is_reduced[static_cast<std::size_t>(i)])
      kept[i] = 1;
    else
      dropped.push_back(shape[i]);
  }
  if (out.shape() == kept) return out.view();
  if (out.shape() != Shape(dropped))
    return op::refuse(call, what + " is " + shape.to_string() + " and out is " + out.shape().to_string() +
                                "; out must be " + kept.to_string() + " or " + Shape(dropped).to_string());
  op::View view{out.view().address, out.dtype(), kept, Strides(std::span(kept.begin(), kept.end()))};
  int next = 0;
  for (int i = 0; i < shape.rank(); ++i)
    view.strides[i] = is_reduced[static_cast<std::size_t>(i)] ? 0 : out.strides()[next++];
  return view;
}

}  // namespace troupe::inline v0::detail
