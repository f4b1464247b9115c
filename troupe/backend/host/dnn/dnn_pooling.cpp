#include <limits>
#include <optional>

#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/op/dnn_pool_functions.hpp"

namespace troupe::host {
namespace {

using dnn::PoolAxis;
using dnn::Seen;

/// A pool over three axes of space, those that are missing in front, with an extent of 1.
struct PoolPlane {
  PoolPlane(const op::DnnPool& pool, const Shape& x, const Shape& y) noexcept {
    const int space = x.rank() - 2;
    const op::DnnWindow window = in_three(pool.window, space);
    const op::SpaceNumbers extent = op::in_three(pool.extent, space, 1);
    for (int i = 0; i < op::kMaxSpace; ++i) {
      const int axis = i - (op::kMaxSpace - space) + 2;
      const auto n = static_cast<std::size_t>(i);
      axes[n] = {.in = axis < 2 ? 1 : x[axis],
                 .out = axis < 2 ? 1 : y[axis],
                 .extent = extent[n],
                 .stride = window.stride[n],
                 .before = window.before[n],
                 .dilation = window.dilation[n],
                 .adaptive = pool.adaptive != 0};
    }
    ins = axes[0].in * axes[1].in * axes[2].in;
    outs = axes[0].out * axes[1].out * axes[2].out;
    planes = x[0] * x[1];
  }

  /// Calls `f(place, seen)` for all windows of a plane; seen are three ranges.
  template <class F>
  void each_window(const F& f) const noexcept {
    std::int64_t place = 0;
    for (std::int64_t d = 0; d < axes[0].out; ++d)
      for (std::int64_t h = 0; h < axes[1].out; ++h)
        for (std::int64_t w = 0; w < axes[2].out; ++w)
          f(place++, std::array<Seen, 3>{seen_by(axes[0], d), seen_by(axes[1], h), seen_by(axes[2], w)});
  }
  /// Calls `f(element)` for all that a window sees, in row-major order.
  template <class F>
  void each_seen(const std::array<Seen, 3>& seen, const F& f) const noexcept {
    for (std::int64_t d = seen[0].begin; d < seen[0].end; d += seen[0].step)
      for (std::int64_t h = seen[1].begin; h < seen[1].end; h += seen[1].step)
        for (std::int64_t w = seen[2].begin; w < seen[2].end; w += seen[2].step)
          f((d * axes[1].in + h) * axes[2].in + w);
  }
  bool is_seen(const std::array<Seen, 3>& seen, std::int64_t element) const noexcept {
    return element >= 0 && element < ins && sees(seen[2], element % axes[2].in) &&
           sees(seen[1], element / axes[2].in % axes[1].in) && sees(seen[0], element / axes[2].in / axes[1].in);
  }
  /// By how many elements the sum of a window is divided; 0 when it sees nothing.
  std::int64_t divisor(const std::array<Seen, 3>& seen, bool counts_padding) const noexcept {
    const std::int64_t count = count_of(seen[0]) * count_of(seen[1]) * count_of(seen[2]);
    if (count == 0 || !counts_padding || axes[0].adaptive) return count;
    return axes[0].extent * axes[1].extent * axes[2].extent;
  }
  Grain grain() const noexcept {
    constexpr double kNsPerElement = 1.5;
    return Grain::of_ns(kNsPerElement * static_cast<double>(ins + outs));
  }

  std::array<PoolAxis, 3> axes{};
  std::int64_t ins = 0;   // elements of a channel of x
  std::int64_t outs = 0;  // and of y
  std::int64_t planes = 0;
};

/// Calls `f(plane)` for each channel of each sample, by the team.
template <class F>
void for_each_plane(const PoolPlane& plane, Team& team, const F& f) {
  team.run(plane.planes, plane.grain(), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) f(begin);
  });
}

template <class C>
Result<void> max_pool(const op::DnnMaxPool& op, const HostViews& here) {
  const PoolPlane plane(op.pool, op.x.shape, op.y.shape);
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  // Places are below 2^53 in any memory, so an f64 has them all.
  std::optional<Dense<double>> indices;
  if (op.has_indices) indices = TROUPE_TRY(Dense<double>::writing(op.indices, here));
  for_each_plane(plane, here.team(), [&](std::int64_t i) noexcept {
    const C* const in = x.data() + i * plane.ins;
    plane.each_window([&](std::int64_t place, const std::array<Seen, 3>& seen) noexcept {
      C best = -std::numeric_limits<C>::infinity();
      std::int64_t where = -1;
      plane.each_seen(seen, [&](std::int64_t element) noexcept {
        const bool is_first = where < 0;
        const bool is_greater = in[element] > best || (in[element] != in[element] && best == best);
        if (!is_first && !is_greater) return;
        best = in[element];
        where = element;
      });
      y.data()[i * plane.outs + place] = best;
      if (indices) indices->data()[i * plane.outs + place] = static_cast<double>(where);
    });
  });
  if (indices) TROUPE_TRY(indices->finish(here.team()));
  return y.finish(here.team());
}

template <class C>
Result<void> max_pool_gradient(const op::DnnMaxPoolGradient& op, const HostViews& here) {
  const PoolPlane plane(op.pool, op.dx.shape, op.dy.shape);
  const auto dy = TROUPE_TRY(Dense<C>::reading(op.dy, here));
  const auto indices = TROUPE_TRY(Dense<double>::reading(op.indices, here));
  const auto dx = TROUPE_TRY(Dense<C>::writing(op.dx, here));
  for_each_plane(plane, here.team(), [&](std::int64_t i) noexcept {
    C* const out = dx.data() + i * plane.ins;
    std::fill_n(out, plane.ins, C(0));
    plane.each_window([&](std::int64_t place, const std::array<Seen, 3>& seen) noexcept {
      const double index = indices.data()[i * plane.outs + place];
      if (!(index >= 0 && index < static_cast<double>(plane.ins))) return;
      const auto element = static_cast<std::int64_t>(index);
      if (plane.is_seen(seen, element)) out[element] += dy.data()[i * plane.outs + place];
    });
  });
  return dx.finish(here.team());
}

template <class C>
Result<void> average_pool(const op::DnnAveragePool& op, const HostViews& here) {
  const PoolPlane plane(op.pool, op.x.shape, op.y.shape);
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  for_each_plane(plane, here.team(), [&](std::int64_t i) noexcept {
    const C* const in = x.data() + i * plane.ins;
    plane.each_window([&](std::int64_t place, const std::array<Seen, 3>& seen) noexcept {
      C sum = 0;
      plane.each_seen(seen, [&](std::int64_t element) noexcept { sum += in[element]; });
      const std::int64_t divisor = plane.divisor(seen, op.counts_padding);
      y.data()[i * plane.outs + place] = divisor == 0 ? C(0) : sum / static_cast<C>(divisor);
    });
  });
  return y.finish(here.team());
}

template <class C>
Result<void> average_pool_gradient(const op::DnnAveragePoolGradient& op, const HostViews& here) {
  const PoolPlane plane(op.pool, op.dx.shape, op.dy.shape);
  const auto dy = TROUPE_TRY(Dense<C>::reading(op.dy, here));
  const auto dx = TROUPE_TRY(Dense<C>::writing(op.dx, here));
  for_each_plane(plane, here.team(), [&](std::int64_t i) noexcept {
    C* const out = dx.data() + i * plane.ins;
    std::fill_n(out, plane.ins, C(0));
    plane.each_window([&](std::int64_t place, const std::array<Seen, 3>& seen) noexcept {
      const std::int64_t divisor = plane.divisor(seen, op.counts_padding);
      if (divisor == 0) return;
      const C share = dy.data()[i * plane.outs + place] / static_cast<C>(divisor);
      plane.each_seen(seen, [&](std::int64_t element) noexcept { out[element] += share; });
    });
  });
  return dx.finish(here.team());
}

}  // namespace

Result<void> run_op(const op::DnnMaxPool& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? max_pool<double>(op, here) : max_pool<float>(op, here);
}
Result<void> run_op(const op::DnnMaxPoolGradient& op, const HostViews& here) {
  return op.dx.dtype == DType::f64 ? max_pool_gradient<double>(op, here) : max_pool_gradient<float>(op, here);
}
Result<void> run_op(const op::DnnAveragePool& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? average_pool<double>(op, here) : average_pool<float>(op, here);
}
Result<void> run_op(const op::DnnAveragePoolGradient& op, const HostViews& here) {
  return op.dx.dtype == DType::f64 ? average_pool_gradient<double>(op, here) : average_pool_gradient<float>(op, here);
}

}  // namespace troupe::host
