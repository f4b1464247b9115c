// Histograms. Each thread counts a part of the elements, with counts of its own that are added up; where bins are too
// many for that, all count in one place. A count more than there are bins takes what is in none.
#include <atomic>

#include "troupe/backend/host/primitives/primitives_bisect.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"

namespace troupe::host {
namespace {

/// The elements of an array in any order, in rows as long as they can be.
class AllElements {
 public:
  explicit AllElements(const HostView& view) noexcept : start_{nullptr, nullptr, view.data} {
    const std::int64_t size = size_bytes(view.dtype);
    for (int i = view.shape.rank() - 1; i >= 0; --i) nest_.add(view.shape[i], {0, 0, view.strides[i] * size});
    nest_.arrange();
    inner_ = nest_.take_innermost();
    count_ = nest_.places() * inner_.extent;
  }
  std::int64_t count() const noexcept { return count_; }
  /// Calls `f(row)` for elements from `begin` to `end`.
  template <class F>
  void each(std::int64_t begin, std::int64_t end, const F& f) const {
    const std::int64_t first = begin / inner_.extent;
    std::int64_t row = first;
    nest_.run(start_, first, (end - 1) / inner_.extent + 1, [&](const Nest::Pointers& at) {
      const Row whole{at[2], inner_.steps[2], inner_.extent};
      const std::int64_t before = row++ * inner_.extent;
      f(whole.part(std::max<std::int64_t>(begin - before, 0), std::min(end - before, inner_.extent)));
    });
  }

 private:
  Nest nest_;
  Nest::Pointers start_;
  Nest::Axis inner_;
  std::int64_t count_ = 0;
};

/// Counts the elements of `view` by `count(row, add)`, where `add(bin)` is to be called for each.
template <class Count>
Result<void> count_all(const HostView& view, const HostView& counts, double ns_per_element, Team& team,
                       const Count& count) {
  constexpr std::int64_t kSmall = 4096;  // counts that the nearest cache holds beside what is counted
  const AllElements elements(view);
  const std::int64_t bins = counts.shape[0];
  const std::int64_t row_length = bins + 8;
  const std::int64_t parts = std::clamp<std::int64_t>(elements.count() / Grain::of_ns(ns_per_element).items(), 1,
                                                      std::int64_t{2} * team.size());
  const bool is_shared = parts > 1 && bins > kSmall && bins * parts > elements.count();
  const std::int64_t copies = is_shared ? 1 : parts;
  const std::int64_t bytes = copies * row_length * std::int64_t{sizeof(std::int64_t)};
  const Scratch memory = TROUPE_TRY(make_scratch(bytes));
  auto* const all = reinterpret_cast<std::int64_t*>(memory.get());
  team.run(copies * row_length, Grain::of_bytes(sizeof(std::int64_t)), [&](std::int64_t begin, std::int64_t end) noexcept {
    std::fill(all + begin, all + end, 0);
  });
  if (elements.count() > 0)
    team.run(parts, Grain::of_items(1), [&](std::int64_t part, std::int64_t last) noexcept {
      for (; part < last; ++part) {
        const std::int64_t begin = part_begin(elements.count(), part, parts);
        const std::int64_t end = part_begin(elements.count(), part + 1, parts);
        std::int64_t* const mine = is_shared ? all : all + part * row_length;
        elements.each(begin, end, [&](const Row& row) {
          if (is_shared)
            count(row, [mine](std::int64_t bin) {
              std::atomic_ref<std::int64_t>(mine[bin]).fetch_add(1, std::memory_order_relaxed);
            });
          else
            count(row, [mine](std::int64_t bin) { ++mine[bin]; });
        });
      }
    });
  const Row to = row_of(counts);
  with_index(counts.dtype, [&]<class I>(std::type_identity<I>) {
    team.run(bins, Grain::of_bytes(8 * copies), [&](std::int64_t begin, std::int64_t end) noexcept {
      for (; begin < end; ++begin) {
        std::int64_t sum = 0;
        for (std::int64_t copy = 0; copy < copies; ++copy) sum += all[copy * row_length + begin];
        store(to[begin], static_cast<I>(sum));
      }
    });
  });
  return {};
}

template <Element T>
void load_doubles(const Row& row, double* to) noexcept {
  if constexpr (op::is_promoted_to(dtype_of<T>, DType::f64))
    load_row<double, T>(row.at, row.step, row.count, to);
  else
    for (std::int64_t i = 0; i < row.count; ++i) to[i] = static_cast<double>(load<T>(row[i]));
}

/// `primitives::bin_of` of numbers, in loops that become vectors; `bins` for those that are in none.
template <class Bin>
void bins_of(const double* numbers, std::int64_t count, double low, double high, std::int64_t bins, Bin* to) noexcept {
  const double width = high - low;
  const auto number_of_bins = static_cast<double>(bins);
  const auto none = static_cast<Bin>(bins);
  const auto last = static_cast<Bin>(bins - 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = numbers[i];
    const bool is_inside = (number >= low) & (number <= high);
    const double place = (number - low) / width * number_of_bins;
    const auto bin = static_cast<Bin>(is_inside ? place : 0.0);
    to[i] = is_inside ? std::min(bin, last) : none;
  }
}

/// Bins between bounds, by their ranks.
template <class Rank>
class BoundedBins {
 public:
  using Bits = typename Rank::Bits;
  BoundedBins(Rank rank, const Bits* bounds, std::int64_t bins) noexcept
      : rank_(rank), bounds_(bounds), bins_(bins), last_(bounds[bins]) {}

  template <class Add>
  void count(const Row& row, const Add& add) const noexcept {
    const PlainRanks<WholeRank<Bits>> sorted{{}, reinterpret_cast<const std::byte*>(bounds_), bins_ + 1};
    bisect_each(
        sorted, rank_, true, row.count, [&](std::int64_t i) { return row[i]; },
        [&](std::int64_t i, std::int64_t place) {
          const bool is_last = place == bins_ + 1 && rank_(load_bits<Bits>(row[i])) == last_;
          add(is_last ? bins_ - 1 : place == 0 || place > bins_ ? bins_ : place - 1);
        });
  }

 private:
  Rank rank_;
  const Bits* bounds_;
  std::int64_t bins_;
  Bits last_;
};

template <class Rank>
PrimitivesFinding check_bounds(const typename Rank::Bits* bounds, std::int64_t number, bool has_nan) noexcept {
  using Bits = typename Rank::Bits;
  for (std::int64_t i = 0; i < number; ++i) {
    if (has_nan && bounds[i] == static_cast<Bits>(~Bits{0})) return {.fault = PrimitivesFault::bound_is_nan, .place = i};
    if (i > 0 && bounds[i] < bounds[i - 1]) return {.fault = PrimitivesFault::bound_falls, .place = i};
  }
  return {};
}

}  // namespace

Result<void> run_op(const op::PrimitivesHistogram& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView counts = here(op.counts);
  const std::int64_t bins = counts.shape[0];
  return visit(x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if constexpr (detail::kIsComplex<T>) {
      return {};
    } else {
      return count_all(x, counts, 2, here.team(), [&](const Row& row, const auto& add) noexcept {
        Block<double> numbers;
        for (std::int64_t done = 0; done < row.count; done += kRowBlock) {
          const Row some = row.part(done, std::min(done + kRowBlock, row.count));
          load_doubles<T>(some, numbers.data());
          const auto count_some = [&](auto& places) {
            bins_of(numbers.data(), some.count, op.low, op.high, bins, places.data());
            for (std::size_t i = 0; i < static_cast<std::size_t>(some.count); ++i) add(places[i]);
          };
          if (bins < std::numeric_limits<std::int32_t>::max()) {
            Block<std::int32_t> places;
            count_some(places);
          } else {
            Block<std::int64_t> places;
            count_some(places);
          }
        }
      });
    }
  });
}

Result<void> run_op(const op::PrimitivesHistogramBounds& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView counts = here(op.counts);
  const Row bounds = row_of(here(op.bounds));
  return with_rank(x.dtype, SortOrder::ascending, [&](auto rank) -> Result<void> {
    using Rank = decltype(rank);
    using Bits = typename Rank::Bits;
    const Scratch memory = TROUPE_TRY(make_scratch(bounds.count * std::int64_t{sizeof(Bits)}));
    auto* const ranks = reinterpret_cast<Bits*>(memory.get());
    for (std::int64_t i = 0; i < bounds.count; ++i) ranks[i] = rank(load_bits<Bits>(bounds[i]));
    const PrimitivesFinding found = check_bounds<Rank>(ranks, bounds.count, is_floating(x.dtype));
    if (!is_well(found, op.verdict, here)) return {};
    const BoundedBins<Rank> bins(rank, ranks, bounds.count - 1);
    const double ns = 2.0 + std::bit_width(static_cast<std::uint64_t>(bounds.count));
    return count_all(x, counts, ns, here.team(),
                     [&](const Row& row, const auto& add) noexcept { bins.count(row, add); });
  });
}

}  // namespace troupe::host
