// What both directions of recurrent layers have on the host: the arrays of an op as plain memory of the type that is
// computed in, the weights of a run, and where its steps are. Sequences are shared by the team, each with all of its
// steps, so nobody waits for others between steps.
#pragma once

#include <optional>
#include <vector>

#include "troupe/backend/host/dnn/dnn_dense.hpp"
#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/dnn/product_panels.hpp"
#include "troupe/op/dnn_recurrent.hpp"
#include "troupe/op/recurrent_functions.hpp"

namespace troupe::host {

/// Some arrays of an op, read or to be written.
template <class C>
class DenseList {
 public:
  static Result<DenseList> reading(const std::vector<op::Argument>& arrays, const HostViews& here) {
    DenseList made;
    for (const op::Argument& array : arrays) made.all_.push_back(TROUPE_TRY(Dense<C>::reading(array.view, here)));
    return made;
  }
  static Result<DenseList> writing(const std::vector<op::Argument>& arrays, const HostViews& here) {
    DenseList made;
    for (const op::Argument& array : arrays) made.all_.push_back(TROUPE_TRY(Dense<C>::writing(array.view, here)));
    return made;
  }
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  C* operator[](std::size_t i) const noexcept { return all_[i].data(); }
  Result<void> finish(Team& team) const {
    for (const Dense<C>& array : all_) TROUPE_TRY(array.finish(team));
    return {};
  }

 private:
  std::vector<Dense<C>> all_;
};

/// Which tokens each sequence has: all, or as many as its length says.
class SequenceEnds {
 public:
  /// With a finding where a length is outside.
  static Result<SequenceEnds> read(const op::RecurrentTerms& terms, const op::View& lengths, std::int64_t tokens,
                                   const HostViews& here) {
    SequenceEnds made;
    made.tokens_ = tokens;
    if (!terms.has_lengths) return made;
    made.lengths_ = TROUPE_TRY(DnnIndices::read(here(lengths), DnnFault::length_outside, tokens + 1, 0, here.team()));
    return made;
  }
  DnnFinding finding() const noexcept {
    DnnFinding found = lengths_ ? lengths_->found() : DnnFinding{};
    found.bound = tokens_;
    return found;
  }
  std::int64_t operator[](std::int64_t sequence) const noexcept { return lengths_ ? (*lengths_)[sequence] : tokens_; }

 private:
  std::int64_t tokens_ = 0;
  std::optional<DnnIndices> lengths_;
};

/// One layer in one direction.
template <class C>
class RecurrentRun {
 public:
  RecurrentRun(const op::RecurrentTerms& terms, const op::RecurrentExtents& of, const SequenceEnds& ends,
               std::int64_t number) noexcept
      : is_lstm(terms.cell == detail::Recurrent::lstm),
        gates(terms.gates()),
        hidden(of.hidden),
        sums(of.sums),
        tokens(of.tokens),
        batch(of.batch),
        layer(number / of.directions),
        direction(number % of.directions),
        width_before(of.width_before(layer)),
        ends_(ends) {}

  /// The row of a step of a sequence, in the order of this direction.
  std::int64_t row(std::int64_t step, std::int64_t sequence) const noexcept {
    return (direction == 0 ? step : tokens - 1 - step) * batch + sequence;
  }
  /// Whether the sequence has a token there.
  bool is_there(std::int64_t step, std::int64_t sequence) const noexcept {
    return row(step, sequence) / batch < ends_[sequence];
  }
  /// Whether there is none before, in the order of this direction.
  bool is_first(std::int64_t step, std::int64_t sequence) const noexcept {
    return step == 0 || !is_there(step - 1, sequence);
  }

  /// What a step kept of hidden number j: `kept` is that of this run.
  dnn::KeptStep<C> kept_at(const C* kept, std::int64_t row, std::int64_t j) const noexcept {
    dnn::KeptStep<C> step;
    const C* const from = kept + row * op::kKeptNumbers * hidden + j;
    for (std::int64_t i = 0; i < op::kKeptNumbers; ++i) step.of[i] = from[i * hidden];
    return step;
  }
  void keep(C* kept, std::int64_t row, std::int64_t j, const dnn::KeptStep<C>& step) const noexcept {
    C* const to = kept + row * op::kKeptNumbers * hidden + j;
    for (std::int64_t i = 0; i < op::kKeptNumbers; ++i) to[i * hidden] = step.of[i];
  }

  bool is_lstm;
  std::int64_t gates;
  std::int64_t hidden;
  std::int64_t sums;
  std::int64_t tokens;
  std::int64_t batch;
  std::int64_t layer;
  std::int64_t direction;
  std::int64_t width_before;

 private:
  const SequenceEnds& ends_;
};

/// c += a b for rows that the team shares.
template <class C>
void add_product(const Panels<C>& b, const C* a, std::int64_t a_row, C* c, std::int64_t c_row, std::int64_t rows,
                 Team& team) noexcept {
  team.run(rows, Grain::of_ns(b.ns_per_row()), [&](std::int64_t begin, std::int64_t end) noexcept {
    b.add(a + begin * a_row, a_row, 1, c + begin * c_row, c_row, end - begin);
  });
}
/// All steps of a sequence, products with the recurrent weights and functions of the gates.
template <class C>
Grain grain_of_steps(const RecurrentRun<C>& run, const Panels<C>& recurrent) noexcept {
  constexpr double kNsPerFunction = 5;
  return Grain::of_ns(static_cast<double>(std::max<std::int64_t>(run.tokens, 1)) *
                      (recurrent.ns_per_row() + kNsPerFunction * static_cast<double>(run.sums)));
}

}  // namespace troupe::host
