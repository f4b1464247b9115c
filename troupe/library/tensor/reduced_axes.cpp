#include "troupe/library/tensor/reduced_axes.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <vector>

#include "troupe/op/check.hpp"

namespace troupe::inline v0::detail {

Result<Axes> counted_axes(std::string_view call, const std::string& what, const Shape& shape,
                          const std::optional<Axes>& axes) {
  if (!axes) return Axes(std::views::iota(0, shape.rank()));
  std::array<int, kMaxRank> counted{};
  std::size_t count = 0;
  for (const int axis : *axes) {
    const int from_start = axis < 0 ? axis + shape.rank() : axis;
    if (from_start < 0 || from_start >= shape.rank())
      return op::refuse(call, what + " is " + shape.to_string() + "; it has no axis " + std::to_string(axis));
    if (std::find(counted.begin(), counted.begin() + count, from_start) != counted.begin() + count)
      return op::refuse(call, "axis " + std::to_string(from_start) + " is given twice");
    counted[count++] = from_start;
  }
  return Axes(std::span(counted).first(count));
}

Result<op::View> with_axes(std::string_view call, const std::string& what, const Shape& shape,
                           const std::optional<Axes>& axes, const AnyArray& out) {
  std::array<bool, kMaxRank> is_reduced{};
  const Axes reduced = TROUPE_TRY(counted_axes(call, what, shape, axes));
  for (const int axis : reduced) is_reduced[static_cast<std::size_t>(axis)] = true;
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
