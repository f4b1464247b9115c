#include <algorithm>
#include <cmath>

#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_norm_rows.hpp"
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/team/try_each.hpp"

namespace troupe::host {
namespace {

/// An array of parameters where there is one.
template <class C>
Result<std::optional<Dense<C>>> maybe_reading(bool is_there, const op::View& view, const HostViews& here) {
  if (!is_there) return std::optional<Dense<C>>();
  return std::optional<Dense<C>>(TROUPE_TRY(Dense<C>::reading(view, here)));
}
template <class C>
const C* data_of(const std::optional<Dense<C>>& array) noexcept {
  return array ? array->data() : nullptr;
}
Grain grain_of_row(std::int64_t length) noexcept { return Grain::of_ns(3 * static_cast<double>(length) + 20); }

// ---- layers: a row is what the last axes have ----

template <class C>
Result<void> layer_norm(const op::DnnLayerNorm& op, const HostViews& here) {
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  const auto scale = TROUPE_TRY(maybe_reading<C>(op.has_scale, op.scale, here));
  const auto shift = TROUPE_TRY(maybe_reading<C>(op.has_shift, op.shift, here));
  const std::int64_t length = extent_from(op.x.shape, op.x.shape.rank() - op.axes);
  const std::int64_t rows = length == 0 ? 0 : op::element_count(op.x) / length;
  here.team().run(rows, grain_of_row(length), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const C* const in = x.data() + begin * length;
      const Moments<C> moments = moments_of(in, length, op.epsilon, op.centred);
      normalize(moments, in, data_of(scale), data_of(shift), y.data() + begin * length, length);
    }
  });
  return y.finish(here.team());
}

/// Rows in bands, so that sums over rows are joined in an order that depends on the shape alone.
struct RowBands {
  static constexpr std::int64_t kMost = 256;
  explicit RowBands(std::int64_t all_rows) noexcept
      : rows(all_rows), height(std::max<std::int64_t>(16, (all_rows + kMost - 1) / kMost)) {}
  std::int64_t number() const noexcept { return (rows + height - 1) / height; }
  std::int64_t begin(std::int64_t band) const noexcept { return band * height; }
  std::int64_t end(std::int64_t band) const noexcept { return std::min(rows, begin(band) + height); }
  std::int64_t rows;
  std::int64_t height;
};

/// out[j] = the sum of partial[band][j]; nothing where out is not asked for.
template <class C>
Result<void> join_bands(bool is_asked, const double* partial, std::int64_t bands, std::int64_t length,
                        const op::View& out, const HostViews& here) {
  if (!is_asked) return {};
  const auto sums = TROUPE_TRY(Dense<C>::writing(out, here));
  here.team().run(length, Grain::of_ns(static_cast<double>(bands + 1)),
                  [&](std::int64_t begin, std::int64_t end) noexcept {
                    for (std::int64_t j = begin; j < end; ++j) {
                      double sum = 0;
                      for (std::int64_t band = 0; band < bands; ++band) sum += partial[band * length + j];
                      sums.data()[j] = static_cast<C>(sum);
                    }
                  });
  return sums.finish(here.team());
}

template <class C>
Result<void> layer_norm_gradient(const op::DnnLayerNormGradient& op, const HostViews& here) {
  const auto dy = TROUPE_TRY(Dense<C>::reading(op.dy, here));
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto dx = TROUPE_TRY(Dense<C>::writing(op.dx, here));
  const auto scale = TROUPE_TRY(maybe_reading<C>(op.has_scale, op.scale, here));
  const std::int64_t length = extent_from(op.x.shape, op.x.shape.rank() - op.axes);
  const RowBands bands(length == 0 ? 0 : op::element_count(op.x) / length);
  const std::int64_t sums = bands.number() * length;
  const auto dscale = TROUPE_TRY(OwnNumbers<double>::make(op.gives_scale ? sums : 0));
  const auto dshift = TROUPE_TRY(OwnNumbers<double>::make(op.gives_shift ? sums : 0));
  const Grain grain = Grain::of_ns(8 * static_cast<double>(length * bands.height));
  here.team().run(bands.number(), grain, [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      double* const of_scale = op.gives_scale ? dscale.get() + begin * length : nullptr;
      double* const of_shift = op.gives_shift ? dshift.get() + begin * length : nullptr;
      if (of_scale) std::fill_n(of_scale, length, 0.0);
      if (of_shift) std::fill_n(of_shift, length, 0.0);
      for (std::int64_t row = bands.begin(begin); row < bands.end(begin); ++row) {
        const C* const in = x.data() + row * length;
        const C* const back = dy.data() + row * length;
        const Moments<C> moments = moments_of(in, length, op.epsilon, op.centred);
        normalize_back(moments, back, in, data_of(scale), dx.data() + row * length, length, op.centred);
        for (std::int64_t j = 0; of_scale && j < length; ++j)
          of_scale[j] += static_cast<double>(back[j] * moments.normal(in[j]));
        for (std::int64_t j = 0; of_shift && j < length; ++j) of_shift[j] += static_cast<double>(back[j]);
      }
    }
  });
  TROUPE_TRY(join_bands<C>(op.gives_scale, dscale.get(), bands.number(), length, op.dscale, here));
  TROUPE_TRY(join_bands<C>(op.gives_shift, dshift.get(), bands.number(), length, op.dshift, here));
  return dx.finish(here.team());
}

// ---- groups of channels ----

/// The groups of the samples, one behind another: each has `channels` channels of `space` elements.
struct ChannelGroups {
  ChannelGroups(const Shape& x, std::int64_t groups_) noexcept
      : groups(groups_ == 0 ? x[1] : groups_),
        channels(x[1] / groups),
        space(extent_from(x, 2)),
        count(space == 0 ? 0 : x[0] * groups) {}
  std::int64_t first_channel(std::int64_t group) const noexcept { return group % groups * channels; }
  std::int64_t groups;
  std::int64_t channels;
  std::int64_t space;
  std::int64_t count;
};

template <class C>
Result<void> group_norm(const op::DnnGroupNorm& op, const HostViews& here) {
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  const auto scale = TROUPE_TRY(maybe_reading<C>(op.has_scale, op.scale, here));
  const auto shift = TROUPE_TRY(maybe_reading<C>(op.has_shift, op.shift, here));
  const ChannelGroups groups(op.x.shape, op.groups);
  const std::int64_t length = groups.channels * groups.space;
  here.team().run(groups.count, grain_of_row(length), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const C* const in = x.data() + begin * length;
      const Moments<C> moments = moments_of(in, length, op.epsilon, true);
      for (std::int64_t c = 0; c < groups.channels; ++c) {
        const std::int64_t channel = groups.first_channel(begin) + c;
        const std::int64_t at = c * groups.space;
        normalize_channel(moments, in + at, scale ? data_of(scale)[channel] : C(1),
                          shift ? data_of(shift)[channel] : C(0), y.data() + begin * length + at, groups.space);
      }
    }
  });
  return y.finish(here.team());
}

template <class C>
Result<void> group_norm_gradient(const op::DnnGroupNormGradient& op, const HostViews& here) {
  const auto dy = TROUPE_TRY(Dense<C>::reading(op.dy, here));
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here));
  const auto dx = TROUPE_TRY(Dense<C>::writing(op.dx, here));
  const auto scale = TROUPE_TRY(maybe_reading<C>(op.has_scale, op.scale, here));
  const ChannelGroups groups(op.x.shape, op.groups);
  const std::int64_t length = groups.channels * groups.space;
  const std::int64_t channels = op.x.shape[1];
  const std::int64_t samples = groups.count / groups.groups;
  const auto dscale = TROUPE_TRY(OwnNumbers<double>::make(samples * channels));
  const auto dshift = TROUPE_TRY(OwnNumbers<double>::make(samples * channels));
  here.team().run(groups.count, grain_of_row(3 * length), [&](std::int64_t begin, std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const C* const in = x.data() + begin * length;
      const C* const back = dy.data() + begin * length;
      const Moments<C> moments = moments_of(in, length, op.epsilon, true);
      const std::int64_t first = groups.first_channel(begin);
      double* const of_scale = dscale.get() + begin / groups.groups * channels + first;
      double* const of_shift = dshift.get() + begin / groups.groups * channels + first;
      double sum = 0, product = 0;  // of what comes back by scale, and that times the normalized
      for (std::int64_t c = 0; c < groups.channels; ++c) {
        const C* const part = back + c * groups.space;
        const C* const from = in + c * groups.space;
        of_shift[c] = sum_of(groups.space, [&](std::int64_t j) { return part[j]; });
        of_scale[c] = sum_of(groups.space, [&](std::int64_t j) { return part[j] * moments.normal(from[j]); });
        const double by = scale ? static_cast<double>(data_of(scale)[first + c]) : 1.0;
        sum += by * of_shift[c];
        product += by * of_scale[c];
      }
      const BackSums<C> sums{static_cast<C>(sum / static_cast<double>(length)),
                             static_cast<C>(product / static_cast<double>(length))};
      for (std::int64_t c = 0; c < groups.channels; ++c)
        for (std::int64_t j = c * groups.space; j < (c + 1) * groups.space; ++j)
          dx.data()[begin * length + j] =
              sums.through(moments, scale ? data_of(scale)[first + c] * back[j] : back[j], in[j]);
    }
  });
  TROUPE_TRY(join_bands<C>(op.gives_scale, dscale.get(), samples, channels, op.dscale, here));
  TROUPE_TRY(join_bands<C>(op.gives_shift, dshift.get(), samples, channels, op.dshift, here));
  return dx.finish(here.team());
}

}  // namespace

Result<void> run_op(const op::DnnLayerNorm& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? layer_norm<double>(op, here) : layer_norm<float>(op, here);
}
Result<void> run_op(const op::DnnLayerNormGradient& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? layer_norm_gradient<double>(op, here) : layer_norm_gradient<float>(op, here);
}
Result<void> run_op(const op::DnnGroupNorm& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? group_norm<double>(op, here) : group_norm<float>(op, here);
}
Result<void> run_op(const op::DnnGroupNormGradient& op, const HostViews& here) {
  return op.x.dtype == DType::f64 ? group_norm_gradient<double>(op, here) : group_norm_gradient<float>(op, here);
}

}  // namespace troupe::host
