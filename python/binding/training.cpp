// What networks are trained with, and attention: `dnn_training("softmax", [x, y], {"axis": -1}, None)`, one row for
// each call, and `dnn_step` for optimizers. Python's side (troupe/_training.py) makes the arrays that a call writes.
#include "given_arrays.hpp"

namespace troupe::python {
namespace {

using Arrays = std::span<const AnyArray* const>;

/// What these calls can be told, in one place; each takes what it knows.
struct TrainingOptions {
  SoftmaxOptions softmax;
  LossOptions loss;
  HuberOptions huber;
  KlDivOptions kl_div;
  CrossEntropyOptions cross_entropy;
  EmbeddingOptions embedding;
  MeasureOptions measure;
  LossScaleOptions loss_scale;
  AttentionOptions attention;
  PagedOptions paged;
  RotaryOptions rotary;
  double probability = 0;
};

struct TrainingRow {
  std::string_view name;
  std::size_t arrays;
  Call<void> (*call)(const Dnn& dnn, Arrays a, TrainingOptions& o);
};

using O = TrainingOptions;
constexpr TrainingRow kRows[] = {
    {"softmax", 2, [](const Dnn& d, Arrays a, O& o) { return d.softmax(*a[0], *a[1], o.softmax); }},
    {"log_softmax", 2, [](const Dnn& d, Arrays a, O& o) { return d.log_softmax(*a[0], *a[1], o.softmax); }},
    {"softmax_gradient", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.softmax_gradient(*a[0], *a[1], *a[2], o.softmax); }},
    {"log_softmax_gradient", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.log_softmax_gradient(*a[0], *a[1], *a[2], o.softmax); }},
    {"mse_loss", 3, [](const Dnn& d, Arrays a, O& o) { return d.mse_loss(*a[0], *a[1], *a[2], o.loss); }},
    {"mse_loss_gradient", 4,
     [](const Dnn& d, Arrays a, O& o) { return d.mse_loss_gradient(*a[0], *a[1], *a[2], *a[3], o.loss); }},
    {"huber_loss", 3, [](const Dnn& d, Arrays a, O& o) { return d.huber_loss(*a[0], *a[1], *a[2], o.huber); }},
    {"huber_loss_gradient", 4,
     [](const Dnn& d, Arrays a, O& o) { return d.huber_loss_gradient(*a[0], *a[1], *a[2], *a[3], o.huber); }},
    {"binary_cross_entropy_with_logits", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.binary_cross_entropy_with_logits(*a[0], *a[1], *a[2], o.loss); }},
    {"binary_cross_entropy_with_logits_gradient", 4,
     [](const Dnn& d, Arrays a, O& o) {
       return d.binary_cross_entropy_with_logits_gradient(*a[0], *a[1], *a[2], *a[3], o.loss);
     }},
    {"kl_div", 3, [](const Dnn& d, Arrays a, O& o) { return d.kl_div(*a[0], *a[1], *a[2], o.kl_div); }},
    {"kl_div_gradient", 4,
     [](const Dnn& d, Arrays a, O& o) { return d.kl_div_gradient(*a[0], *a[1], *a[2], *a[3], o.kl_div); }},
    {"cross_entropy", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.cross_entropy(*a[0], *a[1], *a[2], o.cross_entropy); }},
    {"cross_entropy_gradient", 4,
     [](const Dnn& d, Arrays a, O& o) {
       return d.cross_entropy_gradient(*a[0], *a[1], *a[2], *a[3], o.cross_entropy);
     }},
    {"adjust_loss_scale", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.adjust_loss_scale(*a[0], *a[1], *a[2], o.loss_scale); }},
    {"embedding", 3, [](const Dnn& d, Arrays a, O&) { return d.embedding(*a[0], *a[1], *a[2]); }},
    {"embedding_gradient", 3,
     [](const Dnn& d, Arrays a, O& o) { return d.embedding_gradient(*a[0], *a[1], *a[2], o.embedding); }},
    {"dropout", 2,
     [](const Dnn& d, Arrays a, O& o) { return d.dropout(*o.attention.generator, *a[0], *a[1], o.probability); }},
    {"scaled_dot_product_attention", 5,
     [](const Dnn& d, Arrays a, O& o) {
       return d.scaled_dot_product_attention(*a[0], *a[1], *a[2], *a[3], *a[4], o.attention);
     }},
    {"scaled_dot_product_attention_gradient", 9,
     [](const Dnn& d, Arrays a, O& o) {
       return d.scaled_dot_product_attention_gradient(*a[0], *a[1], *a[2], *a[3], *a[4], *a[5], *a[6], *a[7], *a[8],
                                                      o.attention);
     }},
    {"cache_append", 6,
     [](const Dnn& d, Arrays a, O&) { return d.cache_append(*a[0], *a[1], *a[2], *a[3], *a[4], *a[5]); }},
    {"paged_attention", 6,
     [](const Dnn& d, Arrays a, O& o) { return d.paged_attention(*a[0], *a[1], *a[2], *a[3], *a[4], *a[5], o.paged); }},
    {"rotary", 2, [](const Dnn& d, Arrays a, O& o) { return d.rotary(*a[0], *a[1], o.rotary); }},
    {"rotary_gradient", 2, [](const Dnn& d, Arrays a, O& o) { return d.rotary_gradient(*a[0], *a[1], o.rotary); }},
};

LossReduction reduction_from(const std::string& word) {
  constexpr std::array<std::string_view, 4> kWords{"mean", "sum", "none", "batchmean"};
  const auto* const found = std::ranges::find(kWords, word);
  if (found == kWords.end())
    raise(ErrorKind::invalid_argument,
          "reduction is \"" + word + "\"; it can be \"mean\", \"sum\", \"none\" or \"batchmean\"");
  return static_cast<LossReduction>(found - kWords.begin());
}

bool set_array(TrainingOptions& o, const std::string& word, const AnyArray* array) {
  if (word == "weight")
    o.loss.weight = o.huber.weight = o.cross_entropy.weights = array;
  else if (word == "loss_scale")
    o.measure.loss_scale = array;
  else if (word == "mask")
    o.attention.mask = array;
  else if (word == "lengths")
    o.attention.lengths = array;
  else if (word == "query_offsets")
    o.attention.query_offsets = array;
  else if (word == "key_offsets")
    o.attention.key_offsets = array;
  else if (word == "positions")
    o.rotary.positions = array;
  else
    return false;
  return true;
}

bool set_word(TrainingOptions& o, const std::string& word, nb::handle value) {
  if (word == "reduction")
    o.loss.reduction = o.huber.reduction = o.kl_div.reduction = o.cross_entropy.reduction =
        reduction_from(nb::cast<std::string>(value));
  else if (word == "axis")
    o.softmax.axis = o.cross_entropy.axis = nb::cast<int>(value);
  else if (word == "ignore_index")
    o.cross_entropy.ignore_index = nb::cast<std::int64_t>(value);
  else if (word == "padding")
    o.embedding.padding = nb::cast<std::int64_t>(value);
  else if (word == "interval")
    o.loss_scale.interval = nb::cast<std::int64_t>(value);
  else if (word == "window")
    o.attention.window = o.paged.window = nb::cast<std::int64_t>(value);
  else if (word == "first")
    o.rotary.first = nb::cast<std::int64_t>(value);
  else if (word == "log_target")
    o.kl_div.log_target = nb::cast<bool>(value);
  else if (word == "causal")
    o.attention.causal = nb::cast<bool>(value);
  else if (word == "ends_together")
    o.attention.ends_together = nb::cast<bool>(value);
  else if (word == "interleaved")
    o.rotary.interleaved = nb::cast<bool>(value);
  else
    return false;
  return true;
}

bool set_number(TrainingOptions& o, const std::string& word, double number) {
  if (word == "delta")
    o.huber.delta = number;
  else if (word == "label_smoothing")
    o.cross_entropy.label_smoothing = number;
  else if (word == "max_norm")
    o.measure.max_norm = number;
  else if (word == "growth")
    o.loss_scale.growth = number;
  else if (word == "backoff")
    o.loss_scale.backoff = number;
  else if (word == "scale")
    o.attention.scale = o.paged.scale = number;
  else if (word == "dropout")
    o.attention.dropout = o.probability = number;
  else if (word == "base")
    o.rotary.base = number;
  else
    return false;
  return true;
}

TrainingOptions options_from(const nb::dict& given) {
  TrainingOptions o;
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    const bool is_known = is_array(value) ? set_array(o, word, &handle_of(value).array)
                                          : set_word(o, word, value) || set_number(o, word, nb::cast<double>(value));
    if (!is_known) raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
  }
  return o;
}

/// The generator moves on when the call was taken.
void run_training(const std::string& called, nb::handle given, const nb::dict& options, Generator* generator) {
  const auto* const row = std::ranges::find(kRows, called, &TrainingRow::name);
  if (row == std::end(kRows)) raise(ErrorKind::invalid_argument, "there is nothing called \"" + called + "\"");
  const GivenArrays arrays(called, given);
  if (arrays.all.size() != row->arrays)
    raise(ErrorKind::invalid_argument,
          called + " takes " + std::to_string(row->arrays) + " arrays; there are " + std::to_string(arrays.all.size()));
  const std::vector<const AnyArray*> pointers = arrays.pointers();
  TrainingOptions told = options_from(options);
  Generator moved(0);
  submit(*arrays.device, [&] {
    if (generator != nullptr) {
      moved = *generator;
      told.attention.generator = &moved;
    }
    return row->call(arrays.device->dnn(), pointers, told);
  });
  if (generator != nullptr) *generator = moved;
}

void run_measure(nb::handle gradients, const Handle& measure, const nb::dict& options) {
  const GivenArrays arrays("measure_gradients", gradients);
  const TrainingOptions told = options_from(options);
  submit(measure.device,
         [&] { return measure.device.dnn().measure_gradients(arrays.all, measure.array, told.measure); });
}

// ---- optimizers ----

/// The four lists of what an optimizer goes on from.
struct GivenParameters {
  explicit GivenParameters(const nb::tuple& lists)
      : values("values", lists[0]), first("first", lists[1]), second("second", lists[2]), masters("masters", lists[3]) {
    parameters = {.values = values.all, .first = first.all, .second = second.all, .masters = masters.all};
  }
  GivenParameters(const GivenParameters&) = delete;
  GivenParameters& operator=(const GivenParameters&) = delete;

  GivenArrays values, first, second, masters;
  OptimizerArrays parameters;
};

struct StepOptions {
  SgdOptions sgd;
  AdamOptions adam;
};

StepOptions step_options(const nb::dict& given) {
  StepOptions o;
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    if (is_array(value)) {
      if (word != "measure") raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
      o.sgd.measure = o.adam.measure = &handle_of(value).array;
    } else if (word == "nesterov") {
      o.sgd.nesterov = nb::cast<bool>(value);
    } else if (word == "step") {
      o.sgd.step = o.adam.step = nb::cast<std::int64_t>(value);
    } else {
      const auto number = nb::cast<double>(value);
      if (word == "rate")
        o.adam.rate = o.sgd.rate = number;
      else if (word == "weight_decay")
        o.adam.weight_decay = o.sgd.weight_decay = number;
      else if (word == "momentum")
        o.sgd.momentum = number;
      else if (word == "dampening")
        o.sgd.dampening = number;
      else if (word == "beta1")
        o.adam.beta1 = number;
      else if (word == "beta2")
        o.adam.beta2 = number;
      else if (word == "epsilon")
        o.adam.epsilon = number;
      else
        raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
    }
  }
  return o;
}

void run_step(const std::string& rule, nb::handle gradients, const nb::tuple& now, const nb::object& next,
              const nb::dict& options) {
  const GivenArrays back(rule, gradients);
  const GivenParameters from(now);
  std::optional<GivenParameters> to;
  if (!next.is_none()) to.emplace(nb::cast<nb::tuple>(next));
  StepOptions told = step_options(options);
  told.sgd.next = told.adam.next = to ? &to->parameters : nullptr;
  if (back.device == nullptr) raise(ErrorKind::invalid_argument, rule + " takes one gradient or more");
  submit(*back.device, [&] {
    const Dnn dnn = back.device->dnn();
    if (rule == "sgd") return dnn.sgd(back.all, from.parameters, told.sgd);
    if (rule == "adam") return dnn.adam(back.all, from.parameters, told.adam);
    if (rule == "adamw") return dnn.adamw(back.all, from.parameters, told.adam);
    if (rule == "lion") return dnn.lion(back.all, from.parameters, told.adam);
    raise(ErrorKind::invalid_argument, "there is no optimizer \"" + rule + "\"");
  });
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("dnn_training", &run_training, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("dnn_measure", &run_measure);
  module.def("dnn_step", &run_step, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace troupe::python
