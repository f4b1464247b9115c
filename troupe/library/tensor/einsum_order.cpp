#include "troupe/library/tensor/einsum_order.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "troupe/core/assert.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::inline v0 {
namespace {

constexpr int kLettersOfOneCase = 26;

bool fits(EinsumLetters letters) noexcept { return std::popcount(letters) <= kMaxRank; }

/// Operands and results that are still to be multiplied.
class Ordering {
 public:
  explicit Ordering(const EinsumProduct& product) : product_(product) {
    for (std::size_t i = 0; i < product.operands.size(); ++i) left_.push_back({i, product.operands[i]});
    // A letter that only one operand has is summed before anything is multiplied.
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i].letters &= needed_beside(i, i);
  }

  std::optional<EinsumSteps> order() {
    while (left_.size() > kMaxExactOperands)
      if (!take_best_pair()) return std::nullopt;
    if (!take_all()) return std::nullopt;
    return std::move(made_);
  }

 private:
  struct Item {
    std::size_t number;
    EinsumLetters letters;
  };

  double size_of(EinsumLetters letters) const noexcept {
    double size = 1;
    for (; letters != 0; letters &= letters - 1)
      size *= product_.extents[static_cast<std::size_t>(std::countr_zero(letters))];
    return size;
  }

  /// The letters of the output and of all that is left but these two.
  EinsumLetters needed_beside(std::size_t one, std::size_t other) const noexcept {
    EinsumLetters letters = product_.output;
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (i != one && i != other) letters |= left_[i].letters;
    return letters;
  }

  std::size_t add_step(const Item& first, const Item& second, EinsumLetters result) {
    made_.steps.push_back({first.number, second.number, result});
    made_.multiplications += size_of(first.letters | second.letters);
    return product_.operands.size() + made_.steps.size() - 1;
  }

  bool take_best_pair() {
    std::tuple best{std::numeric_limits<double>::infinity(), 0.0, std::size_t{0}, std::size_t{0}};
    for (std::size_t i = 0; i < left_.size(); ++i)
      for (std::size_t j = i + 1; j < left_.size(); ++j) {
        const EinsumLetters both = left_[i].letters | left_[j].letters;
        const EinsumLetters result = both & needed_beside(i, j);
        if (!fits(result)) continue;
        const double growth = size_of(result) - size_of(left_[i].letters) - size_of(left_[j].letters);
        best = std::min(best, std::tuple(growth, size_of(both), i, j));
      }
    const auto [growth, work, i, j] = best;
    if (i == j) return false;
    const EinsumLetters result = (left_[i].letters | left_[j].letters) & needed_beside(i, j);
    left_[i] = {add_step(left_[i], left_[j], result), result};
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(j));
    return true;
  }

  /// The best way to multiply a set of items, a bit for each.
  struct Best {
    EinsumLetters letters = 0;
    double work = std::numeric_limits<double>::infinity();
    double written = 0;  // elements of the results
    unsigned half = 0;   // a set that is multiplied by the rest
  };

  bool take_all() {
    const unsigned all = (1U << left_.size()) - 1;
    std::vector<Best> best(all + 1);
    for (unsigned set = 1; set <= all; ++set) best[set] = best_of(set, all, best);
    if (best[all].work == std::numeric_limits<double>::infinity()) return false;
    (void)multiply(all, best);
    return true;
  }

  Best best_of(unsigned set, unsigned all, const std::vector<Best>& best) const {
    Best found;
    EinsumLetters outside = product_.output;
    for (std::size_t i = 0; i < left_.size(); ++i) ((set >> i & 1U) != 0 ? found.letters : outside) |= left_[i].letters;
    found.letters &= outside;
    if (std::has_single_bit(set)) {
      found.work = 0;
      return found;
    }
    if (set != all && !fits(found.letters)) return found;
    const unsigned first = set & (~set + 1);  // in this half, so that each pair of halves is looked at once
    for (unsigned half = (set - 1) & set; half != 0; half = (half - 1) & set) {
      if ((half & first) == 0) continue;
      const Best& one = best[half];
      const Best& other = best[set ^ half];
      const double work = one.work + other.work + size_of(one.letters | other.letters);
      const double written = one.written + other.written + size_of(found.letters);
      if (std::tie(work, written) < std::tie(found.work, found.written)) {
        found.work = work;
        found.written = written;
        found.half = half;
      }
    }
    return found;
  }

  Item multiply(unsigned set, const std::vector<Best>& best) {
    if (std::has_single_bit(set)) return left_[static_cast<std::size_t>(std::countr_zero(set))];
    const Item first = multiply(best[set].half, best);
    const Item second = multiply(set ^ best[set].half, best);
    return {add_step(first, second, best[set].letters), best[set].letters};
  }

  const EinsumProduct& product_;
  std::vector<Item> left_;
  EinsumSteps made_;
};

}  // namespace

EinsumLetters bit_of(char letter) noexcept {
  const int number = letter >= 'a'   ? letter - 'a'
                     : letter >= 'A' ? kLettersOfOneCase + letter - 'A'
                                     : 2 * kLettersOfOneCase + letter - '0';
  return EinsumLetters{1} << number;
}

std::optional<EinsumSteps> order_of(const EinsumProduct& product) {
  TROUPE_ASSERT(product.operands.size() >= 2, "an order has a pair at least");
  return Ordering(product).order();
}

}  // namespace troupe::inline v0
