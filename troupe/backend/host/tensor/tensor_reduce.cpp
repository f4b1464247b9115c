#include "troupe/backend/host/tensor/tensor_reduce.hpp"

#include <bit>
#include <complex>

#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

/// Below so many elements in a row, whole rows of outputs are better reduced together.
constexpr std::int64_t kShortRow = 16;

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

template <Reduction function, class A>
A fold(const Block<A>& block, std::int64_t count) noexcept {
  constexpr std::size_t kLanes = 8;
  std::array<A, kLanes> lanes;
  lanes.fill(tensor::nothing<function, A>());
  std::size_t i = 0;
  for (; i + kLanes <= static_cast<std::size_t>(count); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = tensor::combine<function>(lanes[lane], tensor::term<function>(block[i + lane]));
  for (; i < static_cast<std::size_t>(count); ++i)
    lanes[i % kLanes] = tensor::combine<function>(lanes[i % kLanes], tensor::term<function>(block[i]));
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      lanes[lane] = tensor::combine<function>(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

template <Reduction function, class A>
class Reducer {
 public:
  Reducer(const Reducing& what, double count)
      : load_(load_row_for<A>(what.in)),
        load_out_(load_row_for<A>(what.out == what.in ? what.in : DType::boolean)),
        store_(store_row_for<A>(what.out)),
        multiplies_(what.multiplies),
        alpha_(what.alpha.as<A>()),
        beta_(what.beta.as<A>()),
        count_(count) {
    if (detail::kIsComplex<A> && !is_complex(what.out)) load_out_ = load_real_row(what.out);
  }

  /// Each output by itself, along its rows.
  void by_rows(const Nest::Pointers& start, const Nest& kept, Nest& reduced) {
    const Nest::Axis row = reduced.take_innermost();
    kept.run(start, [&](const Nest::Pointers& at) {
      Cascade<function, A> total;
      reduced.run(at, [&](const Nest::Pointers& from) {
        for (std::int64_t done = 0; done < row.extent; done += kRowBlock) {
          const std::int64_t length = std::min(kRowBlock, row.extent - done);
          read(from, row.steps, done, length);
          total.add(fold<function>(elements_, length));
        }
      });
      sums_[0] = total.total();
      write(at[2], 0, 1);
    });
  }

  /// A block of neighbouring outputs at once.
  void by_strips(const Nest::Pointers& start, Nest& kept, const Nest& reduced) {
    const Nest::Axis strip = kept.take_innermost();
    kept.run(start, [&](const Nest::Pointers& at) {
      for (std::int64_t done = 0; done < strip.extent; done += kRowBlock) {
        const std::int64_t length = std::min(kRowBlock, strip.extent - done);
        sums_.fill(tensor::nothing<function, A>());
        some_.fill(tensor::nothing<function, A>());
        std::int64_t steps = 0;
        reduced.run(at, [&](const Nest::Pointers& from) {
          read(from, strip.steps, done, length);
          for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
            some_[i] = tensor::combine<function>(some_[i], tensor::term<function>(elements_[i]));
          if (++steps % kRowBlock == 0) add_some(length);
        });
        add_some(length);
        write(at[2] + done * strip.steps[2], strip.steps[2], length);
      }
    });
  }

 private:
  static LoadRow<A> load_real_row(DType dtype) {
    return dtype == DType::f32 ? LoadRow<A>(load_row<A, float>) : LoadRow<A>(load_row<A, double>);
  }

  void read(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length) {
    load_(from[0] + done * steps[0], steps[0], length, elements_.data());
    if (!multiplies_) return;
    load_(from[1] + done * steps[1], steps[1], length, others_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      elements_[i] = tensor::times(elements_[i], others_[i]);
  }

  void add_some(std::int64_t length) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      sums_[i] = tensor::combine<function>(sums_[i], some_[i]);
      some_[i] = tensor::nothing<function, A>();
    }
  }

  void write(std::byte* to, std::int64_t step, std::int64_t length) {
    if (beta_ != A{}) load_out_(to, step, length, others_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      A result = tensor::finish<function>(sums_[i], count_);
      if (alpha_ != A{1}) result = tensor::times(alpha_, result);
      if (beta_ != A{}) result += tensor::times(beta_, others_[i]);
      sums_[i] = result;
    }
    store_(sums_.data(), length, to, step);
  }

  LoadRow<A> load_;
  LoadRow<A> load_out_;
  StoreRow<A> store_;
  bool multiplies_;
  A alpha_;
  A beta_;
  double count_;
  Block<A> elements_;
  Block<A> others_;
  Block<A> some_;
  Block<A> sums_;
};

/// Whether neighbouring outputs are reduced together: where they are nearer to each other than the terms of one, or its
/// rows are short. The outputs then are those along the innermost axis that is kept.
bool choose_strips(Nest& kept, const Nest& reduced) {
  const Nest::Axis* const row = reduced.innermost();
  const bool has_short_rows = row == nullptr || row->extent < kShortRow;
  if (has_short_rows && kept.innermost() != nullptr && kept.innermost()->extent < kShortRow)
    kept.put_longest_innermost();
  const Nest::Axis* const strip = kept.innermost();
  if (strip == nullptr || strip->extent < kShortRow) return false;
  const auto distance = [](const Nest::Axis& axis) { return std::abs(axis.steps[0]) + std::abs(axis.steps[1]); };
  return has_short_rows || distance(*strip) < distance(*row);
}

template <class A>
void reduce_as(const Reducing& what, const Nest::Pointers& at, Nest& kept, Nest& reduced) {
  const bool by_strips = choose_strips(kept, reduced);
  tensor::with_function<!detail::kIsComplex<A>>(what.function,
                                                [&]<Reduction function>(std::integral_constant<Reduction, function>) {
                                                  Reducer<function, A> reducer(what, reduced.elements());
                                                  if (by_strips)
                                                    reducer.by_strips(at, kept, reduced);
                                                  else
                                                    reducer.by_rows(at, kept, reduced);
                                                });
}

}  // namespace

void Nest::add(std::int64_t extent, const Steps& steps) noexcept {
  if (extent == 0) is_empty_ = true;
  if (extent > 1) axes_[count_++] = {extent, steps};
}

void Nest::arrange() noexcept {
  const auto is_denser = [](const Axis& x, const Axis& y) {
    for (std::size_t v = 0; v < x.steps.size(); ++v)
      if (x.steps[v] != y.steps[v]) return std::abs(x.steps[v]) < std::abs(y.steps[v]);
    return false;
  };
  for (std::size_t i = 1; i < count_; ++i)
    for (std::size_t j = i; j > 0 && is_denser(axes_[j], axes_[j - 1]); --j) std::swap(axes_[j], axes_[j - 1]);
  std::size_t last = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    Axis& inner = axes_[last];
    bool side_by_side = true;
    for (std::size_t v = 0; v < inner.steps.size(); ++v)
      side_by_side &= axes_[i].steps[v] == inner.steps[v] * inner.extent;
    if (side_by_side)
      inner.extent *= axes_[i].extent;
    else
      axes_[++last] = axes_[i];
  }
  count_ = std::min(count_, last + 1);
}

void Nest::put_longest_innermost() noexcept {
  std::size_t longest = 0;
  for (std::size_t i = 1; i < count_; ++i)
    if (axes_[i].extent > axes_[longest].extent) longest = i;
  std::swap(axes_[0], axes_[longest]);
}

Nest::Axis Nest::take_innermost() noexcept {
  if (count_ == 0) return {};
  const Axis taken = axes_[0];
  std::copy(axes_.begin() + 1, axes_.begin() + static_cast<std::ptrdiff_t>(count_), axes_.begin());
  --count_;
  return taken;
}

double Nest::elements() const noexcept {
  double count = is_empty_ ? 0 : 1;
  for (std::size_t i = 0; i < count_; ++i) count *= static_cast<double>(axes_[i].extent);
  return count;
}

void Nest::stay_in_inputs() noexcept {
  for (Axis& axis : axes_) axis.steps = {0, 0, axis.steps[2]};
}

void reduce_nests(const Reducing& what, const Nest::Pointers& at, Nest kept, Nest reduced) {
  if (reduced.is_empty()) kept.stay_in_inputs();
  kept.arrange();
  reduced.arrange();
  if (is_complex(what.in))
    reduce_as<std::complex<double>>(what, at, kept, reduced);
  else
    reduce_as<double>(what, at, kept, reduced);
}

Result<void> run_op(const op::Reduce& op, const HostViews& here) {
  const HostView in = here(op.in);
  const HostView out = here(op.out);
  if (out.data == nullptr) return {};
  const std::int64_t in_size = size_bytes(in.dtype);
  const std::int64_t out_size = size_bytes(out.dtype);
  Nest kept;
  Nest reduced;
  for (int i = 0; i < in.shape.rank(); ++i) {
    const bool is_kept = in.shape[i] == out.shape[i];
    (is_kept ? kept : reduced).add(in.shape[i], {in.strides[i] * in_size, 0, is_kept ? out.strides[i] * out_size : 0});
  }
  reduce_nests({.function = op.function, .in = in.dtype, .out = out.dtype, .alpha = op.alpha, .beta = op.beta},
               {in.data, nullptr, out.data}, kept, reduced);
  return {};
}

}  // namespace troupe::host
