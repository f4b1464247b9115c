// LSTM and GRU backward: of each run step by step from the end the slopes of its gates, which are 0 behind the end of a
// sequence; of these, in one product each, what goes to the layer before and to the weights. Those of the weights are
// summed over all rows in their order.
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/dnn/recurrent_runs.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

/// What the steps of a run give: slopes of the gates from both sides [rows, gates hidden], the same memory for an
/// LSTM; and h before each step [rows, hidden].
template <class C>
struct RunSlopes {
  OwnNumbers<C> in_memory;
  std::optional<OwnNumbers<C>> back_memory;
  OwnNumbers<C> before_memory;

  static Result<RunSlopes> make(const RecurrentRun<C>& run) {
    const std::int64_t rows = run.tokens * run.batch;
    RunSlopes made{
        TROUPE_TRY(OwnNumbers<C>::make(rows * run.sums)), {}, TROUPE_TRY(OwnNumbers<C>::make(rows * run.hidden))};
    if (!run.is_lstm) made.back_memory = TROUPE_TRY(OwnNumbers<C>::make(rows * run.sums));
    return made;
  }
  C* in() const noexcept { return in_memory.get(); }
  C* back() const noexcept { return back_memory ? back_memory->get() : in(); }
  C* before() const noexcept { return before_memory.get(); }
};

/// What a run reads and writes in its steps; null where there is none.
template <class C>
struct BackArrays {
  const C* h0;
  const C* c0;
  const C* dh_n;
  const C* dc_n;
  C* dh0;
  C* dc0;
  const C* kept;
  const C* dy;  // [rows, dy_row], of which this direction has some columns
  std::int64_t dy_row;
};

/// Some sequences of a run, from their last step to the first.
template <class C>
class BackSteps {
 public:
  BackSteps(const RecurrentRun<C>& run, const BackArrays<C>& arrays, const Panels<C>& recurrent,
            const RunSlopes<C>& slopes) noexcept
      : run_(run), arrays_(arrays), recurrent_(recurrent), slopes_(slopes) {}

  Result<void> go(std::int64_t begin, std::int64_t end) const {
    const std::int64_t count = end - begin, length = count * run_.hidden;
    const auto carried = TROUPE_TRY(OwnNumbers<C>::make(2 * length));
    C* const dh = carried.get();
    C* const dc = dh + length;
    const auto load = [&](const C* from, C* to) {
      if (from != nullptr)
        std::copy_n(from + begin * run_.hidden, length, to);
      else
        std::fill_n(to, length, C(0));
    };
    load(arrays_.dh_n, dh);
    load(arrays_.dc_n, dc);
    for (std::int64_t step = run_.tokens - 1; step >= 0; --step) {
      for (std::int64_t i = 0; i < count; ++i) one(step, begin + i, dh + i * run_.hidden, dc + i * run_.hidden);
      recurrent_.add(slopes_.back() + run_.row(step, begin) * run_.sums, run_.sums, 1, dh, run_.hidden, count);
    }
    if (arrays_.dh0 != nullptr) std::copy_n(dh, length, arrays_.dh0 + begin * run_.hidden);
    if (arrays_.dc0 != nullptr) std::copy_n(dc, length, arrays_.dc0 + begin * run_.hidden);
    return {};
  }

 private:
  void one(std::int64_t step, std::int64_t sequence, C* dh, C* dc) const noexcept {
    const std::int64_t row = run_.row(step, sequence), hidden = run_.hidden;
    C* const in = slopes_.in() + row * run_.sums;
    C* const back = slopes_.back() + row * run_.sums;
    C* const before = slopes_.before() + row * hidden;
    if (!run_.is_there(step, sequence)) {
      std::fill_n(in, run_.sums, C(0));
      std::fill_n(back, run_.sums, C(0));
      std::fill_n(before, hidden, C(0));
      return;
    }
    const bool is_first = run_.is_first(step, sequence);
    const C* const dy = arrays_.dy + row * arrays_.dy_row + run_.direction * hidden;
    const auto start = [&](const C* of, std::int64_t j) { return of == nullptr ? C(0) : of[sequence * hidden + j]; };
    for (std::int64_t j = 0; j < hidden; ++j) {
      const dnn::KeptStep<C> kept = run_.kept_at(arrays_.kept, row, j);
      C h = start(arrays_.h0, j), c = start(arrays_.c0, j);
      if (!is_first) {
        const dnn::KeptStep<C> last = run_.kept_at(arrays_.kept, run_.row(step - 1, sequence), j);
        h = dnn::hidden_of(run_.is_lstm, last);
        c = last.of[4];
      }
      const dnn::StepSlopes<C> slopes =
          run_.is_lstm ? dnn::lstm_slopes(kept, c, dy[j] + dh[j], dc[j]) : dnn::gru_slopes(kept, h, dy[j] + dh[j]);
      for (std::int64_t gate = 0; gate < run_.gates; ++gate) {
        in[gate * hidden + j] = slopes.in[gate];
        back[gate * hidden + j] = slopes.back[gate];
      }
      before[j] = h;
      dh[j] = slopes.h;
      dc[j] = slopes.c;
    }
  }

  const RecurrentRun<C>& run_;
  const BackArrays<C>& arrays_;
  const Panels<C>& recurrent_;
  const RunSlopes<C>& slopes_;
};

/// dw = slopes' in, for slopes [rows, sums] and in [rows, width].
template <class C>
Result<void> weight_gradient(const C* slopes, std::int64_t sums, const C* in, std::int64_t width, std::int64_t rows,
                             C* dw, Team& team) {
  const auto panels = TROUPE_TRY(Panels<C>::make(in, rows, width, width, 1, team));
  return each_part(team, sums, Grain::of_ns(panels.ns_per_row()),
                   [&](std::int64_t begin, std::int64_t end) -> Result<void> {
                     const auto turned = TROUPE_TRY(OwnNumbers<C>::make((end - begin) * rows));
                     for (std::int64_t row = 0; row < rows; ++row)
                       for (std::int64_t i = begin; i < end; ++i)
                         turned.get()[(i - begin) * rows + row] = slopes[row * sums + i];
                     std::fill(dw + begin * width, dw + end * width, C(0));
                     panels.add(turned.get(), rows, 1, dw + begin * width, width, end - begin);
                     return {};
                   });
}
/// db = the sum of all rows.
template <class C>
void bias_gradient(const C* slopes, std::int64_t sums, std::int64_t rows, C* db, Team& team) noexcept {
  team.run(sums, Grain::of_bytes(rows * static_cast<std::int64_t>(sizeof(C))),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             std::fill(db + begin, db + end, C(0));
             for (std::int64_t row = 0; row < rows; ++row)
               for (std::int64_t i = begin; i < end; ++i) db[i] += slopes[row * sums + i];
           });
}

/// The layers of an op, from the last one to the first.
template <class C>
class BackLayers {
 public:
  static Result<void> run(const op::DnnRecurrentGradient& op, const SequenceEnds& ends, const HostViews& here) {
    BackLayers layers(op, ends, here);
    layers.x_ = TROUPE_TRY(Dense<C>::reading(op.x, here));
    layers.kept_ = TROUPE_TRY(Dense<C>::reading(op.kept, here));
    layers.weights_ = TROUPE_TRY(DenseList<C>::reading(op.weights, here));
    layers.start_ = TROUPE_TRY(DenseList<C>::reading(op.start, here));
    layers.dend_ = TROUPE_TRY(DenseList<C>::reading(op.dend, here));
    layers.dstart_ = TROUPE_TRY(DenseList<C>::writing(op.dstart, here));
    layers.dweights_ = TROUPE_TRY(DenseList<C>::writing(op.dweights, here));
    return layers.all();
  }

 private:
  BackLayers(const op::DnnRecurrentGradient& op, const SequenceEnds& ends, const HostViews& here) noexcept
      : op_(op), ends_(ends), here_(here), of_(op.terms, op.x, op.weights) {}

  Result<void> all() {
    const auto dy = TROUPE_TRY(Dense<C>::reading(op_.dy, here_)), dx = TROUPE_TRY(Dense<C>::writing(op_.dx, here_));
    std::optional<OwnNumbers<C>> between[2];
    const C* out = dy.data();
    for (std::int64_t layer = of_.layers() - 1; layer >= 0; --layer) {
      C* in = dx.data();
      if (layer > 0) {
        auto& own = between[layer % 2];
        own = TROUPE_TRY(OwnNumbers<C>::make(of_.rows() * of_.width()));
        in = own->get();
      }
      TROUPE_TRY(one(layer, out, in));
      out = in;
    }
    TROUPE_TRY(dx.finish(here_.team()));
    TROUPE_TRY(dstart_.finish(here_.team()));
    return dweights_.finish(here_.team());
  }

  /// `din`, the gradient of what the layer takes, from that of what it gives.
  Result<void> one(std::int64_t layer, const C* dout, C* din) {
    const std::int64_t width = of_.width_before(layer);
    std::fill_n(din, of_.rows() * width, C(0));
    std::optional<OwnNumbers<C>> in;
    if (!dweights_.empty()) in = TROUPE_TRY(inputs_of(layer));
    for (std::int64_t number = layer * of_.directions; number < (layer + 1) * of_.directions; ++number) {
      const RecurrentRun<C> run(op_.terms, of_, ends_, number);
      const RunSlopes<C> slopes = TROUPE_TRY(steps_of(run, number, dout));
      const C* const w_ih = weights_[first_weight(number)];
      const auto weights = TROUPE_TRY(Panels<C>::make(w_ih, of_.sums, width, width, 1, here_.team()));
      add_product(weights, slopes.in(), of_.sums, din, width, of_.rows(), here_.team());
      if (in) TROUPE_TRY(weight_gradients(number, slopes, in->get(), width));
    }
    return {};
  }

  Result<RunSlopes<C>> steps_of(const RecurrentRun<C>& run, std::int64_t number, const C* dout) {
    RunSlopes<C> slopes = TROUPE_TRY(RunSlopes<C>::make(run));
    const auto state = [&](const DenseList<C>& list, std::size_t which) {
      return which < list.size() ? list[which] + number * of_.batch * of_.hidden : nullptr;
    };
    const BackArrays<C> arrays{.h0 = state(start_, 0),
                               .c0 = state(start_, 1),
                               .dh_n = state(dend_, 0),
                               .dc_n = state(dend_, 1),
                               .dh0 = state(dstart_, 0),
                               .dc0 = state(dstart_, 1),
                               .kept = kept_of(number),
                               .dy = dout,
                               .dy_row = of_.width()};
    const C* const w_hh = weights_[first_weight(number) + 1];
    const auto recurrent = TROUPE_TRY(Panels<C>::make(w_hh, of_.sums, of_.hidden, of_.hidden, 1, here_.team()));
    const BackSteps<C> steps(run, arrays, recurrent, slopes);
    TROUPE_TRY(each_part(here_.team(), of_.batch, grain_of_steps(run, recurrent),
                         [&](std::int64_t begin, std::int64_t end) { return steps.go(begin, end); }));
    return slopes;
  }

  Result<void> weight_gradients(std::int64_t number, const RunSlopes<C>& slopes, const C* in, std::int64_t width) {
    const std::size_t first = first_weight(number);
    Team& team = here_.team();
    TROUPE_TRY(weight_gradient(slopes.in(), of_.sums, in, width, of_.rows(), dweights_[first], team));
    TROUPE_TRY(
        weight_gradient(slopes.back(), of_.sums, slopes.before(), of_.hidden, of_.rows(), dweights_[first + 1], team));
    if (!op_.terms.has_bias) return {};
    bias_gradient(slopes.in(), of_.sums, of_.rows(), dweights_[first + 2], team);
    bias_gradient(slopes.back(), of_.sums, of_.rows(), dweights_[first + 3], team);
    return {};
  }

  /// What the layer was given, [rows, width], with zeros behind the end of each sequence.
  Result<OwnNumbers<C>> inputs_of(std::int64_t layer) {
    const std::int64_t width = of_.width_before(layer);
    auto made = TROUPE_TRY(OwnNumbers<C>::make(of_.rows() * width));
    here_.team().run(of_.rows(), Grain::of_bytes(2 * width * static_cast<std::int64_t>(sizeof(C))),
                     [&](std::int64_t begin, std::int64_t end) noexcept {
                       for (std::int64_t row = begin; row < end; ++row) {
                         C* const to = made.get() + row * width;
                         if (row / of_.batch >= ends_[row % of_.batch])
                           std::fill_n(to, width, C(0));
                         else if (layer == 0)
                           std::copy_n(x_->data() + row * width, width, to);
                         else
                           hidden_before(layer, row, to);
                       }
                     });
    return made;
  }
  void hidden_before(std::int64_t layer, std::int64_t row, C* to) const noexcept {
    for (std::int64_t number = (layer - 1) * of_.directions; number < layer * of_.directions; ++number) {
      const RecurrentRun<C> run(op_.terms, of_, ends_, number);
      for (std::int64_t j = 0; j < of_.hidden; ++j)
        *to++ = dnn::hidden_of(run.is_lstm, run.kept_at(kept_of(number), row, j));
    }
  }

  const C* kept_of(std::int64_t number) const noexcept {
    return kept_->data() + number * of_.rows() * op::kKeptNumbers * of_.hidden;
  }
  std::size_t first_weight(std::int64_t number) const noexcept {
    return static_cast<std::size_t>(number) * op_.terms.weights_each();
  }

  const op::DnnRecurrentGradient& op_;
  const SequenceEnds& ends_;
  const HostViews& here_;
  op::RecurrentExtents of_;
  std::optional<Dense<C>> x_;
  std::optional<Dense<C>> kept_;
  DenseList<C> weights_;
  DenseList<C> start_;
  DenseList<C> dend_;
  DenseList<C> dstart_;
  DenseList<C> dweights_;
};

}  // namespace

Result<void> run_op(const op::DnnRecurrentGradient& op, const HostViews& here) {
  const SequenceEnds ends = TROUPE_TRY(SequenceEnds::read(op.terms, op.lengths, op.x.shape[0], here));
  if (op.terms.has_lengths && !is_well(ends.finding(), op.verdict, here)) return {};
  return with_numbers(op.x.dtype, [&]<class C>(std::type_identity<C>) { return BackLayers<C>::run(op, ends, here); });
}

}  // namespace troupe::host
