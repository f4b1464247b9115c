// What users of losses, optimizers and recurrent layers choose by name and ops carry by number. The numbers travel
// between processes and are compiled into GPU code: append, never reorder.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What becomes of the losses of the elements, or of the rows.
enum class LossReduction : std::uint8_t {
  mean,        // one number: their mean; of a cross entropy the mean by the weights of the targets
  sum,         // one number
  none,        // as many as there are
  batch_mean,  // one number: their sum, divided by the extent of the first axis
  kLast = batch_mean,
};

namespace detail {

/// Losses that are made element by element.
enum class Loss : std::uint8_t { mse, huber, binary_cross_entropy, kl_div, kLast = kl_div };
constexpr std::string_view name(Loss loss) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"mse_loss", "huber_loss", "binary_cross_entropy_with_logits",
                                                   "kl_div"};
  return kNames[static_cast<std::size_t>(loss)];
}

/// How an optimizer goes one step.
enum class Optimizer : std::uint8_t { sgd, adam, adamw, lion, kLast = lion };
constexpr std::string_view name(Optimizer rule) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"sgd", "adam", "adamw", "lion"};
  return kNames[static_cast<std::size_t>(rule)];
}

/// What a recurrent layer is made of.
enum class Recurrent : std::uint8_t { lstm, gru, kLast = gru };
constexpr std::string_view name(Recurrent cell) noexcept {
  constexpr std::array<std::string_view, 2> kNames{"lstm", "gru"};
  return kNames[static_cast<std::size_t>(cell)];
}

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
