#include <cmath>

#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_norm_rows.hpp"
#include "troupe/backend/host/dnn/dnn_ops.hpp"

namespace troupe::host {
namespace {

/// One channel of a batch: rows of `space` numbers, one for each sample.
struct BatchChannels {
  explicit BatchChannels(const Shape& x) noexcept
      : samples(x[0]), channels(x[1]), space(extent_from(x, 2)), count(x[0] * extent_from(x, 2)) {}
  std::int64_t row(std::int64_t sample, std::int64_t channel) const noexcept {
    return (sample * channels + channel) * space;
  }
  /// The sum of `term(i)` of all elements of the channel: of each sample, and these in their order.
  template <class Term>
  double sum(std::int64_t channel, const Term& term) const noexcept {
    if (space < 16)  // samples are short: across them
      return sum_of(count, [&](std::int64_t i) { return term(row(i / space, channel) + i % space); });
    double all = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      const std::int64_t first = row(n, channel);
      all += sum_of(space, [&](std::int64_t i) { return term(first + i); });
    }
    return all;
  }
  template <class F>
  void each(Team& team, double ns_per_number, const F& f) const noexcept {
    team.run(channels, Grain::of_ns(ns_per_number * static_cast<double>(count) + 20),
             [&](std::int64_t begin, std::int64_t end) noexcept {
               for (; begin < end; ++begin) f(begin);
             });
  }
  /// Calls `f(i)` for all elements of the channel.
  template <class F>
  void each_element(std::int64_t channel, const F& f) const noexcept {
    for (std::int64_t n = 0; n < samples; ++n) {
      const std::int64_t first = row(n, channel);
      for (std::int64_t i = first; i < first + space; ++i) f(i);
    }
  }
  std::int64_t samples;
  std::int64_t channels;
  std::int64_t space;
  std::int64_t count;  // of a channel
};

/// ChannelNumbers of channels, and what stands for those that are not there.
template <class C>
class ChannelNumbers {
 public:
  static Result<ChannelNumbers> reading(bool is_there, const op::View& view, C otherwise, const HostViews& here) {
    ChannelNumbers made(otherwise);
    if (is_there) made.array_ = TROUPE_TRY(Dense<C>::reading(view, here));
    return made;
  }
  C operator[](std::int64_t channel) const noexcept { return array_ ? array_->data()[channel] : otherwise_; }

 private:
  explicit ChannelNumbers(C otherwise) noexcept : otherwise_(otherwise) {}
  std::optional<Dense<C>> array_;
  C otherwise_;
};

/// The mean and the sum of squares around it.
struct ChannelSpread {
  double mean = 0;
  double squares = 0;
};
template <class C>
ChannelSpread spread_of(const BatchChannels& channels, std::int64_t channel, const C* x) noexcept {
  ChannelSpread spread;
  spread.mean = channels.sum(channel, [&](std::int64_t i) { return x[i]; }) / static_cast<double>(channels.count);
  spread.squares = channels.sum(channel, [&](std::int64_t i) {
    const double off = static_cast<double>(x[i]) - spread.mean;
    return off * off;
  });
  return spread;
}
template <class C>
Moments<C> moments_by(const ChannelSpread& spread, std::int64_t count, double epsilon) noexcept {
  return {static_cast<C>(spread.mean),
          static_cast<C>(1 / std::sqrt(spread.squares / static_cast<double>(count) + epsilon))};
}

template <class C>
Result<void> batch_norm(const op::DnnBatchNorm& op, const HostViews& here) {
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  const auto mean = TROUPE_TRY(Dense<C>::reading(op.mean, here));
  const auto variance = TROUPE_TRY(Dense<C>::reading(op.variance, here));
  const auto scale = TROUPE_TRY(ChannelNumbers<C>::reading(op.has_scale, op.scale, C(1), here));
  const auto shift = TROUPE_TRY(ChannelNumbers<C>::reading(op.has_shift, op.shift, C(0), here));
  const BatchChannels channels(op.x.shape);
  channels.each(here.team(), 0.5, [&](std::int64_t c) noexcept {
    const double spread = static_cast<double>(variance.data()[c]) + op.epsilon;
    const Moments<C> moments{mean.data()[c], static_cast<C>(1 / std::sqrt(spread))};
    for (std::int64_t n = 0; n < channels.samples; ++n) {
      const std::int64_t at = channels.row(n, c);
      normalize_channel(moments, x.data() + at, scale[c], shift[c], y.data() + at, channels.space);
    }
  });
  return y.finish(here.team());
}

template <class C>
Result<void> batch_norm_training(const op::DnnBatchNormTraining& op, const HostViews& here) {
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  const auto scale = TROUPE_TRY(ChannelNumbers<C>::reading(op.has_scale, op.scale, C(1), here));
  const auto shift = TROUPE_TRY(ChannelNumbers<C>::reading(op.has_shift, op.shift, C(0), here));
  std::optional<Dense<C>> running_mean, running_variance;
  const BatchChannels channels(op.x.shape);
  const bool is_running = op.has_running && channels.count > 0;
  if (is_running) {
    running_mean = TROUPE_TRY(Dense<C>::reading(op.running_mean, here));
    running_variance = TROUPE_TRY(Dense<C>::reading(op.running_variance, here));
  }
  if (channels.count == 0) return {};
  channels.each(here.team(), 3, [&](std::int64_t c) noexcept {
    const ChannelSpread spread = spread_of(channels, c, x.data());
    const auto moments = moments_by<C>(spread, channels.count, op.epsilon);
    for (std::int64_t n = 0; n < channels.samples; ++n) {
      const std::int64_t at = channels.row(n, c);
      normalize_channel(moments, x.data() + at, scale[c], shift[c], y.data() + at, channels.space);
    }
    if (!is_running) return;
    const double unbiased = spread.squares / static_cast<double>(std::max<std::int64_t>(channels.count - 1, 1));
    const auto towards = [&](C& running, double now) {
      running = static_cast<C>((1 - op.momentum) * static_cast<double>(running) + op.momentum * now);
    };
    towards(running_mean->data()[c], spread.mean);
    towards(running_variance->data()[c], unbiased);
  });
  if (is_running) {
    TROUPE_TRY(running_mean->finish(here.team()));
    TROUPE_TRY(running_variance->finish(here.team()));
  }
  return y.finish(here.team());
}

template <class C>
Result<void> batch_norm_gradient(const op::DnnBatchNormGradient& op, const HostViews& here) {
  const auto dy = TROUPE_TRY(Dense<C>::reading(op.dy, here));
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto dx = TROUPE_TRY(Dense<C>::writing(op.dx, here));
  const auto scale = TROUPE_TRY(ChannelNumbers<C>::reading(op.has_scale, op.scale, C(1), here));
  std::optional<Dense<C>> dscale, dshift;
  if (op.gives_scale) dscale = TROUPE_TRY(Dense<C>::writing(op.dscale, here));
  if (op.gives_shift) dshift = TROUPE_TRY(Dense<C>::writing(op.dshift, here));
  const BatchChannels channels(op.x.shape);
  channels.each(here.team(), 6, [&](std::int64_t c) noexcept {
    double sum = 0, product = 0;
    if (channels.count > 0) {
      const auto moments = moments_by<C>(spread_of(channels, c, x.data()), channels.count, op.epsilon);
      sum = channels.sum(c, [&](std::int64_t i) { return dy.data()[i]; });
      product = channels.sum(c, [&](std::int64_t i) { return dy.data()[i] * moments.normal(x.data()[i]); });
      const auto count = static_cast<double>(channels.count);
      const BackSums<C> sums{static_cast<C>(sum / count), static_cast<C>(product / count)};
      channels.each_element(
          c, [&](std::int64_t i) { dx.data()[i] = scale[c] * sums.through(moments, dy.data()[i], x.data()[i]); });
    }
    if (dscale) dscale->data()[c] = static_cast<C>(product);
    if (dshift) dshift->data()[c] = static_cast<C>(sum);
  });
  if (dscale) TROUPE_TRY(dscale->finish(here.team()));
  if (dshift) TROUPE_TRY(dshift->finish(here.team()));
  return dx.finish(here.team());
}

}  // namespace

Result<void> run_op(const op::DnnBatchNorm& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? batch_norm<double>(op, here) : batch_norm<float>(op, here);
}
Result<void> run_op(const op::DnnBatchNormTraining& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? batch_norm_training<double>(op, here) : batch_norm_training<float>(op, here);
}
Result<void> run_op(const op::DnnBatchNormGradient& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? batch_norm_gradient<double>(op, here) : batch_norm_gradient<float>(op, here);
}

}  // namespace troupe::host
