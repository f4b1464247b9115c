// Cross entropy and its gradient, row by row: the loss of a row, and its slopes, have the same bits wherever it stands.
// Only the mean and the sum over rows depend on how many there are.
#include <cmath>

#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/dnn_loss.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::host {
namespace {

/// What a row of probabilities must be told: which classes are wanted how much.
template <class C>
class Wanted {
 public:
  template <class Op>
  static Result<Wanted> read(const Op& op, const HostViews& here) {
    Wanted made;
    made.classes_ = op.logits.shape[op.logits.shape.rank() - 1];
    made.keep_ = 1 - op.terms.label_smoothing;
    made.spread_ = op.terms.label_smoothing / static_cast<double>(made.classes_);
    made.ignored_ = op.terms.ignored;
    made.target_ = here(op.target);
    made.is_class_ = op.target.dtype == DType::i32 || op.target.dtype == DType::i64;
    if (made.is_class_)
      made.indices_ = TROUPE_TRY(
          DnnIndices::read(made.target_, DnnFault::class_outside, made.classes_, made.ignored_, here.team()));
    made.weights_ = TROUPE_TRY(NumberBuffers<C>::make(1, made.classes_));
    std::fill_n(made.weights_[0], made.classes_, C(1));
    if (op.terms.has_weights) {
      const HostView weights = here(op.weights);
      read_numbers(weights.dtype, weights.data, step_of(weights), made.weights_[0], made.classes_);
    }
    return made;
  }

  bool is_class() const noexcept { return is_class_; }
  const DnnFinding& found() const noexcept { return indices_.found(); }
  /// How much row `row` counts in a mean.
  double share_of(std::int64_t row) const noexcept {
    if (!is_class_) return 1;
    const std::int64_t target = indices_[row];
    return target == ignored_ ? 0 : static_cast<double>(weights_[0][target]);
  }
  /// wanted[c] = q[c] of row `row`, whose target, where it is not a class, is at `target`. False where it is ignored.
  bool fill(std::int64_t row, const std::byte* target, C* wanted) const noexcept {
    if (is_class_) {
      if (indices_[row] == ignored_) return false;
      std::fill_n(wanted, classes_, static_cast<C>(spread_));
      wanted[indices_[row]] += static_cast<C>(keep_);
    } else {
      read_numbers(target_.dtype, target, step_of(target_), wanted, classes_);
      for (std::int64_t c = 0; c < classes_; ++c)
        wanted[c] = static_cast<C>(keep_) * wanted[c] + static_cast<C>(spread_);
    }
    for (std::int64_t c = 0; c < classes_; ++c) wanted[c] *= weights_[0][c];
    return true;
  }
  /// Where the rows are of the logits, the target (where the logits are if it is classes) and a third array.
  RowsOf<3> rows(const HostView& logits, const HostView& third) const noexcept {
    return RowsOf<3>({&logits, is_class_ ? &logits : &target_, &third}, logits.shape.rank());
  }
  std::int64_t classes() const noexcept { return classes_; }

 private:
  std::int64_t classes_ = 0;
  double keep_ = 1;
  double spread_ = 0;
  std::int64_t ignored_ = 0;
  bool is_class_ = true;
  HostView target_;
  DnnIndices indices_;
  NumberBuffers<C> weights_;
};

template <class C, class Op>
bool has_good_classes(const Op& op, const Wanted<C>& wanted, const HostViews& here) noexcept {
  return is_well(wanted.is_class() ? wanted.found() : check_probabilities<C>(here(op.target), here.team()), op.verdict,
                 here);
}

/// What the sum over all rows is divided by.
template <class C>
double divisor_of_rows(LossReduction reduction, std::int64_t rows, const Wanted<C>& wanted, Team& team) noexcept {
  if (reduction != LossReduction::mean) return 1;
  return team.reduce(
      rows, Grain::of_ns(2), 0.0,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        double sum = 0;
        for (; begin < end; ++begin) sum += wanted.share_of(begin);
        return sum;
      },
      [](double a, double b) noexcept { return a + b; });
}

/// e[c] = e^(x[c] - the greatest); gives the logarithm of the sum of e^x, and the sum.
struct RowSum {
  double logarithm;
  double sum;
};
template <class C>
RowSum exponentials(const C* x, C* off, C* e, std::int64_t count) noexcept {
  const auto greatest = static_cast<C>(fold_numbers(Reduction::max, x, count));
  for (std::int64_t c = 0; c < count; ++c) off[c] = x[c] - greatest;
  apply_row(Unary::exp, off, e, count);
  const double sum = fold_numbers(Reduction::sum, e, count);
  return {std::log(sum), sum};
}

template <class C>
Result<void> entropy_of_rows(const op::DnnCrossEntropy& op, const HostViews& here) {
  const Wanted<C> wanted = TROUPE_TRY(Wanted<C>::read(op, here));
  if (!has_good_classes(op, wanted, here)) return {};
  const HostView logits = here(op.logits), loss = here(op.loss);
  const std::int64_t classes = wanted.classes();
  const std::int64_t count = op::element_count(op.logits) / classes;
  const bool is_each = op.terms.reduction == LossReduction::none;
  const auto losses = TROUPE_TRY(NumberBuffers<double>::make(1, count));
  const RowsOf<3> rows = wanted.rows(logits, is_each ? loss : logits);
  TROUPE_TRY(each_part(here.team(), count, Grain::of_ns(3.0 * static_cast<double>(classes)),
                       [&](std::int64_t begin, std::int64_t end) -> Result<void> {
                         const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(4, classes));
                         rows.run(begin, end, [&](std::int64_t row, const Pointers<3>& at) {
                           const C* const x = numbers_of(logits.dtype, at[0], step_of(logits), buffers[0], classes);
                           double sum = 0;
                           if (wanted.fill(row, at[1], buffers[1])) {
                             const double top = exponentials(x, buffers[2], buffers[3], classes).logarithm;
                             for (std::int64_t c = 0; c < classes; ++c)
                               if (buffers[1][c] != 0)  // infinity times 0 is none
                                 sum += static_cast<double>(buffers[1][c]) * (top - static_cast<double>(buffers[2][c]));
                           }
                           losses[0][row] = sum;
                           const auto own = static_cast<C>(sum);
                           if (is_each) write_numbers(loss.dtype, &own, at[2], size_bytes(loss.dtype), 1);
                         });
                         return {};
                       }));
  if (is_each) return {};
  const auto sum_part = [&](std::int64_t begin, std::int64_t end) noexcept {
    return fold_numbers(Reduction::sum, losses[0] + begin, end - begin);
  };
  const double sum = here.team().reduce(count, Grain::of_bytes(sizeof(double)), 0.0, sum_part,
                                        [](double a, double b) noexcept { return a + b; });
  const auto all = static_cast<C>(sum / divisor_of_rows(op.terms.reduction, count, wanted, here.team()));
  write_numbers(loss.dtype, &all, loss.data, size_bytes(loss.dtype), 1);
  return {};
}

template <class C>
Result<void> slopes_of_rows(const op::DnnCrossEntropyGradient& op, const HostViews& here) {
  const Wanted<C> wanted = TROUPE_TRY(Wanted<C>::read(op, here));
  if (!has_good_classes(op, wanted, here)) return {};
  const HostView logits = here(op.logits), dlogits = here(op.dlogits), dloss = here(op.dloss);
  if (dlogits.data == nullptr) return {};
  const std::int64_t classes = wanted.classes();
  const std::int64_t count = op::element_count(op.logits) / classes;
  const bool is_each = op.terms.reduction == LossReduction::none;
  const double divisor = divisor_of_rows(op.terms.reduction, count, wanted, here.team());
  const RowsOf<3> rows = wanted.rows(logits, dlogits);
  const OrderedRows slopes(dloss);
  return each_part(here.team(), count, Grain::of_ns(3.0 * static_cast<double>(classes)),
                   [&](std::int64_t begin, std::int64_t end) -> Result<void> {
                     const auto buffers = TROUPE_TRY(NumberBuffers<C>::make(4, classes));
                     rows.run(begin, end, [&](std::int64_t row, const Pointers<3>& at) {
                       const C* const x = numbers_of(logits.dtype, at[0], step_of(logits), buffers[0], classes);
                       C* const to = buffers[2];
                       if (wanted.fill(row, at[1], buffers[1])) {
                         C slope;
                         read_numbers(dloss.dtype, slopes.piece(is_each ? row : 0, 1).at, size_bytes(dloss.dtype),
                                      &slope, 1);
                         slope = static_cast<C>(static_cast<double>(slope) / divisor);
                         const double sum = exponentials(x, to, buffers[3], classes).sum;
                         const auto scale = static_cast<C>(fold_numbers(Reduction::sum, buffers[1], classes) / sum);
                         for (std::int64_t c = 0; c < classes; ++c)
                           to[c] = slope * (buffers[3][c] * scale - buffers[1][c]);
                       } else {
                         std::fill_n(to, classes, C(0));
                       }
                       write_numbers(dlogits.dtype, to, at[2], step_of(dlogits), classes);
                     });
                     return {};
                   });
}

}  // namespace

Result<void> run_op(const op::DnnCrossEntropy& op, const HostViews& here) {
  return with_numbers(op.logits.dtype, [&]<class C>(std::type_identity<C>) { return entropy_of_rows<C>(op, here); });
}

Result<void> run_op(const op::DnnCrossEntropyGradient& op, const HostViews& here) {
  return with_numbers(op.logits.dtype, [&]<class C>(std::type_identity<C>) { return slopes_of_rows<C>(op, here); });
}

}  // namespace troupe::host
