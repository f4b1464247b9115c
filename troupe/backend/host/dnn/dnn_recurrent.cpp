// LSTM and GRU forward: of each run first what all tokens give to its gates, in one product, and then step by step the
// product of the state before with the recurrent weights.
#include "troupe/backend/host/dnn/dnn_ops.hpp"
#include "troupe/backend/host/dnn/recurrent_runs.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

/// Fills rows with a bias, or with zeros.
template <class C>
void begin_sums(const C* bias, C* rows, std::int64_t count, std::int64_t length) noexcept {
  for (std::int64_t i = 0; i < count; ++i)
    if (bias != nullptr)
      std::copy_n(bias, length, rows + i * length);
    else
      std::fill_n(rows + i * length, length, C(0));
}

/// What a run reads and writes; null where there is none.
template <class C>
struct RunArrays {
  const C* w_ih;
  const C* w_hh;
  const C* b_ih;
  const C* b_hh;
  const C* h0;
  const C* c0;
  C* h_n;
  C* c_n;
  C* kept;
  const C* in;  // [rows, width before]
  C* out;       // [rows, out_row], of which this direction has some columns
  std::int64_t out_row;
};

/// Some sequences of a run, over all of their steps.
template <class C>
class Steps {
 public:
  Steps(const RecurrentRun<C>& run, const RunArrays<C>& arrays, const Panels<C>& recurrent, const C* in_sums) noexcept
      : run_(run), arrays_(arrays), recurrent_(recurrent), in_sums_(in_sums) {}

  Result<void> go(std::int64_t begin, std::int64_t end) const {
    const std::int64_t count = end - begin, length = count * run_.hidden;
    const auto sums = TROUPE_TRY(OwnNumbers<C>::make(count * run_.sums));
    const auto state = TROUPE_TRY(OwnNumbers<C>::make(2 * length));
    C* const h = state.get();
    C* const c = h + length;
    load(arrays_.h0, begin, h, length);
    load(arrays_.c0, begin, c, length);
    for (std::int64_t step = 0; step < run_.tokens; ++step) {
      begin_sums(arrays_.b_hh, sums.get(), count, run_.sums);
      recurrent_.add(h, run_.hidden, 1, sums.get(), run_.sums, count);
      for (std::int64_t i = 0; i < count; ++i)
        one(step, begin + i, sums.get() + i * run_.sums, h + i * run_.hidden, c + i * run_.hidden);
    }
    store(h, begin, arrays_.h_n, length);
    store(c, begin, arrays_.c_n, length);
    return {};
  }

 private:
  void load(const C* from, std::int64_t sequence, C* to, std::int64_t length) const noexcept {
    if (from != nullptr)
      std::copy_n(from + sequence * run_.hidden, length, to);
    else
      std::fill_n(to, length, C(0));
  }
  void store(const C* from, std::int64_t sequence, C* to, std::int64_t length) const noexcept {
    if (to != nullptr) std::copy_n(from, length, to + sequence * run_.hidden);
  }

  void one(std::int64_t step, std::int64_t sequence, const C* back_sums, C* h, C* c) const noexcept {
    const std::int64_t row = run_.row(step, sequence), hidden = run_.hidden;
    C* const out = arrays_.out + row * arrays_.out_row + run_.direction * hidden;
    if (!run_.is_there(step, sequence)) {
      std::fill_n(out, hidden, C(0));
      if (arrays_.kept != nullptr)
        std::fill_n(arrays_.kept + row * op::kKeptNumbers * hidden, op::kKeptNumbers * hidden, C(0));
      return;
    }
    const C* const in_sums = in_sums_ + row * run_.sums;
    for (std::int64_t j = 0; j < hidden; ++j) {
      C in[4] = {}, back[4] = {};
      for (std::int64_t gate = 0; gate < run_.gates; ++gate) {
        in[gate] = in_sums[gate * hidden + j];
        back[gate] = back_sums[gate * hidden + j];
      }
      const dnn::KeptStep<C> kept = run_.is_lstm ? dnn::lstm_step(in, back, c[j]) : dnn::gru_step(in, back, h[j]);
      c[j] = kept.of[4];
      h[j] = out[j] = dnn::hidden_of(run_.is_lstm, kept);
      if (arrays_.kept != nullptr) run_.keep(arrays_.kept, row, j, kept);
    }
  }

  const RecurrentRun<C>& run_;
  const RunArrays<C>& arrays_;
  const Panels<C>& recurrent_;
  const C* in_sums_;
};

template <class C>
Result<void> go(const RecurrentRun<C>& run, const RunArrays<C>& arrays, Team& team) {
  const std::int64_t rows = run.tokens * run.batch;
  const auto in_sums = TROUPE_TRY(OwnNumbers<C>::make(rows * run.sums));
  {
    const auto weights =
        TROUPE_TRY(Panels<C>::make(arrays.w_ih, run.width_before, run.sums, 1, run.width_before, team));
    begin_sums(arrays.b_ih, in_sums.get(), rows, run.sums);
    add_product(weights, arrays.in, run.width_before, in_sums.get(), run.sums, rows, team);
  }
  const auto recurrent = TROUPE_TRY(Panels<C>::make(arrays.w_hh, run.hidden, run.sums, 1, run.hidden, team));
  const Steps<C> steps(run, arrays, recurrent, in_sums.get());
  return each_part(team, run.batch, grain_of_steps(run, recurrent),
                   [&](std::int64_t begin, std::int64_t end) { return steps.go(begin, end); });
}

template <class C>
Result<void> run_layers(const op::DnnRecurrent& op, const SequenceEnds& ends, const HostViews& here) {
  const op::RecurrentExtents of(op.terms, op.x, op.weights);
  const auto x = TROUPE_TRY(Dense<C>::reading(op.x, here)), y = TROUPE_TRY(Dense<C>::writing(op.y, here));
  const auto weights = TROUPE_TRY(DenseList<C>::reading(op.weights, here));
  const auto start = TROUPE_TRY(DenseList<C>::reading(op.start, here));
  const auto end = TROUPE_TRY(DenseList<C>::writing(op.end, here));
  std::optional<Dense<C>> kept;
  if (op.keeps) kept = TROUPE_TRY(Dense<C>::writing(op.kept, here));
  std::optional<OwnNumbers<C>> between[2];  // what one layer gives to the next
  const std::size_t each = op.terms.weights_each();
  const C* in = x.data();
  for (std::int64_t layer = 0; layer < of.layers(); ++layer) {
    C* out = y.data();
    if (layer + 1 < of.layers()) {
      auto& own = between[layer % 2];
      own = TROUPE_TRY(OwnNumbers<C>::make(of.rows() * of.width()));
      out = own->get();
    }
    for (std::int64_t number = layer * of.directions; number < (layer + 1) * of.directions; ++number) {
      const RecurrentRun<C> run(op.terms, of, ends, number);
      const std::size_t first = static_cast<std::size_t>(number) * each;
      const auto state = [&](const DenseList<C>& list, std::size_t which) {
        return which < list.size() ? list[which] + number * of.batch * of.hidden : nullptr;
      };
      const RunArrays<C> arrays{
          .w_ih = weights[first],
          .w_hh = weights[first + 1],
          .b_ih = op.terms.has_bias ? weights[first + 2] : nullptr,
          .b_hh = op.terms.has_bias ? weights[first + 3] : nullptr,
          .h0 = state(start, 0),
          .c0 = state(start, 1),
          .h_n = state(end, 0),
          .c_n = state(end, 1),
          .kept = kept ? kept->data() + number * of.rows() * op::kKeptNumbers * of.hidden : nullptr,
          .in = in,
          .out = out,
          .out_row = of.width()};
      TROUPE_TRY(go(run, arrays, here.team()));
    }
    in = out;
  }
  TROUPE_TRY(y.finish(here.team()));
  TROUPE_TRY(end.finish(here.team()));
  return kept ? kept->finish(here.team()) : Result<void>();
}

}  // namespace

Result<void> run_op(const op::DnnRecurrent& op, const HostViews& here) {
  const SequenceEnds ends = TROUPE_TRY(SequenceEnds::read(op.terms, op.lengths, op.x.shape[0], here));
  if (op.terms.has_lengths && !is_well(ends.finding(), op.verdict, here)) return {};
  if (op.x.shape[1] == 0) return {};
  return with_numbers(op.x.dtype, [&]<class C>(std::type_identity<C>) { return run_layers<C>(op, ends, here); });
}

}  // namespace troupe::host
