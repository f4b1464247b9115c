#include <optional>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/blas/product_tiles.hpp"
#include "troupe/backend/host/dnn/dnn_columns.hpp"
#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/dnn/dnn_rows.hpp"
#include "troupe/backend/host/team/try_each.hpp"

namespace troupe::host {
namespace {

/// Columns that are made at a time, so that they stay in a cache.
constexpr std::int64_t kColumnBytes = std::int64_t{2} << 20;

template <class C>
HostView matrix_view(const C* data, std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                     std::int64_t column_step) noexcept {
  return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(data)), dtype_of<C>, Shape{rows, columns},
          Strides{row_step, column_step}};
}

/// c = a b, or added to it. By this thread alone: sums are then in the same order whatever the team and the batch.
template <class C>
Result<void> multiply_alone(const HostView& a, const HostView& b, const HostView& c, bool adds = false) {
  return gemm(op::Scalar(C(1)), op::Scalar(C(adds)), a, b, c, Team::of_one());
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

/// How many outputs are made at a time, of columns that are `depth` high. By the shape of one sample alone.
template <class C>
std::int64_t outputs_at_once(std::int64_t depth, std::int64_t outputs) noexcept {
  const std::int64_t fit = kColumnBytes / (std::max<std::int64_t>(depth, 1) * static_cast<std::int64_t>(sizeof(C)));
  return std::min(outputs, std::max<std::int64_t>(fit / 16 * 16, 64));
}

/// What is done with the sums of a channel: the bias, the addend and the activation.
template <class C>
struct Epilogue {
  std::optional<Dense<C>> bias;
  std::optional<Dense<C>> addend;
  DnnActivation activation = DnnActivation::none;
  C alpha{};

  /// `row` is elements from `at` on of the result, of that channel.
  void finish(C* row, std::int64_t channel, std::int64_t at, std::int64_t count) const noexcept {
    if (bias) {
      const C by = bias->data()[channel];
      for (std::int64_t i = 0; i < count; ++i) row[i] += by;
    }
    if (addend) {
      const C* const by = addend->data() + at;
      for (std::int64_t i = 0; i < count; ++i) row[i] += by[i];
    }
    activate_row(activation, alpha, row, count);
  }
};

// ---- forward ----

/// Some outputs of one group of one sample.
template <class C>
class Forward {
 public:
  Forward(const ConvolutionShape& of, const C* x, const C* w, C* y, const Epilogue<C>& epilogue) noexcept
      : of_(of), x_(x), w_(w), y_(y), epilogue_(epilogue), at_once_(outputs_at_once<C>(of.depth(), of.outs())) {}

  std::int64_t parts() const noexcept { return divide_up(of_.outs(), at_once_); }
  double ns_per_part() const noexcept {
    return ProductTiles::ns(of_.filters, at_once_, of_.depth()) + static_cast<double>(at_once_ * of_.depth());
  }

  Result<void> run(std::int64_t sample, std::int64_t group, std::int64_t part) const {
    const std::int64_t begin = part * at_once_;
    const std::int64_t count = std::min(at_once_, of_.outs() - begin);
    const C* const x = x_ + (sample * of_.groups + group) * of_.channels * of_.ins();
    const C* const w = w_ + group * of_.filters * of_.depth();
    const std::int64_t first = (sample * of_.groups + group) * of_.filters * of_.outs() + begin;
    if (of_.filters <= kFewFilters)
      TROUPE_TRY(add_taps(x, w, y_ + first, begin, count));
    else
      TROUPE_TRY(multiply(x, w, y_ + first, begin, count));
    for (std::int64_t f = 0; f < of_.filters; ++f)
      epilogue_.finish(y_ + first + f * of_.outs(), group * of_.filters + f, first + f * of_.outs(), count);
    return {};
  }

 private:
  /// With so few filters, as depth-wise ones, a product would be less than its columns cost.
  static constexpr std::int64_t kFewFilters = 2;

  Result<void> multiply(const C* x, const C* w, C* y, std::int64_t begin, std::int64_t count) const {
    const HostView filters = matrix_view(w, of_.filters, of_.depth(), of_.depth(), 1);
    const HostView out = matrix_view(y, of_.filters, count, of_.outs(), 1);
    if (of_.is_pointwise())
      return multiply_alone<C>(filters, matrix_view(x + begin, of_.channels, count, of_.ins(), 1), out);
    const auto columns = TROUPE_TRY(OwnNumbers<C>::make(of_.depth() * count));
    for (std::int64_t c = 0; c < of_.channels; ++c)
      for (std::int64_t tap = 0; tap < of_.taps(); ++tap)
        gather_tap(of_, x + c * of_.ins(), tap, begin, begin + count, columns.get() + (c * of_.taps() + tap) * count);
    return multiply_alone<C>(filters, matrix_view(columns.get(), of_.depth(), count, count, 1), out);
  }

  Result<void> add_taps(const C* x, const C* w, C* y, std::int64_t begin, std::int64_t count) const {
    const auto own = TROUPE_TRY(OwnNumbers<C>::make(count));
    C* const seen = own.get();
    for (std::int64_t f = 0; f < of_.filters; ++f) std::fill_n(y + f * of_.outs(), count, C(0));
    for (std::int64_t c = 0; c < of_.channels; ++c)
      for (std::int64_t tap = 0; tap < of_.taps(); ++tap) {
        gather_tap(of_, x + c * of_.ins(), tap, begin, begin + count, seen);
        for (std::int64_t f = 0; f < of_.filters; ++f) {
          const C by = w[f * of_.depth() + c * of_.taps() + tap];
          C* const sums = y + f * of_.outs();
          for (std::int64_t i = 0; i < count; ++i) sums[i] += by * seen[i];
        }
      }
    return {};
  }

  const ConvolutionShape& of_;
  const C* x_;
  const C* w_;
  C* y_;
  const Epilogue<C>& epilogue_;
  std::int64_t at_once_;
};

template <class C>
Result<void> convolve(const op::DnnConvolve& op, const HostViews& here) {
  const ConvolutionShape of(op.x, op.w, op.y, op.window, op.groups);
  if (op::element_count(op.y) == 0) return {};
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto w = TROUPE_TRY(Dense<C>::reading(op.w, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  Epilogue<C> epilogue{.bias = {}, .addend = {}, .activation = op.activation, .alpha = static_cast<C>(op.alpha)};
  if (op.has_bias) epilogue.bias = TROUPE_TRY(Dense<C>::reading(op.bias, here));
  if (op.has_addend) epilogue.addend = TROUPE_TRY(Dense<C>::reading(op.addend, here));
  const Forward<C> forward(of, x.data(), w.data(), y.data(), epilogue);
  const std::int64_t parts = forward.parts();
  TROUPE_TRY(try_each(here.team(), of.batch * of.groups * parts, Grain::of_ns(forward.ns_per_part()),
                      [&](std::int64_t i) -> Result<void> {
                        const std::int64_t group = i / parts;
                        return forward.run(group / of.groups, group % of.groups, i % parts);
                      }));
  return y.finish(here.team());
}

// ---- the gradient of the input ----

template <class C>
Result<void> convolve_input(const op::DnnConvolveInput& op, const HostViews& here) {
  const ConvolutionShape of(op.x, op.w, op.y, op.window, op.groups);
  if (op::element_count(op.x) == 0) return {};
  const auto y = TROUPE_TRY(Dense<C>::reading(op.y, here));
  const auto w = TROUPE_TRY(Dense<C>::reading(op.w, here));
  const auto x = TROUPE_TRY(Dense<C>::writing(op.x, here));
  Epilogue<C> epilogue{.bias = {}, .addend = {}, .activation = op.activation, .alpha = static_cast<C>(op.alpha)};
  if (op.has_bias) epilogue.bias = TROUPE_TRY(Dense<C>::reading(op.bias, here));
  // A part is some channels of a group: what comes back of all outputs is theirs alone.
  const std::int64_t fit = 2 * kColumnBytes / (of.taps() * of.outs() * static_cast<std::int64_t>(sizeof(C)));
  const std::int64_t at_once = std::clamp<std::int64_t>(fit, 1, of.channels);
  const std::int64_t parts = divide_up(of.channels, at_once);
  const double ns = ProductTiles::ns(at_once * of.taps(), of.outs(), of.filters) +
                    static_cast<double>(at_once * of.taps() * of.outs());
  const auto run_part = [&](std::int64_t group, std::int64_t part) -> Result<void> {
    const std::int64_t first = part * at_once;
    const std::int64_t count = std::min(at_once, of.channels - first);
    const auto columns = TROUPE_TRY(OwnNumbers<C>::make(count * of.taps() * of.outs()));
    const std::int64_t in_sample = group % of.groups;
    const C* const filters = w.data() + in_sample * of.filters * of.depth() + first * of.taps();
    TROUPE_TRY(
        multiply_alone<C>(matrix_view(filters, count * of.taps(), of.filters, 1, of.depth()),
                          matrix_view(y.data() + group * of.filters * of.outs(), of.filters, of.outs(), of.outs(), 1),
                          matrix_view(columns.get(), count * of.taps(), of.outs(), of.outs(), 1)));
    for (std::int64_t c = 0; c < count; ++c) {
      const std::int64_t at = (group * of.channels + first + c) * of.ins();
      C* const channel = x.data() + at;
      std::fill_n(channel, of.ins(), C(0));
      for (std::int64_t tap = 0; tap < of.taps(); ++tap)
        scatter_tap(of, columns.get() + (c * of.taps() + tap) * of.outs(), tap, channel);
      epilogue.finish(channel, in_sample * of.channels + first + c, at, of.ins());
    }
    return {};
  };
  TROUPE_TRY(try_each(here.team(), of.batch * of.groups * parts, Grain::of_ns(ns),
                      [&](std::int64_t i) { return run_part(i / parts, i % parts); }));
  return x.finish(here.team());
}

// ---- the gradient of the filters ----

/// Some channels of some filters of a group, summed over all samples in their order.
template <class C>
class FilterBlock {
 public:
  static constexpr std::int64_t kFilters = 64;
  static constexpr std::int64_t kDepth = 288;

  FilterBlock(const ConvolutionShape& of, const C* x, const C* y, C* w) noexcept
      : of_(of),
        x_(x),
        y_(y),
        w_(w),
        channels_(std::clamp<std::int64_t>(kDepth / of.taps(), 1, of.channels)),
        at_once_(outputs_at_once<C>(channels_ * of.taps(), of.outs())) {}

  std::int64_t across() const noexcept { return divide_up(of_.channels, channels_); }
  std::int64_t down() const noexcept { return divide_up(of_.filters, kFilters); }
  double ns() const noexcept {
    const std::int64_t depth = channels_ * of_.taps();
    return static_cast<double>(of_.batch) * (ProductTiles::ns(std::min(kFilters, of_.filters), depth, of_.outs()) +
                                             static_cast<double>(depth * of_.outs()));
  }

  Result<void> run(std::int64_t group, std::int64_t block_down, std::int64_t block_across) const {
    const std::int64_t filter = block_down * kFilters, channel = block_across * channels_;
    const std::int64_t filters = std::min(kFilters, of_.filters - filter);
    const std::int64_t channels = std::min(channels_, of_.channels - channel);
    const std::int64_t depth = channels * of_.taps();
    const auto columns = TROUPE_TRY(OwnNumbers<C>::make(depth * at_once_));
    const HostView sums = matrix_view(w_ + (group * of_.filters + filter) * of_.depth() + channel * of_.taps(), filters,
                                      depth, of_.depth(), 1);
    bool adds = false;
    for (std::int64_t n = 0; n < of_.batch; ++n) {
      const C* const x = x_ + ((n * of_.groups + group) * of_.channels + channel) * of_.ins();
      const C* const y = y_ + ((n * of_.groups + group) * of_.filters + filter) * of_.outs();
      for (std::int64_t begin = 0; begin < of_.outs(); begin += at_once_, adds = true) {
        const std::int64_t count = std::min(at_once_, of_.outs() - begin);
        for (std::int64_t i = 0; i < depth; ++i)
          gather_tap(of_, x + i / of_.taps() * of_.ins(), i % of_.taps(), begin, begin + count,
                     columns.get() + i * count);
        TROUPE_TRY(multiply_alone<C>(matrix_view(y + begin, filters, count, of_.outs(), 1),
                                     matrix_view(columns.get(), count, depth, 1, count), sums, adds));
      }
    }
    return {};
  }

 private:
  const ConvolutionShape& of_;
  const C* x_;
  const C* y_;
  C* w_;
  std::int64_t channels_;
  std::int64_t at_once_;
};

template <class C>
Result<void> convolve_filter(const op::DnnConvolveFilter& op, const HostViews& here) {
  const ConvolutionShape of(op.x, op.w, op.y, op.window, op.groups);
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::reading(op.y, here));
  const auto w = TROUPE_TRY(Dense<C>::writing(op.w, here));
  if (of.batch == 0) std::fill_n(w.data(), op::element_count(op.w), C(0));
  const FilterBlock<C> block(of, x.data(), y.data(), w.data());
  const std::int64_t blocks = of.batch == 0 ? 0 : block.down() * block.across();
  TROUPE_TRY(try_each(here.team(), of.groups * blocks, Grain::of_ns(block.ns()), [&](std::int64_t i) {
    return block.run(i / blocks, i % blocks / block.across(), i % block.across());
  }));
  return w.finish(here.team());
}

}  // namespace

Result<void> run_op(const op::DnnConvolve& op, const HostViews& here) {
  return op.y.dtype == DType::f64 ? convolve<double>(op, here) : convolve<float>(op, here);
}
Result<void> run_op(const op::DnnConvolveInput& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? convolve_input<double>(op, here) : convolve_input<float>(op, here);
}
Result<void> run_op(const op::DnnConvolveFilter& op, const HostViews& here) {
  return op.w.dtype == DType::f64 ? convolve_filter<double>(op, here) : convolve_filter<float>(op, here);
}

}  // namespace troupe::host
