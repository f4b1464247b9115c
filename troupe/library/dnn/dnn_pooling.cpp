#include "troupe/op/dnn_pooling.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_steps.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {
namespace {

Result<op::DnnPool> pool_of(std::string_view call, const detail::AlongSpace& window, const PoolOptions& options,
                            const AnyArray& x) {
  const int space = detail::space_of(x);
  op::DnnPool pool;
  pool.extent = TROUPE_TRY(detail::along(call, "window", window, space, 1));
  pool.window = TROUPE_TRY(detail::window_of(
      call, {options.stride.value_or(window), options.padding, options.padding_after, options.dilation}, space));
  return pool;
}
op::DnnPool adaptive_pool() {
  op::DnnPool pool;
  pool.adaptive = 1;
  return pool;
}

/// The op, or what is wrong with its pool.
Call<void> max_pool_by(const Device& device, const Result<op::DnnPool>& pool, const AnyArray& x, const AnyArray& y,
                       const AnyArray* indices) {
  if (!pool) return fail(pool.error());
  op::DnnMaxPool op{.pool = *pool, .has_indices = indices != nullptr, .x = x.view(), .y = y.view(), .indices = {}};
  if (!indices) return make_call(device, op, {&x, &y});
  op.indices = indices->view();
  return make_call(device, op, {&x, &y, indices});
}
Call<void> max_pool_back(const Device& device, const Result<op::DnnPool>& pool, const AnyArray& dy,
                         const AnyArray& indices, const AnyArray& dx) {
  if (!pool) return fail(pool.error());
  return make_call(device,
                   op::DnnMaxPoolGradient{.pool = *pool, .dy = dy.view(), .indices = indices.view(), .dx = dx.view()},
                   {&dy, &indices, &dx});
}
Call<void> average_pool_by(const Device& device, const Result<op::DnnPool>& pool, bool counts_padding,
                           const AnyArray& x, const AnyArray& y) {
  if (!pool) return fail(pool.error());
  return make_call(device,
                   op::DnnAveragePool{.pool = *pool, .counts_padding = counts_padding, .x = x.view(), .y = y.view()},
                   {&x, &y});
}
Call<void> average_pool_back(const Device& device, const Result<op::DnnPool>& pool, bool counts_padding,
                             const AnyArray& dy, const AnyArray& dx) {
  if (!pool) return fail(pool.error());
  return make_call(
      device,
      op::DnnAveragePoolGradient{.pool = *pool, .counts_padding = counts_padding, .dy = dy.view(), .dx = dx.view()},
      {&dy, &dx});
}

}  // namespace

Call<void> Dnn::max_pool(const AnyArray& x, detail::AlongSpace window, const AnyArray& y, PoolOptions options) const {
  return max_pool_by(device_, pool_of("max_pool", window, options, x), x, y, options.indices);
}
Call<void> Dnn::max_pool_gradient(const AnyArray& dy, const AnyArray& indices, detail::AlongSpace window,
                                  const AnyArray& dx, PoolOptions options) const {
  return max_pool_back(device_, pool_of("max_pool_gradient", window, options, dx), dy, indices, dx);
}
Call<void> Dnn::average_pool(const AnyArray& x, detail::AlongSpace window, const AnyArray& y,
                             PoolOptions options) const {
  return average_pool_by(device_, pool_of("average_pool", window, options, x), options.counts_padding, x, y);
}
Call<void> Dnn::average_pool_gradient(const AnyArray& dy, detail::AlongSpace window, const AnyArray& dx,
                                      PoolOptions options) const {
  return average_pool_back(device_, pool_of("average_pool_gradient", window, options, dx), options.counts_padding, dy,
                           dx);
}
Call<void> Dnn::adaptive_max_pool(const AnyArray& x, const AnyArray& y, PoolOptions options) const {
  return max_pool_by(device_, adaptive_pool(), x, y, options.indices);
}
Call<void> Dnn::adaptive_max_pool_gradient(const AnyArray& dy, const AnyArray& indices, const AnyArray& dx) const {
  return max_pool_back(device_, adaptive_pool(), dy, indices, dx);
}
Call<void> Dnn::adaptive_average_pool(const AnyArray& x, const AnyArray& y) const {
  return average_pool_by(device_, adaptive_pool(), true, x, y);
}
Call<void> Dnn::adaptive_average_pool_gradient(const AnyArray& dy, const AnyArray& dx) const {
  return average_pool_back(device_, adaptive_pool(), true, dy, dx);
}

}  // namespace troupe::inline v0
