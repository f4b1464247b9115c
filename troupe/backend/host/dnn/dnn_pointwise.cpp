#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/dnn/dnn_rows.hpp"
#include "troupe/backend/host/kernels/walk.hpp"

namespace troupe::host {
namespace {

template <class C>
void activate(const op::DnnActivate& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  const LoadRow<C> load_x = load_row_for<C>(op.x.dtype);
  const StoreRow<C> store_y = store_row_for<C>(op.y.dtype);
  const auto alpha = static_cast<C>(op.alpha);
  Walk<2>({&x, &y}).run(here.team(), Grain::of_ns(ns_of(op.function)),
                        [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
                          Block<C> in, out;
                          for (std::int64_t done = 0; done < count; done += kRowBlock) {
                            const std::int64_t length = std::min(kRowBlock, count - done);
                            load_x(at[0] + done * step[0], step[0], length, in.data());
                            activate_row(op.function, alpha, in.data(), out.data(), length);
                            store_y(out.data(), length, at[1] + done * step[1], step[1]);
                          }
                        });
}

template <class C>
void activate_gradient(const op::DnnActivateGradient& op, const HostViews& here) {
  const HostView dy = here(op.dy);
  const HostView x = here(op.x);
  const HostView dx = here(op.dx);
  const LoadRow<C> load_row = load_row_for<C>(op.x.dtype);
  const StoreRow<C> store_dx = store_row_for<C>(op.dx.dtype);
  const auto alpha = static_cast<C>(op.alpha);
  Walk<3>({&dy, &x, &dx})
      .run(here.team(), Grain::of_ns(ns_of(op.function)),
           [&](const Pointers<3>& at, const Steps<3>& step, std::int64_t count) noexcept {
             Block<C> back, in, out;
             for (std::int64_t done = 0; done < count; done += kRowBlock) {
               const std::int64_t length = std::min(kRowBlock, count - done);
               load_row(at[0] + done * step[0], step[0], length, back.data());
               load_row(at[1] + done * step[1], step[1], length, in.data());
               with_activation(op.function, [&](auto constant) {
                 constexpr DnnActivation kFunction = decltype(constant)::value;
                 for (std::int64_t i = 0; i < length; ++i) {
                   const auto n = static_cast<std::size_t>(i);
                   out[n] = back[n] * dnn::slope(kFunction, in[n], alpha);
                 }
               });
               store_dx(out.data(), length, at[2] + done * step[2], step[2]);
             }
           });
}

}  // namespace

Result<void> run_op(const op::DnnActivate& op, const HostViews& here) {
  op.y.dtype == DType::f64 ? activate<double>(op, here) : activate<float>(op, here);
  return {};
}

Result<void> run_op(const op::DnnActivateGradient& op, const HostViews& here) {
  op.dx.dtype == DType::f64 ? activate_gradient<double>(op, here) : activate_gradient<float>(op, here);
  return {};
}

}  // namespace troupe::host
