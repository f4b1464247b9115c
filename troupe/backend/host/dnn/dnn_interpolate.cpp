#include <vector>

#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/team/try_each.hpp"
#include "troupe/op/dnn_interpolate_functions.hpp"

namespace troupe::host {
namespace {

using dnn::Taps;

/// One axis of a plane as it is interpolated: `outer` rows of it, whose elements are `inner` numbers each.
template <class C>
struct AxisPass {
  std::vector<Taps<C>> taps;  // of each place
  std::int64_t in = 1;
  std::int64_t outer = 1;
  std::int64_t inner = 1;

  std::int64_t out() const noexcept { return static_cast<std::int64_t>(taps.size()); }
  void forward(const C* from, C* to) const noexcept {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t place = 0; place < out(); ++place) {
        const Taps<C>& tap = taps[static_cast<std::size_t>(place)];
        C* const row = to + (o * out() + place) * inner;
        std::fill_n(row, inner, C(0));
        for (int t = 0; t < tap.count; ++t)
          for (std::int64_t i = 0; i < inner; ++i) row[i] += tap.weight[t] * from[(o * in + tap.at[t]) * inner + i];
      }
  }
  void backward(const C* from, C* to) const noexcept {
    std::fill_n(to, outer * in * inner, C(0));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t place = 0; place < out(); ++place) {
        const Taps<C>& tap = taps[static_cast<std::size_t>(place)];
        const C* const row = from + (o * out() + place) * inner;
        for (int t = 0; t < tap.count; ++t)
          for (std::int64_t i = 0; i < inner; ++i) to[(o * in + tap.at[t]) * inner + i] += tap.weight[t] * row[i];
      }
  }
};

/// The axes of space one after another, from the last to the first; those that stay as they are left out.
template <class C>
std::vector<AxisPass<C>> passes_of(DnnInterpolation way, bool aligns_corners, const Shape& x, const Shape& y) {
  std::vector<AxisPass<C>> passes;
  std::int64_t inner = 1;
  for (int axis = x.rank() - 1; axis >= 2; inner *= y[axis], --axis) {
    if (x[axis] == y[axis]) continue;
    AxisPass<C> pass;
    pass.in = x[axis];
    pass.inner = inner;
    for (int i = 2; i < axis; ++i) pass.outer *= x[i];
    for (std::int64_t place = 0; place < y[axis]; ++place)
      pass.taps.push_back(dnn::taps_of<C>(way, aligns_corners, x[axis], y[axis], place));
    passes.push_back(std::move(pass));
  }
  return passes;
}

/// Runs the passes of one plane, over two blocks of scratch memory that each have room for all that lies in between.
template <class C>
struct PlanePasses {
  explicit PlanePasses(std::vector<AxisPass<C>> all) : passes(std::move(all)) {
    for (const AxisPass<C>& pass : passes)
      most = std::max({most, pass.outer * pass.in * pass.inner, pass.outer * pass.out() * pass.inner});
  }
  Result<void> run(const C* from, C* to, std::int64_t count, bool is_forward) const {
    if (passes.empty()) {
      std::copy_n(from, count, to);
      return {};
    }
    const auto own = TROUPE_TRY(OwnNumbers<C>::make(2 * most));
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const AxisPass<C>& pass = passes[is_forward ? i : passes.size() - 1 - i];
      C* const next = i + 1 == passes.size() ? to : own.get() + static_cast<std::int64_t>(i % 2) * most;
      is_forward ? pass.forward(from, next) : pass.backward(from, next);
      from = next;
    }
    return {};
  }
  std::vector<AxisPass<C>> passes;
  std::int64_t most = 0;
};

/// `from` is x, or dy on the way back.
template <class C>
Result<void> interpolate(const PlanePasses<C>& passes, bool is_forward, const op::View& from, const op::View& to,
                         const HostViews& here) {
  const auto in = TROUPE_TRY(Dense<C>::reading(from, here));
  const auto out = TROUPE_TRY(Dense<C>::writing(to, here));
  const std::int64_t ins = extent_from(from.shape, 2), outs = extent_from(to.shape, 2);
  TROUPE_TRY(try_each(here.team(), from.shape[0] * from.shape[1], Grain::of_ns(2 * static_cast<double>(ins + outs)),
                      [&](std::int64_t plane) {
                        return passes.run(in.data() + plane * ins, out.data() + plane * outs, outs, is_forward);
                      }));
  return out.finish(here.team());
}

template <class C>
Result<void> forward(const op::DnnInterpolate& op, const HostViews& here) {
  const PlanePasses<C> passes(passes_of<C>(op.way, op.aligns_corners, op.x.shape, op.y.shape));
  return interpolate(passes, true, op.x, op.y, here);
}
template <class C>
Result<void> backward(const op::DnnInterpolateGradient& op, const HostViews& here) {
  const PlanePasses<C> passes(passes_of<C>(op.way, op.aligns_corners, op.dx.shape, op.dy.shape));
  return interpolate(passes, false, op.dy, op.dx, here);
}

}  // namespace

Result<void> run_op(const op::DnnInterpolate& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? forward<double>(op, here) : forward<float>(op, here);
}
Result<void> run_op(const op::DnnInterpolateGradient& op, const HostViews& here) {
  return op.dx.dtype == DType::f64 ? backward<double>(op, here) : backward<float>(op, here);
}

}  // namespace troupe::host
