#include "troupe/op/dnn_norm.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::inline v0 {
namespace {

/// The arrays of an op in the order in which it describes them.
class Arrays {
 public:
  Arrays(std::initializer_list<const AnyArray*> arrays) {
    for (const AnyArray* const array : arrays) add(*array);
  }
  void add(const AnyArray& array) { all_[count_++] = &array; }
  /// Nothing when it is null; else it is the op's, too.
  bool add_to(op::View& view, const AnyArray* array) {
    if (!array) return false;
    view = array->view();
    add(*array);
    return true;
  }
  std::span<const AnyArray* const> all() const { return std::span(all_).first(count_); }

 private:
  std::array<const AnyArray*, 8> all_{};
  std::size_t count_ = 0;
};

template <class Op>
Call<void> normalize(const Device& device, Op op, const AnyArray& x, const AnyArray& y, const NormOptions& options) {
  Arrays arrays{&x};
  op.epsilon = options.epsilon;
  op.x = x.view();
  op.y = y.view();
  op.has_scale = arrays.add_to(op.scale, options.scale);
  op.has_shift = arrays.add_to(op.shift, options.shift);
  arrays.add(y);
  return make_call(device, op, arrays.all());
}

template <class Op>
Call<void> normalize_back(const Device& device, Op op, const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                          const NormGradientOptions& options) {
  Arrays arrays{&dy, &x};
  op.epsilon = options.epsilon;
  op.dy = dy.view();
  op.x = x.view();
  op.dx = dx.view();
  op.has_scale = arrays.add_to(op.scale, options.scale);
  arrays.add(dx);
  op.gives_scale = arrays.add_to(op.dscale, options.dscale);
  op.gives_shift = arrays.add_to(op.dshift, options.dshift);
  return make_call(device, op, arrays.all());
}

/// Numbers that no array has so many axes are one that is none of them.
std::uint8_t axes_of(int axes) noexcept { return axes < 0 || axes > 255 ? 0 : static_cast<std::uint8_t>(axes); }

/// 0 is no number of groups; in the op it says that there are as many as channels.
std::int64_t groups_of(std::int64_t groups) noexcept { return groups == 0 ? -1 : groups; }

}  // namespace

Call<void> Dnn::batch_norm(const AnyArray& x, const AnyArray& mean, const AnyArray& variance, const AnyArray& y,
                           NormOptions options) const {
  Arrays arrays{&x, &mean, &variance};
  op::DnnBatchNorm op;
  op.epsilon = options.epsilon;
  op.x = x.view();
  op.mean = mean.view();
  op.variance = variance.view();
  op.y = y.view();
  op.has_scale = arrays.add_to(op.scale, options.scale);
  op.has_shift = arrays.add_to(op.shift, options.shift);
  arrays.add(y);
  return make_call(device_, op, arrays.all());
}
Call<void> Dnn::batch_norm_training(const AnyArray& x, const AnyArray& y, BatchNormTrainingOptions options) const {
  if ((options.running_mean == nullptr) != (options.running_variance == nullptr))
    return op::refuse("batch_norm_training",
                      "there is one of running_mean and running_variance; give both of them or none");
  Arrays arrays{&x};
  op::DnnBatchNormTraining op;
  op.epsilon = options.epsilon;
  op.momentum = options.momentum;
  op.x = x.view();
  op.y = y.view();
  op.has_scale = arrays.add_to(op.scale, options.scale);
  op.has_shift = arrays.add_to(op.shift, options.shift);
  op.has_running = arrays.add_to(op.running_mean, options.running_mean);
  arrays.add_to(op.running_variance, options.running_variance);
  arrays.add(y);
  return make_call(device_, op, arrays.all());
}
Call<void> Dnn::batch_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                    NormGradientOptions options) const {
  return normalize_back(device_, op::DnnBatchNormGradient(), dy, x, dx, options);
}
Call<void> Dnn::group_norm(const AnyArray& x, std::int64_t groups, const AnyArray& y, NormOptions options) const {
  op::DnnGroupNorm op;
  op.groups = groups_of(groups);
  return normalize(device_, op, x, y, options);
}
Call<void> Dnn::group_norm_gradient(const AnyArray& dy, const AnyArray& x, std::int64_t groups, const AnyArray& dx,
                                    NormGradientOptions options) const {
  op::DnnGroupNormGradient op;
  op.groups = groups_of(groups);
  return normalize_back(device_, op, dy, x, dx, options);
}
Call<void> Dnn::instance_norm(const AnyArray& x, const AnyArray& y, NormOptions options) const {
  return normalize(device_, op::DnnGroupNorm(), x, y, options);
}
Call<void> Dnn::instance_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                       NormGradientOptions options) const {
  return normalize_back(device_, op::DnnGroupNormGradient(), dy, x, dx, options);
}

namespace {
template <class Op>
Op layer_op(int axes, bool centred) {
  Op op;
  op.axes = axes_of(axes);
  op.centred = centred;
  return op;
}
}  // namespace

Call<void> Dnn::layer_norm(const AnyArray& x, const AnyArray& y, NormOptions options, int axes) const {
  return normalize(device_, layer_op<op::DnnLayerNorm>(axes, true), x, y, options);
}
Call<void> Dnn::layer_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                    NormGradientOptions options, int axes) const {
  return normalize_back(device_, layer_op<op::DnnLayerNormGradient>(axes, true), dy, x, dx, options);
}
Call<void> Dnn::rms_norm(const AnyArray& x, const AnyArray& y, NormOptions options, int axes) const {
  return normalize(device_, layer_op<op::DnnLayerNorm>(axes, false), x, y, options);
}
Call<void> Dnn::rms_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                  NormGradientOptions options, int axes) const {
  return normalize_back(device_, layer_op<op::DnnLayerNormGradient>(axes, false), dy, x, dx, options);
}

}  // namespace troupe::inline v0
