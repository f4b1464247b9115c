#include "troupe/op/dnn_pooling.hpp"

#include <string>

#include "troupe/op/dnn_check.hpp"

namespace troupe::inline v0::op {
namespace {

struct Pooling {
  std::string_view call;
  NamedView x;
  NamedView y;
  const DnnPool& pool;
};

Result<void> check_extents(const Pooling& of, int space) {
  for (int i = 0; i < kMaxSpace; ++i) {
    const std::int64_t extent = of.pool.extent[static_cast<std::size_t>(i)];
    if (extent < 1 || extent > kMostDnnStep)
      return refuse(of.call,
                    "window is " + std::to_string(extent) + "; it must be from 1 to " + std::to_string(kMostDnnStep));
    if (i >= space && extent != 1)
      return refuse(of.call, "window is for " + std::to_string(i + 1) + " axes; behind the channels there are " +
                                 std::to_string(space));
  }
  return {};
}

Result<void> check_adaptive(const Pooling& of, int space) {
  if (of.pool.adaptive != 1)
    return refuse(of.call, "adaptive is " + std::to_string(of.pool.adaptive) + "; it must be 0 or 1");
  if (of.pool.window != DnnWindow{} || of.pool.extent != SpaceNumbers{1, 1, 1})
    return refuse(of.call, "an adaptive pool has windows of its own; it takes no window, stride, padding or dilation");
  const auto is_good = [](std::int64_t extent) { return extent >= 1 && extent <= kMostDnnStep; };
  for (int i = 2; i < space + 2; ++i)
    if (!is_good(of.x.view.shape[i]) || !is_good(of.y.view.shape[i]))
      return refuse(of.call, std::string(of.x.name) + " is " + of.x.view.shape.to_string() + " and " +
                                 std::string(of.y.name) + " is " + of.y.view.shape.to_string() +
                                 "; axes behind the channels must have from 1 to " + std::to_string(kMostDnnStep) +
                                 " elements");
  return {};
}

Result<void> check_pooling(const Pooling& of) {
  TROUPE_TRY(check_type_is_one_of(of.call, of.x, kDnnTypes));
  TROUPE_TRY(check_type(of.call, of.y, of.x.view.dtype));
  TROUPE_TRY(check_layers(of.call, of.x.name, of.x.view));
  TROUPE_TRY(check_like(of.call, of.y.name, of.y.view, of.x.name, of.x.view));
  const int space = space_of(of.x.view);
  if (of.pool.adaptive != 0) return check_adaptive(of, space);
  TROUPE_TRY(check_extents(of, space));
  TROUPE_TRY(check_window(of.call, of.pool.window, space));
  Shape y = of.x.view.shape;
  for (int i = 0; i < space; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t in = of.x.view.shape[i + 2];
    y[i + 2] = places_of(in, of.pool.extent[axis], of.pool.window, axis);
    if (y[i + 2] >= 1) continue;
    const std::int64_t reach = reach_of(of.pool.extent[axis], of.pool.window.dilation[axis]);
    return refuse(of.call, "the window reaches over " + std::to_string(reach) + " elements along " + axis_name(i) +
                               "; " + std::string(of.x.name) + " has " + std::to_string(in) + " there, with padding " +
                               std::to_string(static_cast<std::uint64_t>(in) +
                                              static_cast<std::uint64_t>(of.pool.window.before[axis] +
                                                                         of.pool.window.after[axis])));
  }
  return check_shape(of.call, of.y, y);
}

Result<void> check_pool_indices(std::string_view call, const View& indices, const Shape& shape) {
  TROUPE_TRY(check_type_is_one_of(call, {"indices", indices}, {DType::i64, DType::i32}));
  return check_shape(call, {"indices", indices}, shape);
}

std::string_view called(const DnnPool& pool, std::string_view plain, std::string_view adaptive) noexcept {
  return pool.adaptive != 0 ? adaptive : plain;
}

}  // namespace

Result<void> check(const DnnMaxPool& op) {
  const std::string_view call = called(op.pool, "max_pool", "adaptive_max_pool");
  TROUPE_TRY(check_pooling({call, {"x", op.x}, {"y", op.y}, op.pool}));
  return op.has_indices ? check_pool_indices(call, op.indices, op.y.shape) : Result<void>();
}

Result<void> check(const DnnMaxPoolGradient& op) {
  const std::string_view call = called(op.pool, "max_pool_gradient", "adaptive_max_pool_gradient");
  TROUPE_TRY(check_pooling({call, {"dx", op.dx}, {"dy", op.dy}, op.pool}));
  return check_pool_indices(call, op.indices, op.dy.shape);
}

Result<void> check(const DnnAveragePool& op) {
  return check_pooling({called(op.pool, "average_pool", "adaptive_average_pool"), {"x", op.x}, {"y", op.y}, op.pool});
}

Result<void> check(const DnnAveragePoolGradient& op) {
  return check_pooling({called(op.pool, "average_pool_gradient", "adaptive_average_pool_gradient"),
                        {"dx", op.dx},
                        {"dy", op.dy},
                        op.pool});
}

}  // namespace troupe::inline v0::op
