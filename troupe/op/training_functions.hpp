// What losses cost element by element, their slopes, and one step of an optimizer for one element, for the CPU and the
// GPU alike: one definition, so that both mean the same. Numbers are f32 or f64.
#pragma once

#include <cmath>

#include "troupe/core/training_kinds.hpp"
#include "troupe/op/complex_functions.hpp"  // TROUPE_EVERYWHERE

namespace troupe::inline v0::dnn {

// ---- losses ----

/// What a loss by element is told, beside the element and the target.
template <class C>
struct LossNumbers {
  detail::Loss function;
  bool log_target;
  C delta;
};

template <class C>
TROUPE_EVERYWHERE C loss_of(const LossNumbers<C>& of, C x, C target) {
  const C off = x - target;
  switch (of.function) {
    case detail::Loss::mse: return off * off;
    case detail::Loss::huber: {
      const C far = std::fabs(off);
      return far <= of.delta ? off * off / 2 : of.delta * (far - of.delta / 2);
    }
    case detail::Loss::binary_cross_entropy:
      return (x > 0 ? x : C(0)) - x * target + std::log1p(std::exp(-std::fabs(x)));
    case detail::Loss::kl_div: break;
  }
  if (of.log_target) return std::exp(target) * (target - x);
  return target > 0 ? target * (std::log(target) - x) : C(0);
}

/// The derivative by x.
template <class C>
TROUPE_EVERYWHERE C loss_slope(const LossNumbers<C>& of, C x, C target) {
  const C off = x - target;
  switch (of.function) {
    case detail::Loss::mse: return 2 * off;
    case detail::Loss::huber: return off > of.delta ? of.delta : off < -of.delta ? -of.delta : off;
    case detail::Loss::binary_cross_entropy: {
      const C e = std::exp(-std::fabs(x));
      return (x < 0 ? e / (1 + e) : 1 / (1 + e)) - target;
    }
    case detail::Loss::kl_div: break;
  }
  return of.log_target ? -std::exp(target) : -target;
}

/// Of NaN, too, it says no.
template <class C>
TROUPE_EVERYWHERE bool is_probability(C number) {
  return number >= 0 && number <= 1;
}

// ---- rotary embedding ----

/// By how much a pair of numbers is turned.
template <class C>
struct Turn {
  C cosine;
  C sine;
};
/// Pair i of a token at that place, of heads of that width. Angles are computed in f64: places may be large.
template <class C>
TROUPE_EVERYWHERE Turn<C> turn_of(std::int64_t place, std::int64_t pair, std::int64_t width, double base,
                                  bool backward) {
  const double angle =
      static_cast<double>(place) * std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(width));
  return {static_cast<C>(std::cos(angle)), static_cast<C>(backward ? -std::sin(angle) : std::sin(angle))};
}

// ---- optimizers ----

/// The numbers of a step, computed once.
template <class C>
struct StepNumbers {
  detail::Optimizer rule;
  bool nesterov;
  bool is_first;
  C rate;
  C first;
  C second;
  C epsilon;
  C decay;
  C first_share;  // 1 - first^step
  C second_root;  // the square root of 1 - second^step
};
template <class C>
StepNumbers<C> step_numbers(detail::Optimizer rule, bool nesterov, std::int64_t step, double rate, double first,
                            double second, double epsilon, double decay) {
  const auto steps = static_cast<double>(step);
  return {.rule = rule,
          .nesterov = nesterov,
          .is_first = step == 1,
          .rate = static_cast<C>(rate),
          .first = static_cast<C>(first),
          .second = static_cast<C>(second),
          .epsilon = static_cast<C>(epsilon),
          .decay = static_cast<C>(decay),
          .first_share = static_cast<C>(1 - std::pow(first, steps)),
          .second_root = static_cast<C>(std::sqrt(1 - std::pow(second, steps)))};
}

/// A parameter's element and what the optimizer keeps of it.
template <class C>
struct Stepped {
  C value;
  C first;
  C second;
};

template <class C>
TROUPE_EVERYWHERE Stepped<C> stepped(const StepNumbers<C>& of, C gradient, Stepped<C> now) {
  switch (of.rule) {
    case detail::Optimizer::sgd: {
      gradient += of.decay * now.value;
      if (of.first != 0) {
        now.first = of.is_first ? gradient : of.first * now.first + (1 - of.second) * gradient;
        gradient = of.nesterov ? gradient + of.first * now.first : now.first;
      }
      now.value -= of.rate * gradient;
      return now;
    }
    case detail::Optimizer::lion: {
      const C toward = of.first * now.first + (1 - of.first) * gradient;
      const C sign = toward > 0 ? C(1) : toward < 0 ? C(-1) : toward;  // NaN stays NaN
      now.value = now.value * (1 - of.rate * of.decay) - of.rate * sign;
      now.first = of.second * now.first + (1 - of.second) * gradient;
      return now;
    }
    case detail::Optimizer::adam: gradient += of.decay * now.value; break;
    case detail::Optimizer::adamw: now.value *= 1 - of.rate * of.decay; break;
  }
  now.first = of.first * now.first + (1 - of.first) * gradient;
  now.second = of.second * now.second + (1 - of.second) * gradient * gradient;
  now.value -= of.rate / of.first_share * now.first / (std::sqrt(now.second) / of.second_root + of.epsilon);
  return now;
}

/// What gradients of this norm are multiplied by, so that without the loss's scale it is at most `most`; 0: no limit.
TROUPE_EVERYWHERE inline double gradient_factor(double norm, double scale, double most) {
  const double true_norm = norm / scale;
  return (most > 0 && true_norm > most ? most / true_norm : 1) / scale;
}

/// A loss's scale, and how many steps ago it changed.
struct LossScale {
  float scale;
  float steps;
};
TROUPE_EVERYWHERE inline LossScale next_loss_scale(LossScale now, bool are_finite, double growth, double backoff,
                                                   double interval) {
  if (!are_finite) return {static_cast<float>(now.scale * backoff), 0};
  if (static_cast<double>(now.steps) + 1 < interval) return {now.scale, now.steps + 1};
  const auto grown = static_cast<float>(now.scale * growth);
  return {std::isinf(grown) ? now.scale : grown, 0};
}

}  // namespace troupe::inline v0::dnn
