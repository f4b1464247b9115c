// Steps of optimizers over lists of arrays, in place and to other arrays, with masters, limits and scales; and the
// measure of gradients.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnOptimizerConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnOptimizerConformance, Types<float, double, f16, bf16>);

enum class Rule { sgd, momentum, nesterov, adam, adamw, lion };
constexpr std::array kRules{Rule::sgd, Rule::momentum, Rule::nesterov, Rule::adam, Rule::adamw, Rule::lion};
constexpr double kRate = 0.02, kDecay = 0.1, kBeta1 = 0.8, kBeta2 = 0.9, kStepEpsilon = 1e-3;
constexpr std::int64_t kStep = 3;

int states_of(Rule rule) { return rule == Rule::sgd ? 0 : rule == Rule::adam || rule == Rule::adamw ? 2 : 1; }

template <class W>
struct Kept {
  W value, first, second;
};
template <class W>
Kept<W> stepped(Rule rule, W gradient, Kept<W> now) {
  const W rate = W(kRate), decay = W(kDecay), one = W(kBeta1), two = W(kBeta2);
  if (rule == Rule::lion) {
    const W toward = one * now.first + (1 - one) * gradient;
    return {now.value * (1 - rate * decay) - rate * (toward > 0 ? W(1) : W(-1)), two * now.first + (1 - two) * gradient,
            0};
  }
  if (rule == Rule::adamw)
    now.value -= rate * decay * now.value;
  else
    gradient += decay * now.value;
  if (rule == Rule::sgd) return {now.value - rate * gradient, 0, 0};
  if (rule == Rule::momentum || rule == Rule::nesterov) {
    now.first = one * now.first + gradient;
    return {now.value - rate * (rule == Rule::nesterov ? gradient + one * now.first : now.first), now.first, 0};
  }
  now.first = one * now.first + (1 - one) * gradient;
  now.second = two * now.second + (1 - two) * gradient * gradient;
  const W mean = now.first / (1 - std::pow(one, W(kStep))), square = now.second / (1 - std::pow(two, W(kStep)));
  return {now.value - rate * mean / (std::sqrt(square) + W(kStepEpsilon)), now.first, now.second};
}

Call<void> step_call(const Dnn& dnn, Rule rule, const ArrayList& gradients, const OptimizerArrays& now,
                     const OptimizerArrays* next, const AnyArray* measure = nullptr) {
  if (rule <= Rule::nesterov)
    return dnn.sgd(gradients, now,
                   {.rate = kRate,
                    .momentum = rule == Rule::sgd ? 0 : kBeta1,
                    .nesterov = rule == Rule::nesterov,
                    .weight_decay = kDecay,
                    .step = kStep,
                    .measure = measure,
                    .next = next});
  const AdamOptions options{.rate = kRate,
                            .beta1 = kBeta1,
                            .beta2 = kBeta2,
                            .epsilon = kStepEpsilon,
                            .weight_decay = kDecay,
                            .step = kStep,
                            .measure = measure,
                            .next = next};
  if (rule == Rule::adam) return dnn.adam(gradients, now, options);
  return rule == Rule::adamw ? dnn.adamw(gradients, now, options) : dnn.lion(gradients, now, options);
}

/// Arrays of one list, of several shapes and layouts, and what they hold.
template <class T>
struct List {
  std::vector<Sample<T>> samples;
  std::vector<AnyArray> arrays;

  void add(Sample<T> sample) {
    arrays.push_back(sample.array());
    samples.push_back(std::move(sample));
  }
};
const std::vector<Shape> kShapes{{3, 5}, {}, {4111}, {2, 1, 7}, {0}};

/// References of the parameter's type as those of its state.
template <class S, class W>
std::vector<Wide<S>> widened_as(const std::vector<W>& numbers) {
  return std::vector<Wide<S>>(numbers.begin(), numbers.end());
}

template <class T>
using StateOf = std::conditional_t<std::same_as<T, double>, double, float>;

/// A whole list of parameters.
template <class T>
struct Lists {
  List<T> gradients, values;
  List<StateOf<T>> first, second;

  OptimizerArrays parameters(Rule rule) const {
    return {.values = values.arrays,
            .first = states_of(rule) > 0 ? ArrayList(first.arrays) : ArrayList(),
            .second = states_of(rule) > 1 ? ArrayList(second.arrays) : ArrayList(),
            .masters = {}};
  }
};
template <class T, class Make, class MakeState>
Lists<T> make_lists(const Make& make, const MakeState& make_state) {
  Lists<T> made;
  int i = 0;
  for (const Shape& shape : kShapes) {
    const Layout layout = kLayouts[static_cast<std::size_t>(i++ + 1)];
    made.gradients.add(make(shape, layout));
    made.values.add(make(shape, next(layout)));
    made.first.add(make_state(shape, next(layout, 2)));
    // Squares are not negative.
    Sample<StateOf<T>> second = make_state(shape, next(layout, 3));
    std::vector<StateOf<T>> squares = second.values();
    for (auto& number : squares) number *= number;
    second.write(squares);
    made.second.add(std::move(second));
  }
  return made;
}

CONFORMANCE_TEST(DnnOptimizerConformance, optimizer_step) {
  using W = Wide<T>;
  using S = StateOf<T>;
  this->covers("dnn", "optimizer_step");
  for (const Rule rule : kRules)
    for (const bool in_place : {false, true}) {
      Lists<T> now =
          make_lists<T>([&](const Shape& shape, Layout layout) { return this->random(shape, layout); },
                        [&](const Shape& shape, Layout layout) { return this->template random_of<S>(shape, layout); });
      Lists<T> next =
          make_lists<T>([&](const Shape& shape, Layout layout) { return this->poisoned(shape, layout); },
                        [&](const Shape& shape, Layout layout) { return this->template random_of<S>(shape, layout); });
      const Lists<T> before = now;
      const OptimizerArrays to = next.parameters(rule);
      value(step_call(this->device().dnn(), rule, now.gradients.arrays, now.parameters(rule), in_place ? nullptr : &to)
                .get());
      Lists<T>& after = in_place ? now : next;
      for (std::size_t p = 0; p < kShapes.size(); ++p) {
        std::vector<W> values, firsts, seconds;
        for (std::size_t i = 0; i < before.values.samples[p].values().size(); ++i) {
          const Kept<W> made =
              stepped<W>(rule, widen(before.gradients.samples[p].values()[i]),
                         {widen(before.values.samples[p].values()[i]), W(before.first.samples[p].values()[i]),
                          W(before.second.samples[p].values()[i])});
          values.push_back(made.value);
          firsts.push_back(made.first);
          seconds.push_back(made.second);
        }
        this->expect_close(after.values.samples[p].read(), values, 6);
        if (states_of(rule) > 0)
          this->template expect_close<S>(after.first.samples[p].read(), widened_as<S>(firsts), 6);
        if (states_of(rule) > 1)
          this->template expect_close<S>(after.second.samples[p].read(), widened_as<S>(seconds), 6);
      }
    }
}

CONFORMANCE_TEST(DnnOptimizerConformance, optimizer_step_with_masters) {
  using S = StateOf<T>;
  // The master goes on in f32 by less than the parameter could show, and the parameter is the master, rounded.
  const Sample<T> gradient(this->device(), {300}, Layout::dense, std::vector<T>(300, T(1.0F)));
  Sample<T> parameter(this->device(), {300}, Layout::padded, std::vector<T>(300, T(1.0F)));
  Sample<S> master(this->device(), {300}, Layout::offset, std::vector<S>(300, S(1)));
  const std::vector<AnyArray> gradients{gradient.array()}, values{parameter.array()}, masters{master.array()};
  const OptimizerArrays now{.values = values, .first = {}, .second = {}, .masters = masters};
  for (int i = 0; i < 100; ++i) value(this->device().dnn().sgd(gradients, now, {.rate = 1e-4}).get());
  for (const S number : master.read()) ASSERT_NEAR(static_cast<double>(number), 0.99, 1e-5);
  std::vector<Wide<T>> want;
  for (const S number : master.values()) want.push_back(static_cast<Wide<T>>(number));
  this->expect_close(parameter.read(), want, 0.5);
}

CONFORMANCE_TEST(DnnOptimizerConformance, measure_gradients) {
  this->covers("dnn", "measure_gradients");
  List<T> gradients;
  double squares = 0;
  for (const Shape& shape : kShapes) gradients.add(this->random(shape, Layout::sliced));
  for (const Sample<T>& gradient : gradients.samples)
    for (const T number : gradient.values()) squares += static_cast<double>(widen(number) * widen(number));
  Sample<float> measure(this->device(), {3}, Layout::sliced, {});
  const Sample<float> scale(this->device(), {2}, Layout::dense, {4, 0});
  const Dnn dnn = this->device().dnn();
  value(dnn.measure_gradients(gradients.arrays, measure.array()).get());
  const double norm = std::sqrt(squares);
  this->template expect_close<float>(measure.read(), {1, norm, 1}, 2);
  value(
      dnn.measure_gradients(gradients.arrays, measure.array(), {.max_norm = 0.5, .loss_scale = &scale.array()}).get());
  this->template expect_close<float>(measure.read(), {0.5 / norm, norm / 4, 1}, 2);
}

CONFORMANCE_TEST(DnnOptimizerConformance, measured_steps_are_scaled_or_left_out) {
  const Dnn dnn = this->device().dnn();
  const Sample<T> good(this->device(), {4}, Layout::dense, {T(2.0F), T(0.0F), T(0.0F), T(0.0F)});
  const Sample<T> bad(this->device(), {4}, Layout::dense,
                      {T(1.0F), T(std::numeric_limits<float>::infinity()), T(0.0F), T(0.0F)});
  Sample<T> parameter(this->device(), {4}, Layout::dense, std::vector<T>(4, T(1.0F)));
  Sample<float> measure(this->device(), {3}, Layout::dense, {});
  const std::vector<AnyArray> values{parameter.array()};
  const OptimizerArrays now{.values = values, .first = {}, .second = {}, .masters = {}};
  const auto step = [&](const Sample<T>& gradient) {
    const std::vector<AnyArray> gradients{gradient.array()};
    value(dnn.measure_gradients(gradients, measure.array(), {.max_norm = 1}).get());
    value(dnn.sgd(gradients, now, {.rate = 0.5, .measure = &measure.array()}).get());
    return widened(parameter.read());
  };
  this->expect_close(std::vector<T>{T(static_cast<float>(step(good)[0]))}, {0.5}, 1);
  EXPECT_EQ(measure.read()[2], 1);
  this->expect_close(std::vector<T>{T(static_cast<float>(step(bad)[0]))}, {0.5}, 1);
  EXPECT_EQ(measure.read()[2], 0);
}

CONFORMANCE_TEST(DnnOptimizerConformance, adjust_loss_scale) {
  if constexpr (std::same_as<T, float>) {
    this->covers("dnn", "adjust_loss_scale");
    const Dnn dnn = this->device().dnn();
    Sample<float> scale(this->device(), {2}, Layout::padded, {16, 1}),
        next_scale(this->device(), {2}, Layout::dense, {});
    const Sample<float> finite(this->device(), {3}, Layout::dense, {1, 1, 1});
    const Sample<float> infinite(this->device(), {3}, Layout::sliced, {1, 1, 0});
    value(dnn.adjust_loss_scale(finite.array(), scale.array(), next_scale.array(), {.interval = 3}).get());
    this->expect_equal(next_scale.read(), {16, 2});
    value(dnn.adjust_loss_scale(finite.array(), next_scale.array(), next_scale.array(), {.interval = 3}).get());
    this->expect_equal(next_scale.read(), {32, 0});
    value(dnn.adjust_loss_scale(infinite.array(), next_scale.array(), scale.array(), {.interval = 3}).get());
    this->expect_equal(scale.read(), {16, 0});
  }
}

CONFORMANCE_TEST(DnnOptimizerConformance, lists_must_go_together) {
  const Sample<T> x = this->random({4});
  const std::vector<AnyArray> one{x.array()}, two{x.array(), x.array()};
  EXPECT_EQ(text_of(this->device().dnn().sgd(one, {.values = two, .first = {}, .second = {}, .masters = {}}).get()),
            "sgd: there are 2 arrays in values and 1 gradients; there must be one for each");
  EXPECT_EQ(text_of(this->device().dnn().adam(one, {.values = one, .first = {}, .second = {}, .masters = {}}).get()),
            "adam: there are 0 arrays in first and 1 gradients; there must be one for each");
}

}  // namespace
}  // namespace troupe::conformance
