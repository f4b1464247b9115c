#include <algorithm>
#include <cmath>
#include <string>

#include "troupe/library/random/random.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/random.hpp"

namespace troupe::inline v0 {
namespace {

constexpr std::string_view kCall = "alias_table";

/// The sum of all weights over the greatest, which no number of weights makes infinite.
Result<double> sum_over_greatest(std::span<const double> weights, double& greatest) {
  if (weights.empty() || weights.size() > static_cast<std::size_t>(op::kMaxOutcomes))
    return op::refuse(kCall, "there are " + std::to_string(weights.size()) + " weights; there must be 1 to 2^31");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    TROUPE_TRY(op::check_finite(kCall, "weight " + std::to_string(i), weights[i]));
    if (weights[i] < 0)
      return op::refuse(kCall, "weight " + std::to_string(i) + " is " + op::number_of(op::Scalar(weights[i])) +
                                   "; it must be 0 or more");
    greatest = std::max(greatest, weights[i]);
  }
  if (greatest == 0) return op::refuse(kCall, "every weight is 0; one must be more");
  double sum = 0;
  for (const double weight : weights) sum += weight / greatest;
  return sum;
}

}  // namespace

/// Walker's method in Vose's order: every outcome keeps what its weight fills of a share of equal size, and one outcome
/// whose weight is larger fills the rest.
Result<std::vector<std::uint64_t>> alias_table(std::span<const double> weights) {
  double greatest = 0;
  const double sum = TROUPE_TRY(sum_over_greatest(weights, greatest));
  const std::size_t count = weights.size();
  const double share = sum / static_cast<double>(count);
  std::vector<double> left(count);  // of each weight, in shares
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < count; ++i) {
    left[i] = weights[i] / greatest / share;
    (left[i] < 1 ? small : large).push_back(i);
  }
  std::vector<std::uint64_t> table(2 * count);
  const auto set = [&](std::size_t row, double stays, std::size_t other) {
    table[2 * row] = stays < 1 ? static_cast<std::uint64_t>(std::ldexp(stays, 64)) : ~std::uint64_t{0};
    table[2 * row + 1] = other;
  };
  while (!small.empty() && !large.empty()) {
    const std::size_t row = small.back();
    const std::size_t other = large.back();
    small.pop_back();
    set(row, left[row], other);
    left[other] -= 1 - left[row];
    if (left[other] >= 1) continue;
    large.pop_back();
    small.push_back(other);
  }
  // What is left over by rounding fills its share; an outcome of weight 0 never does.
  const auto likeliest = static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
  for (const std::size_t row : large) set(row, 1, row);
  for (const std::size_t row : small) set(row, weights[row] > 0 ? 1 : 0, weights[row] > 0 ? row : likeliest);
  return table;
}

}  // namespace troupe::inline v0
