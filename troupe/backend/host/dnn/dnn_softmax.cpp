// Softmax and log-softmax, row by row: a row has the same bits wherever it stands.
#include "troupe/op/dnn_softmax.hpp"

#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

/// y of one row; `x` and `y` may be the same, `e` is a buffer.
template <class C>
void softmax_row(bool logarithm, const C* x, C* e, C* y, std::int64_t count) noexcept {
  const auto greatest = static_cast<C>(fold_numbers(Reduction::max, x, count));
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] - greatest;
  apply_row(Unary::exp, y, e, count);
  const double sum = fold_numbers(Reduction::sum, e, count);
  if (logarithm) {
    const auto off = static_cast<C>(std::log(sum));
    for (std::int64_t i = 0; i < count; ++i) y[i] -= off;
  } else {
    const auto all = static_cast<C>(sum);
    for (std::int64_t i = 0; i < count; ++i) y[i] = e[i] / all;
  }
}

template <class C>
void softmax_slopes(bool logarithm, const C* y, const C* dy, C* e, C* dx, std::int64_t count) noexcept {
  if (logarithm) {
    const auto sum = static_cast<C>(fold_numbers(Reduction::sum, dy, count));
    apply_row(Unary::exp, y, e, count);
    for (std::int64_t i = 0; i < count; ++i) dx[i] = dy[i] - e[i] * sum;
  } else {
    for (std::int64_t i = 0; i < count; ++i) e[i] = y[i] * dy[i];
    const auto sum = static_cast<C>(fold_numbers(Reduction::sum, e, count));
    for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] * (dy[i] - sum);
  }
}

constexpr double kNsOfSoftmax = 1.5;  // of an element

Grain grain_of_rows(std::int64_t length) noexcept {
  return Grain::of_ns(kNsOfSoftmax * static_cast<double>(std::max<std::int64_t>(length, 1)));
}

}  // namespace

Result<void> run_op(const op::DnnSoftmax& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  if (y.data == nullptr) return {};
  const RowsOf<2> rows({&x, &y}, x.shape.rank());
  const std::int64_t length = length_of(x);
  return with_numbers(x.dtype, [&]<class C>(std::type_identity<C>) {
    return each_part(here.team(), rows.number(), grain_of_rows(length),
                     [&](std::int64_t begin, std::int64_t end) -> Result<void> {
                       const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(3, length));
                       rows.run(begin, end, [&](std::int64_t, const Pointers<2>& at) {
                         const C* const in = numbers_of(x.dtype, at[0], step_of(x), buffers[0], length);
                         softmax_row(op.logarithm, in, buffers[1], buffers[2], length);
                         write_numbers(y.dtype, buffers[2], at[1], step_of(y), length);
                       });
                       return {};
                     });
  });
}

Result<void> run_op(const op::DnnSoftmaxGradient& op, const HostViews& here) {
  const HostView y = here(op.y);
  const HostView dy = here(op.dy);
  const HostView dx = here(op.dx);
  if (dx.data == nullptr) return {};
  const RowsOf<3> rows({&y, &dy, &dx}, y.shape.rank());
  const std::int64_t length = length_of(y);
  return with_numbers(y.dtype, [&]<class C>(std::type_identity<C>) {
    return each_part(here.team(), rows.number(), grain_of_rows(length),
                     [&](std::int64_t begin, std::int64_t end) -> Result<void> {
                       const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(4, length));
                       rows.run(begin, end, [&](std::int64_t, const Pointers<3>& at) {
                         const C* const given = numbers_of(y.dtype, at[0], step_of(y), buffers[0], length);
                         const C* const slopes = numbers_of(dy.dtype, at[1], step_of(dy), buffers[1], length);
                         softmax_slopes(op.logarithm, given, slopes, buffers[2], buffers[3], length);
                         write_numbers(dx.dtype, buffers[3], at[2], step_of(dx), length);
                       });
                       return {};
                     });
  });
}

}  // namespace troupe::host
