#include "troupe/backend/host/tensor/tensor_reduce.hpp"

#include <bit>
#include <complex>
#include <vector>

#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/backend/host/vectors/whole_rows.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

/// Below so many elements in a row, whole rows of outputs are better reduced together.
constexpr std::int64_t kShortRow = 16;

/// A thread takes so many elements at a time.
constexpr double kElementsPerPart = 32768;
/// Where there are fewer outputs than this, and they are long, each is reduced in several parts.
constexpr std::int64_t kParts = 64;

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

/// How elements are read, and how what they were reduced to is written.
template <Reduction function, class A>
class Elements {
 public:
  Elements(const Reducing& what, double count)
      : load_(load_row_for<A>(what.in)),
        load_out_(load_row_for<A>(what.out)),
        store_(store_row_for<A>(what.out)),
        multiplies_(what.multiplies),
        is_f32_(what.in == DType::f32 && std::same_as<A, double>),
        is_plain_(what.in == dtype_of<A>),
        alpha_(what.alpha.as<A>()),
        beta_(what.beta.as<A>()),
        count_(count) {}

  /// The terms of a part of a row, combined; those that lie side by side are taken where they are.
  A fold(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length) const noexcept {
    const std::byte* const row = from[0] + done * steps[0];
    if (is_f32_ && lies_well<float>(row, steps[0])) return rows().fold_f32[kFunction](as<float>(row), length);
    if (is_plain_ && lies_well<A>(row, steps[0])) return rows().fold[kFunction](as<A>(row), length);
    Block<A> elements;
    read(from, steps, done, length, elements);
    return rows().fold[kFunction](elements.data(), length);
  }
  /// The same, one by one into sums.
  void gather(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length,
              Block<A>& sums) const noexcept {
    const std::byte* const row = from[0] + done * steps[0];
    if (is_f32_ && lies_well<float>(row, steps[0]))
      return rows().gather_f32[kFunction](sums.data(), as<float>(row), length);
    if (is_plain_ && lies_well<A>(row, steps[0])) return rows().gather[kFunction](sums.data(), as<A>(row), length);
    Block<A> elements;
    read(from, steps, done, length, elements);
    rows().gather[kFunction](sums.data(), elements.data(), length);
  }
  void write(Block<A>& sums, std::byte* to, std::int64_t step, std::int64_t length) const noexcept {
    Block<A> before;
    if (beta_ != A{}) load_out_(to, step, length, before.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      A result = tensor::finish<function>(sums[i], count_);
      if (alpha_ != A{1}) result = tensor::times(alpha_, result);
      if (beta_ != A{}) result = tensor::plus(result, tensor::times(beta_, before[i]));
      sums[i] = result;
    }
    store_(sums.data(), length, to, step);
  }

 private:
  static constexpr auto kFunction = static_cast<std::size_t>(function);

  static const FoldRows<A>& rows() noexcept { return fold_rows<A>(); }
  template <class T>
  bool lies_well(const std::byte* row, std::int64_t step) const noexcept {
    return !multiplies_ && step == static_cast<std::int64_t>(sizeof(T)) &&
           reinterpret_cast<std::uintptr_t>(row) % alignof(T) == 0;
  }
  template <class T>
  static const T* as(const std::byte* row) noexcept {
    return reinterpret_cast<const T*>(row);
  }
  void read(const Nest::Pointers& from, const Nest::Steps& steps, std::int64_t done, std::int64_t length,
            Block<A>& elements) const noexcept {
    load_(from[0] + done * steps[0], steps[0], length, elements.data());
    if (!multiplies_) return;
    Block<A> others;
    load_(from[1] + done * steps[1], steps[1], length, others.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      elements[i] = tensor::times(elements[i], others[i]);
  }

  LoadRow<A> load_;
  LoadRow<A> load_out_;
  StoreRow<A> store_;
  bool multiplies_;
  bool is_f32_;
  bool is_plain_;  // of type `A`
  A alpha_;
  A beta_;
  double count_;
};

/// Outputs are made in units: one output, or a strip of neighbours. Each is reduced in one part or in several, and the
/// parts are joined in pairs. Units and parts follow from the shapes.
template <Reduction function, class A>
class Reducer {
 public:
  Reducer(const Reducing& what, const Nest::Pointers& start, const Nest& kept, const Nest& reduced)
      : elements_(what, reduced.elements()), start_(start), kept_(kept), reduced_(reduced) {}

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
  Nest::Pointers place(std::int64_t unit) const noexcept {
    Nest::Pointers found{};
    kept_.run(start_, unit / strips_, unit / strips_ + 1, [&](const Nest::Pointers& at) { found = at; });
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
    reduced_.run(place(unit), first_row, last_row, [&](const Nest::Pointers& from) {
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
    reduced_.run(place(unit), begin, end, [&](const Nest::Pointers& from) {
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
    const Nest::Pointers at = place(unit);
    if (by_strips)
      elements_.write(sums, at[2] + strip_begin(unit) * inner_.steps[2], inner_.steps[2], strip_length(unit));
    else
      elements_.write(sums, at[2], 0, 1);
  }

  const Elements<function, A> elements_;
  const Nest::Pointers start_;
  Nest kept_;
  Nest reduced_;
  Nest::Axis inner_;         // a strip of outputs, or a row of what is reduced
  std::int64_t strips_ = 1;  // in the innermost axis that is kept
  std::int64_t pieces_ = 1;  // in a row
  std::int64_t units_ = 0;
  std::int64_t steps_ = 0;  // of what is reduced, for each unit
  std::int64_t parts_ = 1;
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
void reduce_as(const Reducing& what, const Nest::Pointers& at, Nest& kept, const Nest& reduced, Team& team) {
  const bool by_strips = choose_strips(kept, reduced);
  tensor::with_function<A>(what.function, [&]<Reduction function>(std::integral_constant<Reduction, function>) {
    Reducer<function, A>(what, at, kept, reduced).run(by_strips, team);
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

void reduce_nests(const Reducing& what, const Nest::Pointers& at, Nest kept, Nest reduced, Team& team) {
  if (reduced.is_empty()) kept.stay_in_inputs();
  kept.arrange();
  reduced.arrange();
  switch (op::reduced_in(what.function, what.in)) {
    case DType::c128: reduce_as<std::complex<double>>(what, at, kept, reduced, team); break;
    case DType::i64: reduce_as<std::int64_t>(what, at, kept, reduced, team); break;
    case DType::u64: reduce_as<std::uint64_t>(what, at, kept, reduced, team); break;
    default: reduce_as<double>(what, at, kept, reduced, team); break;
  }
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
  const Reducing what{
      .function = op::computed_by(op.function), .in = in.dtype, .out = out.dtype, .alpha = op.alpha, .beta = op.beta};
  reduce_nests(what, {in.data, nullptr, out.data}, kept, reduced, here.team());
  return {};
}

}  // namespace troupe::host
