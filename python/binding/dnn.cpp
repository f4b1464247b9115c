// Layers of neural networks: `dnn("convolution", [x, w, y], {"stride": (2, 1), "bias": b})`. One row for each; Python's
// side makes the arrays that a layer writes, of the shapes that the rules here give.
#include "handle.hpp"
#include "troupe/library/scope/inferred_dnn.hpp"

namespace troupe::python {
namespace {

using Arrays = std::span<const AnyArray* const>;

/// What layers can be told, in one place; each takes what it knows.
struct LayerOptions {
  ConvolutionOptions convolution;
  PoolOptions pool;
  NormOptions norm;
  BatchNormTrainingOptions training;
  NormGradientOptions back;
  InterpolateOptions interpolate;
  DnnActivation function = DnnActivation::none;
  detail::AlongSpace window = 1;
  detail::AlongSpace more = 0;
  int axes = 1;

  DnnActivationOptions activation() const { return {.alpha = convolution.alpha}; }
};

struct LayerRow {
  std::string_view name;
  std::size_t arrays;
  Call<void> (*call)(const Dnn& dnn, Arrays a, const LayerOptions& o);
};

using O = LayerOptions;
constexpr LayerRow kLayers[] = {
    {"activation", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.activation(o.function, *a[0], *a[1], o.activation()); }},
    {"activation_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) {
       return d.activation_gradient(o.function, *a[0], *a[1], *a[2], o.activation());
     }},
    {"convolution", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.convolution(*a[0], *a[1], *a[2], o.convolution); }},
    {"convolution_input_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) {
       return d.convolution_input_gradient(*a[0], *a[1], *a[2], o.convolution);
     }},
    {"convolution_filter_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) {
       return d.convolution_filter_gradient(*a[0], *a[1], *a[2], o.convolution);
     }},
    {"transposed_convolution", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.transposed_convolution(*a[0], *a[1], *a[2], o.convolution); }},
    {"max_pool", 2, [](const Dnn& d, Arrays a, const O& o) { return d.max_pool(*a[0], o.window, *a[1], o.pool); }},
    {"max_pool_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.max_pool_gradient(*a[0], *a[1], o.window, *a[2], o.pool); }},
    {"average_pool", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.average_pool(*a[0], o.window, *a[1], o.pool); }},
    {"average_pool_gradient", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.average_pool_gradient(*a[0], o.window, *a[1], o.pool); }},
    {"adaptive_max_pool", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.adaptive_max_pool(*a[0], *a[1], o.pool); }},
    {"adaptive_average_pool", 2,
     [](const Dnn& d, Arrays a, const O&) { return d.adaptive_average_pool(*a[0], *a[1]); }},
    {"batch_norm", 4,
     [](const Dnn& d, Arrays a, const O& o) { return d.batch_norm(*a[0], *a[1], *a[2], *a[3], o.norm); }},
    {"batch_norm_training", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.batch_norm_training(*a[0], *a[1], o.training); }},
    {"batch_norm_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.batch_norm_gradient(*a[0], *a[1], *a[2], o.back); }},
    {"group_norm", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.group_norm(*a[0], o.convolution.groups, *a[1], o.norm); }},
    {"group_norm_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) {
       return d.group_norm_gradient(*a[0], *a[1], o.convolution.groups, *a[2], o.back);
     }},
    {"instance_norm", 2, [](const Dnn& d, Arrays a, const O& o) { return d.instance_norm(*a[0], *a[1], o.norm); }},
    {"layer_norm", 2, [](const Dnn& d, Arrays a, const O& o) { return d.layer_norm(*a[0], *a[1], o.norm, o.axes); }},
    {"layer_norm_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.layer_norm_gradient(*a[0], *a[1], *a[2], o.back, o.axes); }},
    {"rms_norm", 2, [](const Dnn& d, Arrays a, const O& o) { return d.rms_norm(*a[0], *a[1], o.norm, o.axes); }},
    {"rms_norm_gradient", 3,
     [](const Dnn& d, Arrays a, const O& o) { return d.rms_norm_gradient(*a[0], *a[1], *a[2], o.back, o.axes); }},
    {"interpolate", 2, [](const Dnn& d, Arrays a, const O& o) { return d.interpolate(*a[0], *a[1], o.interpolate); }},
    {"interpolate_gradient", 2,
     [](const Dnn& d, Arrays a, const O& o) { return d.interpolate_gradient(*a[0], *a[1], o.interpolate); }},
};

template <class Choice>
Choice choice_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(Choice::kLast); ++i)
    if (word == name(static_cast<Choice>(i))) return static_cast<Choice>(i);
  raise(ErrorKind::invalid_argument, "\"" + word + "\" is no choice here");
}

/// A number, or a tuple of one for each axis of space.
detail::AlongSpace along_from(nb::handle given) {
  if (!nb::isinstance<nb::tuple>(given)) return nb::cast<std::int64_t>(given);
  const auto numbers = nb::cast<nb::tuple>(given);
  const auto at = [&](std::size_t i) { return nb::cast<std::int64_t>(numbers[i]); };
  switch (numbers.size()) {
    case 1: return at(0);
    case 2: return {at(0), at(1)};
    case 3: return {at(0), at(1), at(2)};
    default: raise(ErrorKind::invalid_argument, "there are one to three axes of space, and as many numbers");
  }
}

void set_array(LayerOptions& o, const std::string& word, const AnyArray* array) {
  if (word == "bias") o.convolution.bias = array;
  if (word == "addend") o.convolution.addend = array;
  if (word == "indices") o.pool.indices = array;
  if (word == "scale") o.norm.scale = o.training.scale = o.back.scale = array;
  if (word == "shift") o.norm.shift = o.training.shift = array;
  if (word == "running_mean") o.training.running_mean = array;
  if (word == "running_variance") o.training.running_variance = array;
  if (word == "dscale") o.back.dscale = array;
  if (word == "dshift") o.back.dshift = array;
}

LayerOptions layer_options(const nb::dict& given) {
  LayerOptions o;
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    if (is_array(value))
      set_array(o, word, &handle_of(value).array);
    else if (word == "stride")
      o.convolution.stride = o.pool.stride = along_from(value);
    else if (word == "padding")
      o.convolution.padding = o.pool.padding = along_from(value);
    else if (word == "padding_after")
      o.convolution.padding_after = o.pool.padding_after = along_from(value);
    else if (word == "dilation")
      o.convolution.dilation = o.pool.dilation = along_from(value);
    else if (word == "window")
      o.window = along_from(value);
    else if (word == "more")
      o.more = along_from(value);
    else if (word == "groups")
      o.convolution.groups = nb::cast<std::int64_t>(value);
    else if (word == "activation")
      o.function = o.convolution.activation = choice_of<DnnActivation>(nb::cast<std::string>(value));
    else if (word == "alpha")
      o.convolution.alpha = nb::cast<double>(value);
    else if (word == "epsilon")
      o.norm.epsilon = o.training.epsilon = o.back.epsilon = nb::cast<double>(value);
    else if (word == "momentum")
      o.training.momentum = nb::cast<double>(value);
    else if (word == "axes")
      o.axes = nb::cast<int>(value);
    else if (word == "counts_padding")
      o.pool.counts_padding = nb::cast<bool>(value);
    else if (word == "way")
      o.interpolate.way = choice_of<DnnInterpolation>(nb::cast<std::string>(value));
    else if (word == "aligns_corners")
      o.interpolate.aligns_corners = nb::cast<bool>(value);
    else
      raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
  }
  return o;
}

void run_layer(const std::string& layer, nb::handle given, const nb::dict& options) {
  const auto* const row = std::ranges::find(kLayers, layer, &LayerRow::name);
  if (row == std::end(kLayers)) raise(ErrorKind::invalid_argument, "there is no layer \"" + layer + "\"");
  std::vector<const AnyArray*> arrays;
  const Device* device = nullptr;
  for (const nb::handle item : given) {
    if (!is_array(item)) throw nb::type_error((layer + ": every operand must be an array").c_str());
    if (device == nullptr) device = &handle_of(item).device;
    arrays.push_back(&handle_of(item).array);
  }
  if (arrays.size() != row->arrays)
    raise(ErrorKind::invalid_argument,
          layer + " takes " + std::to_string(row->arrays) + " arrays; there are " + std::to_string(arrays.size()));
  const LayerOptions told = layer_options(options);
  submit(*device, [&] { return row->call(device->dnn(), arrays, told); });
}

nb::tuple shape_of_layer(const std::string& layer, const Handle& x, nb::handle w, const nb::dict& options) {
  const LayerOptions told = layer_options(options);
  const Shape& shape = x.array.shape();
  Shape made = detail::with_space(shape, told.window);
  if (layer == "convolution")
    made = detail::shape_of_convolution(shape, handle_of(w).array.shape(), told.convolution);
  else if (layer == "transposed_convolution")
    made = detail::shape_of_transposed_convolution(shape, handle_of(w).array.shape(), told.convolution, told.more);
  else if (layer == "pool")
    made = detail::shape_of_pool(shape, told.window, told.pool);
  return tuple_of({made.begin(), made.end()});
}

}  // namespace

void bind_dnn(nb::module_& module) {
  module.def("dnn", &run_layer);
  module.def("dnn_shape", &shape_of_layer, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace troupe::python
