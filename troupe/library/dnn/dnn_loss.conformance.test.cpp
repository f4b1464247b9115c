// Losses, with every reduction, weights and targets of all kinds, and their gradients; and what is said of a target
// that cannot be.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnLossConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnLossConformance, Types<float, double, f16, bf16>);

enum class Which { mse, huber, entropy, divergence, log_divergence };
constexpr std::array kWhich{Which::mse, Which::huber, Which::entropy, Which::divergence, Which::log_divergence};
constexpr std::array kReductions{LossReduction::mean, LossReduction::sum, LossReduction::none,
                                 LossReduction::batch_mean};
constexpr double kDelta = 0.5;

template <class W>
W loss_of(Which which, W x, W target) {
  const W off = x - target;
  switch (which) {
    case Which::mse: return off * off;
    case Which::huber: return std::abs(off) <= W(kDelta) ? off * off / 2 : W(kDelta) * (std::abs(off) - W(kDelta) / 2);
    case Which::entropy: return -target * -std::log1p(std::exp(-x)) - (1 - target) * -std::log1p(std::exp(x));
    case Which::divergence: return target > 0 ? target * (std::log(target) - x) : W(0);
    case Which::log_divergence: break;
  }
  return std::exp(target) * (target - x);
}
template <class W>
W divisor_of(LossReduction reduction, const Shape& shape, std::size_t count) {
  if (reduction == LossReduction::mean) return static_cast<W>(count);
  return reduction == LossReduction::batch_mean ? static_cast<W>(shape[0]) : W(1);
}

/// The call for each of them; a divergence takes no weight.
Call<void> call_of(const Dnn& dnn, Which which, LossReduction reduction, const AnyArray& x, const AnyArray& target,
                   const AnyArray* weight, const AnyArray& loss) {
  switch (which) {
    case Which::mse: return dnn.mse_loss(x, target, loss, {.reduction = reduction, .weight = weight});
    case Which::huber:
      return dnn.huber_loss(x, target, loss, {.reduction = reduction, .weight = weight, .delta = kDelta});
    case Which::entropy:
      return dnn.binary_cross_entropy_with_logits(x, target, loss, {.reduction = reduction, .weight = weight});
    default: return dnn.kl_div(x, target, loss, {.reduction = reduction, .log_target = which == Which::log_divergence});
  }
}
Call<void> gradient_call_of(const Dnn& dnn, Which which, LossReduction reduction, const AnyArray& dloss,
                            const AnyArray& x, const AnyArray& target, const AnyArray* weight, const AnyArray& dx) {
  switch (which) {
    case Which::mse: return dnn.mse_loss_gradient(dloss, x, target, dx, {.reduction = reduction, .weight = weight});
    case Which::huber:
      return dnn.huber_loss_gradient(dloss, x, target, dx, {.reduction = reduction, .weight = weight, .delta = kDelta});
    case Which::entropy:
      return dnn.binary_cross_entropy_with_logits_gradient(dloss, x, target, dx,
                                                           {.reduction = reduction, .weight = weight});
    default:
      return dnn.kl_div_gradient(dloss, x, target, dx,
                                 {.reduction = reduction, .log_target = which == Which::log_divergence});
  }
}

/// Targets are probabilities, of which some are 0.
template <class T>
std::vector<T> some_probabilities(std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = T(static_cast<float>(i * 7 % 11) / 11);
  return all;
}

CONFORMANCE_TEST(DnnLossConformance, loss) {
  using W = Wide<T>;
  this->covers("dnn", "loss");
  const Shape shape{7, 30};
  for (const Which which : kWhich)
    for (const LossReduction reduction : kReductions) {
      const bool has_weight = which <= Which::entropy;
      const Sample<T> x = this->random(shape, Layout::transposed), weight = this->random({30});
      const Sample<T> target(this->device(), shape, Layout::padded, some_probabilities<T>(210));
      const bool is_each = reduction == LossReduction::none;
      Sample<T> loss = this->poisoned(is_each ? shape : Shape{}, is_each ? Layout::sliced : Layout::dense);
      value(call_of(this->device().dnn(), which, reduction, x.array(), target.array(),
                    has_weight ? &weight.array() : nullptr, loss.array())
                .get());
      std::vector<W> want;
      for (std::size_t i = 0; i < 210; ++i)
        want.push_back(loss_of(which, widen(x.values()[i]), widen(target.values()[i])) *
                       (has_weight ? widen(weight.values()[i % 30]) : W(1)));
      if (!is_each) {
        W sum = 0;
        for (const W number : want) sum += number;
        want = {sum / divisor_of<W>(reduction, shape, 210)};
      }
      this->expect_close(loss.read(), want, is_each ? 4 : 60);
    }
}

CONFORMANCE_TEST(DnnLossConformance, loss_gradient) {
  using W = Wide<T>;
  this->covers("dnn", "loss_gradient");
  const Shape shape{3, 4};
  for (const Which which : kWhich)
    for (const LossReduction reduction : kReductions) {
      const bool is_each = reduction == LossReduction::none, has_weight = which <= Which::entropy;
      const Sample<T> x = this->random(shape), weight = this->random(shape, Layout::transposed);
      const Sample<T> target(this->device(), shape, Layout::offset, some_probabilities<T>(12));
      const Sample<T> dloss = this->random(is_each ? shape : Shape{});
      Sample<T> dx = this->poisoned(shape, Layout::sliced);
      value(gradient_call_of(this->device().dnn(), which, reduction, dloss.array(), x.array(), target.array(),
                             has_weight ? &weight.array() : nullptr, dx.array())
                .get());
      const auto forward = [&](const std::vector<W>& in) {
        W sum = 0;
        for (std::size_t i = 0; i < 12; ++i)
          sum += loss_of(which, in[i], widen(target.values()[i])) * (has_weight ? widen(weight.values()[i]) : W(1)) *
                 widen(dloss.values()[is_each ? i : 0]);
        return sum / divisor_of<W>(reduction, shape, 12);
      };
      this->expect_close(dx.read(), slopes_of<W>(widened(x.values()), forward), 6 + off_by_difference<T>());
    }
}

CONFORMANCE_TEST(DnnLossConformance, loss_of_what_is_no_probability_says_where) {
  const Sample<T> x = this->random({3, 2});
  std::vector<T> wrong = some_probabilities<T>(6);
  wrong[3] = T(1.5F);
  wrong[5] = T(-1.0F);
  const Sample<T> target(this->device(), {3, 2}, Layout::transposed, wrong);
  Sample<T> loss = this->poisoned({});
  const Dnn dnn = this->device().dnn();
  EXPECT_EQ(text_of(dnn.binary_cross_entropy_with_logits(x.array(), target.array(), loss.array()).get()),
            "binary_cross_entropy_with_logits: element 3 of target is no probability, from 0 to 1");
  EXPECT_EQ(text_of(dnn.kl_div(x.array(), target.array(), loss.array()).get()),
            "kl_div: element 3 of target is no probability, from 0 to 1");
  value(dnn.mse_loss(x.array(), target.array(), loss.array()).get());  // any number will do, and nothing is spoilt
}

// ---- cross entropy ----

struct EntropyCase {
  bool is_class;
  bool wide;
  bool has_weights;
  double smoothing;
  LossReduction reduction;
};
std::vector<EntropyCase> entropy_cases() {
  std::vector<EntropyCase> all;
  for (const LossReduction reduction : {LossReduction::mean, LossReduction::sum, LossReduction::none}) {
    all.push_back({true, false, false, 0, reduction});
    all.push_back({true, true, true, 0.1, reduction});
    all.push_back({false, false, true, 0, reduction});
    all.push_back({false, false, false, 0.2, reduction});
  }
  return all;
}

/// Losses of the rows, and what a mean divides their sum by.
template <class W>
struct EntropyRows {
  std::vector<W> losses;
  W shares = 0;
};
template <class W>
EntropyRows<W> entropy_of(const EntropyCase& of, const std::vector<W>& logits, std::size_t classes,
                          const std::vector<std::int64_t>& chosen, const std::vector<W>& probabilities,
                          const std::vector<W>& weights) {
  EntropyRows<W> made;
  const std::size_t rows = logits.size() / classes;
  const std::vector<W> log_p =
      log_softmax_of(logits, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(classes)}, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    W loss = 0;
    const bool is_ignored = of.is_class && chosen[row] == -100;
    for (std::size_t c = 0; c < classes && !is_ignored; ++c) {
      W wanted = of.is_class ? W(chosen[row] == static_cast<std::int64_t>(c)) : probabilities[row * classes + c];
      wanted = wanted * W(1 - of.smoothing) + W(of.smoothing) / static_cast<W>(classes);
      loss -= wanted * (of.has_weights ? weights[c] : W(1)) * log_p[row * classes + c];
    }
    made.losses.push_back(loss);
    if (!of.is_class)
      made.shares += 1;
    else if (!is_ignored)
      made.shares += of.has_weights ? weights[static_cast<std::size_t>(chosen[row])] : W(1);
  }
  return made;
}

std::vector<std::int64_t> some_classes(std::size_t rows, std::size_t classes) {
  std::vector<std::int64_t> chosen;
  for (std::size_t row = 0; row < rows; ++row)
    chosen.push_back(row % 4 == 2 ? -100 : static_cast<std::int64_t>(row * 5 % (classes - 1)));
  return chosen;
}

/// A target for the case, as classes or as probabilities, which are on the device as long as this is there.
template <class T>
struct EntropyTarget {
  EntropyTarget(const Device& device, const EntropyCase& of, const Shape& rows, std::int64_t classes)
      : chosen(some_classes(count_of(rows), static_cast<std::size_t>(classes))) {
    std::vector<std::int64_t> extents(rows.begin(), rows.end());
    extents.push_back(classes);
    std::vector<std::int32_t> narrow(chosen.begin(), chosen.end());
    if (!of.is_class)
      target = probabilities
                   .emplace(device, Shape(extents), Layout::padded,
                            some_probabilities<T>(chosen.size() * static_cast<std::size_t>(classes)))
                   .array();
    else if (of.wide)
      target = i64.emplace(device, rows, Layout::sliced, chosen).array();
    else
      target = i32.emplace(device, rows, Layout::dense, std::move(narrow)).array();
  }
  static std::size_t count_of(const Shape& shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    return count;
  }

  std::vector<std::int64_t> chosen;
  std::optional<Sample<T>> probabilities;
  std::optional<Sample<std::int64_t>> i64;
  std::optional<Sample<std::int32_t>> i32;
  AnyArray target;
};

CONFORMANCE_TEST(DnnLossConformance, cross_entropy) {
  using W = Wide<T>;
  this->covers("dnn", "cross_entropy");
  for (const std::int64_t classes : {7, 3000})
    for (const EntropyCase& of : entropy_cases()) {
      const Sample<T> logits = this->random({2, 3, classes}, Layout::transposed);
      std::vector<T> positive = some_probabilities<T>(static_cast<std::size_t>(classes));
      const Sample<T> weights(this->device(), {classes}, Layout::sliced, positive);
      const EntropyTarget<T> target(this->device(), of, {2, 3}, classes);
      const bool is_each = of.reduction == LossReduction::none;
      Sample<T> loss = this->poisoned(is_each ? Shape{2, 3} : Shape{}, is_each ? Layout::padded : Layout::dense);
      value(this->device()
                .dnn()
                .cross_entropy(logits.array(), target.target, loss.array(),
                               {.reduction = of.reduction,
                                .weights = of.has_weights ? &weights.array() : nullptr,
                                .label_smoothing = of.smoothing})
                .get());
      const EntropyRows<W> rows = entropy_of<W>(
          of, widened(logits.values()), static_cast<std::size_t>(classes), target.chosen,
          target.probabilities ? widened(target.probabilities->values()) : std::vector<W>(), widened(positive));
      std::vector<W> want = rows.losses;
      if (!is_each) {
        W sum = 0;
        for (const W number : want) sum += number;
        want = {of.reduction == LossReduction::mean ? sum / rows.shares : sum};
      }
      this->expect_close(loss.read(), want, classes == 7 ? 6 : 50);
    }
}

CONFORMANCE_TEST(DnnLossConformance, cross_entropy_gradient) {
  using W = Wide<T>;
  this->covers("dnn", "cross_entropy_gradient");
  for (const EntropyCase& of : entropy_cases()) {
    const Sample<T> logits = this->random({6, 5});
    const std::vector<T> positive{T(0.5F), T(1.0F), T(0.25F), T(2.0F), T(0.0F)};  // the last one is no row's target
    const Sample<T> weights(this->device(), {5}, Layout::dense, positive);
    const EntropyTarget<T> target(this->device(), of, {6}, 5);
    const bool is_each = of.reduction == LossReduction::none;
    const Sample<T> dloss = this->random(is_each ? Shape{6} : Shape{});
    Sample<T> dlogits = this->poisoned({6, 5}, Layout::transposed);
    value(this->device()
              .dnn()
              .cross_entropy_gradient(dloss.array(), logits.array(), target.target, dlogits.array(),
                                      {.reduction = of.reduction,
                                       .weights = of.has_weights ? &weights.array() : nullptr,
                                       .label_smoothing = of.smoothing})
              .get());
    const auto forward = [&](const std::vector<W>& in) {
      const EntropyRows<W> rows = entropy_of<W>(
          of, in, 5, target.chosen, target.probabilities ? widened(target.probabilities->values()) : std::vector<W>(),
          widened(positive));
      W sum = 0;
      for (std::size_t i = 0; i < 6; ++i) sum += rows.losses[i] * widen(dloss.values()[is_each ? i : 0]);
      return of.reduction == LossReduction::mean ? sum / rows.shares : sum;
    };
    this->expect_close(dlogits.read(), slopes_of<W>(widened(logits.values()), forward), 6 + off_by_difference<T>());
  }
}

CONFORMANCE_TEST(DnnLossConformance, cross_entropy_along_another_axis) {
  const Sample<T> logits = this->random({4, 6});
  const Sample<std::int64_t> target(this->device(), {6}, Layout::dense, {0, 1, 2, 3, 0, 1});
  Sample<T> one = this->poisoned({}), other = this->poisoned({});
  value(this->device().dnn().cross_entropy(logits.array(), target.array(), one.array(), {.axis = 0}).get());
  value(this->device().dnn().cross_entropy(logits.array().transpose(), target.array(), other.array()).get());
  this->expect_equal(one.read(), other.read());
}

CONFORMANCE_TEST(DnnLossConformance, cross_entropy_of_what_is_no_class_says_where) {
  const Sample<T> logits = this->random({4, 3});
  const Sample<std::int64_t> target(this->device(), {4}, Layout::dense, {0, -100, 3, -1});
  Sample<T> loss = this->poisoned({}), slopes = this->poisoned({4, 3});
  const Dnn dnn = this->device().dnn();
  EXPECT_EQ(text_of(dnn.cross_entropy(logits.array(), target.array(), loss.array()).get()),
            "cross_entropy: target 2 is 3; it must be from 0 to before 3");
  const Sample<T> one = this->random({});
  EXPECT_EQ(text_of(dnn.cross_entropy_gradient(one.array(), logits.array(), target.array(), slopes.array()).get()),
            "cross_entropy_gradient: target 2 is 3; it must be from 0 to before 3");
}

}  // namespace
}  // namespace troupe::conformance
