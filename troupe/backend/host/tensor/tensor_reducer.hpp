// How the terms of a reduction are put together on the CPU, whatever they are: elements of an array, products, or what
// an expression makes. `Elements` says how some neighbouring terms are folded, how they are gathered into sums, and how
// sums are written. Which terms are put together, and in which order, depends on the shapes alone: every team gives the
// same bits.
#pragma once

#include <bit>
#include <complex>
#include <utility>
#include <vector>

#include "troupe/backend/host/team/team.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/backend/host/vectors/whole_rows.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {

/// Below so many elements in a row, whole rows of outputs are better reduced together.
inline constexpr std::int64_t kShortRow = 16;

/// A thread takes so many elements at a time.
inline constexpr double kElementsPerPart = 32768;
/// Where there are fewer outputs than this, and they are long, each is reduced in several parts.
inline constexpr std::int64_t kParts = 64;

template <class A>
const FoldRows<A>& fold_rows() noexcept {
  if constexpr (detail::kIsComplex<A>)
    return complex_folds();
  else if constexpr (std::integral<A>)
    return std::get<FoldRows<A>>(whole_rows().fold);
  else
    return vector_rows().fold;
}

/// Combines in pairs, pairs of pairs and so on, so that rounding grows with the logarithm of what is combined.
template <Reduction function, class A>
class Cascade {
 public:
  void add(A value) noexcept {
    std::size_t level = 0;
    for (std::uint64_t full = count_++; (full & 1) != 0; full >>= 1)
      value = tensor::combine<function>(levels_[level++], value);
    levels_[level] = value;
  }
  A total() const noexcept {
    A all = tensor::nothing<function, A>();
    for (std::uint64_t full = count_; full != 0; full &= full - 1)
      all = tensor::combine<function>(levels_[static_cast<std::size_t>(std::countr_zero(full))], all);
    return all;
  }

 private:
  std::array<A, 64> levels_;  // level i: 2^i blocks, if that bit of the count is set
  std::uint64_t count_ = 0;
};

/// Outputs are made in units: one output, or a strip of neighbours. Each is reduced in one part or in several, and the
/// parts are joined in pairs. Units and parts follow from the shapes.
template <Reduction function, class A, class Nest, class Elements>
class Reducer {
 public:
  using Pointers = typename Nest::Pointers;

  Reducer(Elements elements, const Pointers& start, const Nest& kept, const Nest& reduced)
      : elements_(std::move(elements)), start_(start), kept_(kept), reduced_(reduced) {}

  void run(bool by_strips, Team& team) {
    inner_ = by_strips ? kept_.take_innermost() : reduced_.take_innermost();
    const std::int64_t pieces = (inner_.extent - 1) / kRowBlock + 1;
    strips_ = by_strips ? pieces : 1;
    pieces_ = by_strips ? 1 : pieces;
    units_ = kept_.places() * strips_;
    steps_ = reduced_.places() * pieces_;
    if (units_ == 0) return;
    const double cost = elements_per_unit(by_strips);
    const std::int64_t most_parts = std::max<std::int64_t>(std::min(kParts / units_, steps_), 1);
    parts_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(cost / kElementsPerPart), 1, most_parts);
    const auto grain = Grain::of_items(
        static_cast<std::int64_t>(kElementsPerPart * static_cast<double>(parts_) / std::max(cost, 1.0)));
    if (parts_ == 1) {
      return team.run(units_, grain, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (; begin < end; ++begin) {
          Block<A> sums;
          reduce(by_strips, begin, 0, steps_, sums);
          write(by_strips, begin, sums);
        }
      });
    }
    std::vector<Block<A>> sums(static_cast<std::size_t>(units_ * parts_));
    const auto at = [&](std::int64_t unit, std::int64_t part) -> Block<A>& {
      return sums[static_cast<std::size_t>(unit * parts_ + part)];
    };
    team.run(units_ * parts_, grain, [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin) {
        const std::int64_t part = begin % parts_;
        reduce(by_strips, begin / parts_, steps_ * part / parts_, steps_ * (part + 1) / parts_,
               at(begin / parts_, part));
      }
    });
    for (std::int64_t unit = 0; unit < units_; ++unit) {
      for (std::int64_t step = 1; step < parts_; step *= 2)
        for (std::int64_t part = 0; part + step < parts_; part += 2 * step)
          join(at(unit, part), at(unit, part + step), by_strips ? strip_length(unit) : 1);
      write(by_strips, unit, at(unit, 0));
    }
  }

 private:
  double elements_per_unit(bool by_strips) const noexcept {
    const double rows = static_cast<double>(reduced_.places());
    return rows * static_cast<double>(by_strips ? std::min(inner_.extent, kRowBlock) : inner_.extent);
  }
  std::int64_t strip_begin(std::int64_t unit) const noexcept { return unit % strips_ * kRowBlock; }
  std::int64_t strip_length(std::int64_t unit) const noexcept {
    return std::min(kRowBlock, inner_.extent - strip_begin(unit));
  }
  Pointers place(std::int64_t unit) const noexcept {
    Pointers found{};
    kept_.run(start_, unit / strips_, unit / strips_ + 1, [&](const Pointers& at) { found = at; });
    return found;
  }

  void reduce(bool by_strips, std::int64_t unit, std::int64_t begin, std::int64_t end, Block<A>& sums) const noexcept {
    if (by_strips)
      reduce_strip(unit, begin, end, sums);
    else
      sums[0] = reduce_rows(unit, begin, end);
  }

  /// One output, along its rows; a step is a block of a row.
  A reduce_rows(std::int64_t unit, std::int64_t begin, std::int64_t end) const noexcept {
    Cascade<function, A> total;
    std::int64_t step = begin;
    const std::int64_t first_row = begin / pieces_;
    const std::int64_t last_row = begin < end ? (end - 1) / pieces_ + 1 : first_row;
    reduced_.run(place(unit), first_row, last_row, [&](const Pointers& from) {
      do {
        const std::int64_t done = step % pieces_ * kRowBlock;
        const std::int64_t length = std::min(kRowBlock, inner_.extent - done);
        total.add(elements_.fold(from, inner_.steps, done, length));
      } while (++step < end && step % pieces_ != 0);
    });
    return total.total();
  }

  /// A block of neighbouring outputs at once; a step is a place of what is reduced.
  void reduce_strip(std::int64_t unit, std::int64_t begin, std::int64_t end, Block<A>& sums) const noexcept {
    const std::int64_t done = strip_begin(unit);
    const std::int64_t length = strip_length(unit);
    Block<A> some;
    sums.fill(tensor::nothing<function, A>());
    some.fill(tensor::nothing<function, A>());
    std::int64_t steps = 0;
    reduced_.run(place(unit), begin, end, [&](const Pointers& from) {
      elements_.gather(from, inner_.steps, done, length, some);
      if (++steps % kRowBlock != 0) return;
      join(sums, some, length);
      some.fill(tensor::nothing<function, A>());
    });
    join(sums, some, length);
  }

  static void join(Block<A>& sums, const Block<A>& others, std::int64_t length) noexcept {
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      sums[i] = tensor::combine<function>(sums[i], others[i]);
  }

  void write(bool by_strips, std::int64_t unit, Block<A>& sums) const noexcept {
    const Pointers at = place(unit);
    if (by_strips)
      elements_.write(sums, at[kOut] + strip_begin(unit) * inner_.steps[kOut], inner_.steps[kOut], strip_length(unit));
    else
      elements_.write(sums, at[kOut], 0, 1);
  }

  static constexpr std::size_t kOut = Nest::kViews - 1;

  const Elements elements_;
  const Pointers start_;
  Nest kept_;
  Nest reduced_;
  typename Nest::Axis inner_;  // a strip of outputs, or a row of what is reduced
  std::int64_t strips_ = 1;    // in the innermost axis that is kept
  std::int64_t pieces_ = 1;    // in a row
  std::int64_t units_ = 0;
  std::int64_t steps_ = 0;  // of what is reduced, for each unit
  std::int64_t parts_ = 1;
};

/// Whether neighbouring outputs are reduced together: where they are nearer to each other than the terms of one, or its
/// rows are short. The outputs then are those along the innermost axis that is kept.
template <class Nest>
bool choose_strips(Nest& kept, const Nest& reduced) {
  const auto* const row = reduced.innermost();
  const bool has_short_rows = row == nullptr || row->extent < kShortRow;
  if (has_short_rows && kept.innermost() != nullptr && kept.innermost()->extent < kShortRow)
    kept.put_longest_innermost();
  const auto* const strip = kept.innermost();
  if (strip == nullptr || strip->extent < kShortRow) return false;
  const auto distance = [](const auto& axis) {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v + 1 < Nest::kViews; ++v) sum += std::abs(axis.steps[v]);
    return sum;
  };
  return has_short_rows || distance(*strip) < distance(*row);
}

}  // namespace troupe::host
