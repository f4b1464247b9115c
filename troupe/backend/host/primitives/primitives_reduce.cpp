// Rows and segments put together. Numbers go the way of tensor.reduce; what it has not, the functions of bits, is here.
#include <functional>

#include "troupe/backend/host/kernels/element_size.hpp"
#include "troupe/backend/host/kernels/walk.hpp"
#include "troupe/backend/host/primitives/primitives_functions.hpp"
#include "troupe/backend/host/primitives/primitives_ops.hpp"
#include "troupe/backend/host/primitives/primitives_ranks.hpp"
#include "troupe/backend/host/primitives/primitives_rows.hpp"
#include "troupe/backend/host/tensor/tensor_reducer.hpp"

namespace troupe::host {
namespace {

bool is_of_bits(Combine function) noexcept { return function >= Combine::bit_and; }

Reduction as_reduction(Combine function) noexcept {
  switch (function) {
    case Combine::sum: return Reduction::sum;
    case Combine::product: return Reduction::product;
    case Combine::min: return Reduction::min;
    default: return Reduction::max;
  }
}

/// Of bits, in any order.
template <Combine function, class T>
T fold_bits(const Row& row) noexcept {
  constexpr std::int64_t kLanes = 16;
  std::array<T, kLanes> lanes;
  lanes.fill(primitives::neutral<function, T>());
  std::int64_t i = 0;
  if (row.step == std::int64_t{sizeof(T)})
    for (; i + kLanes <= row.count; i += kLanes)
      for (std::int64_t k = 0; k < kLanes; ++k) {
        T& lane = lanes[static_cast<std::size_t>(k)];
        lane = primitives::combine<function>(lane, load_bits_or_bool<T>(row.at + (i + k) * std::int64_t{sizeof(T)}));
      }
  for (; i < row.count; ++i) lanes[0] = primitives::combine<function>(lanes[0], load_bits_or_bool<T>(row[i]));
  for (const T lane : std::span(lanes).subspan(1)) lanes[0] = primitives::combine<function>(lanes[0], lane);
  return lanes[0];
}

/// How bits of one type are put together. What goes through rows is compiled once: bits of any type travel as 64.
struct BitFold {
  std::uint64_t (*fold)(const Row& row) noexcept = nullptr;
  std::uint64_t (*combine)(std::uint64_t a, std::uint64_t b) noexcept = nullptr;
  std::uint64_t neutral = 0;
};

template <Combine function>
BitFold bit_fold(DType dtype) noexcept {
  const auto with_type = []<class T>(std::type_identity<T>) {
    return BitFold{
        .fold = [](const Row& row) noexcept { return static_cast<std::uint64_t>(fold_bits<function, T>(row)); },
        .combine = [](std::uint64_t a, std::uint64_t b) noexcept { return primitives::combine<function>(a, b); },
        .neutral = primitives::neutral<function, T>()};
  };
  if (dtype == DType::boolean) return with_type(std::type_identity<bool>{});
  switch (size_bytes(dtype)) {
    case 1: return with_type(std::type_identity<std::uint8_t>{});
    case 2: return with_type(std::type_identity<std::uint16_t>{});
    case 4: return with_type(std::type_identity<std::uint32_t>{});
    default: return with_type(std::type_identity<std::uint64_t>{});
  }
}

BitFold bit_fold(Combine function, DType dtype) noexcept {
  if (function == Combine::bit_and) return bit_fold<Combine::bit_and>(dtype);
  if (function == Combine::bit_or) return bit_fold<Combine::bit_or>(dtype);
  return bit_fold<Combine::bit_xor>(dtype);
}

/// The lowest bytes of `bits`; little-endian, as every machine here.
void store_low_bytes(std::byte* to, std::uint64_t bits, std::int64_t size) noexcept {
  std::memcpy(to, &bits, static_cast<std::size_t>(size));
}

/// An element that is nothing put together.
struct Neutral {
  Neutral(Combine function, DType dtype) noexcept : size(static_cast<std::size_t>(size_bytes(dtype))) {
    with_combine(function, dtype,
                 [&]<Combine known, class Out>(std::integral_constant<Combine, known>, std::type_identity<Out>) {
                   store(bytes.data(), static_cast<Out>(primitives::neutral<known, primitives::Held<Out>>()));
                 });
  }
  void put(std::byte* to) const noexcept { std::memcpy(to, bytes.data(), size); }

  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  std::size_t size;
};

/// y = nothing put together, everywhere.
void fill_neutral(Combine function, const HostView& y, Team& team) {
  const Neutral nothing(function, y.dtype);
  walk<1>({&y}, team, [&](const Pointers<1>& at, const Steps<1>& step, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) nothing.put(at[0] + i * step[0]);
  });
}

/// A segment's numbers, in the type that is kept.
template <class A>
class SegmentFold {
 public:
  SegmentFold(Combine function, DType in, DType out) noexcept
      : function_(as_reduction(function)), in_(in), load_(load_row_for<A>(in)), store_(store_row_for<A>(out)) {}

  /// Writes what the row is put together to; needs one element or more.
  void run(const Row& row, std::byte* to) const noexcept {
    const A all = visit_function([&]<Reduction known>(std::integral_constant<Reduction, known>) {
      Cascade<known, A> total;
      for (std::int64_t done = 0; done < row.count; done += kRowBlock)
        total.add(fold(row.part(done, std::min(done + kRowBlock, row.count))));
      return total.total();
    });
    store_(&all, 1, to, 0);
  }

 private:
  A fold(const Row& some) const noexcept {
    const auto which = static_cast<std::size_t>(function_);
    if (some.is_plain(sizeof(A)) && in_ == dtype_of<A>)
      return fold_rows<A>().fold[which](reinterpret_cast<const A*>(some.at), some.count);
    Block<A> elements;
    load_(some.at, some.step, some.count, elements.data());
    return fold_rows<A>().fold[which](elements.data(), some.count);
  }
  template <class F>
  A visit_function(const F& f) const noexcept {
    switch (function_) {
      case Reduction::sum: return f(std::integral_constant<Reduction, Reduction::sum>{});
      case Reduction::product: return f(std::integral_constant<Reduction, Reduction::product>{});
      case Reduction::min: return f(std::integral_constant<Reduction, Reduction::min>{});
      default: return f(std::integral_constant<Reduction, Reduction::max>{});
    }
  }

  Reduction function_;
  DType in_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

/// From here on a segment is reduced by the whole team.
constexpr std::int64_t kLongSegment = std::int64_t{1} << 18;

void reduce_row(Combine function, DType in, DType out, const Row& row, std::byte* to, Team& team) {
  Nest kept;
  Nest reduced;
  reduced.add(row.count, {row.step, 0, 0});
  const Reducing what{
      .function = as_reduction(function), .in = in, .out = out, .alpha = op::Scalar(1.0), .beta = op::Scalar(0.0)};
  reduce_nests(what, {row.at, nullptr, to}, kept, reduced, team);
}

using ReduceOne = std::function<void(const Row& segment, std::byte* to)>;

Result<void> reduce_segments(const Offsets& offsets, const Row& x, const Row& y, Team& team,
                             const ReduceOne& reduce_short, const ReduceOne& reduce_long) {
  TROUPE_TRY(offsets.each_part(team, Grain::of_ns(0.5), [&](std::int64_t begin, std::int64_t end) -> Result<void> {
    for (; begin < end; ++begin) {
      const Row segment = x.part(offsets[begin], offsets[begin + 1]);
      if (segment.count > 0 && segment.count < kLongSegment) reduce_short(segment, y[begin]);
    }
    return {};
  }));
  for (std::int64_t i = 0; i < offsets.segments(); ++i)
    if (offsets[i + 1] - offsets[i] >= kLongSegment) reduce_long(x.part(offsets[i], offsets[i + 1]), y[i]);
  return {};
}

}  // namespace

Result<void> run_op(const op::PrimitivesReduce& op, const HostViews& here) {
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  if (y.data == nullptr) return {};
  if (x.data == nullptr) {
    fill_neutral(op.function, y, here.team());
    return {};
  }
  const int rank = x.shape.rank();
  if (is_of_bits(op.function)) {
    const RowsOf<2> rows({&x, &y}, rank);
    const std::int64_t length = length_of(x);
    const std::int64_t step = step_of(x);
    const std::int64_t size = size_bytes(x.dtype);
    const BitFold bits = bit_fold(op.function, x.dtype);
    const auto reduce_one = [&](const Pointers<2>& at) noexcept {
      const Row row{at[0], step, length};
      const std::uint64_t all = here.team().reduce(
          length, Grain::of_bytes(size), bits.neutral,
          [&](std::int64_t begin, std::int64_t end) noexcept { return bits.fold(row.part(begin, end)); }, bits.combine);
      store_low_bytes(at[1], all, size);
    };
    const auto reduce_rows = [&](std::int64_t begin, std::int64_t end) noexcept {
      rows.run(begin, end, [&](std::int64_t, const Pointers<2>& at) { reduce_one(at); });
    };
    if (rows.number() < here.team().size())
      reduce_rows(0, rows.number());
    else
      here.team().run(rows.number(), Grain::of_bytes(length * size), reduce_rows);
    return {};
  }
  Nest kept;
  Nest reduced;
  for (int i = 0; i + 1 < rank; ++i)
    kept.add(x.shape[i], {x.strides[i] * size_bytes(x.dtype), 0, y.strides[i] * size_bytes(y.dtype)});
  reduced.add(length_of(x), {step_of(x), 0, 0});
  const Reducing what{.function = as_reduction(op.function),
                      .in = x.dtype,
                      .out = y.dtype,
                      .alpha = op::Scalar(1.0),
                      .beta = op::Scalar(0.0)};
  reduce_nests(what, {x.data, nullptr, y.data}, kept, reduced, here.team());
  return {};
}

Result<void> run_op(const op::PrimitivesSegmentedReduce& op, const HostViews& here) {
  Team& team = here.team();
  const HostView x = here(op.x);
  const HostView y = here(op.y);
  const Offsets offsets = TROUPE_TRY(Offsets::read(here(op.offsets), x.shape[0], team));
  if (!is_well(offsets.found(), op.verdict, here) || y.data == nullptr) return {};
  if (x.data == nullptr) {
    fill_neutral(op.function, y, team);
    return {};
  }
  const Row x_row = row_of(x);
  const Row y_row = row_of(y);
  const Neutral nothing(op.function, y.dtype);
  team.run(offsets.segments(), Grain::of_bytes(16 + size_bytes(y.dtype)),
           [&](std::int64_t begin, std::int64_t end) noexcept {
             for (; begin < end; ++begin)
               if (offsets[begin] == offsets[begin + 1]) nothing.put(y_row[begin]);
           });
  if (is_of_bits(op.function)) {
    const BitFold bits = bit_fold(op.function, x.dtype);
    const ReduceOne reduce_one = [&](const Row& row, std::byte* to) {
      store_low_bytes(to, bits.fold(row), size_bytes(y.dtype));
    };
    return reduce_segments(offsets, x_row, y_row, team, reduce_one, reduce_one);
  }
  const auto reduce_as = [&]<class A>(std::type_identity<A>) {
    const SegmentFold<A> fold(op.function, x.dtype, y.dtype);
    return reduce_segments(
        offsets, x_row, y_row, team, [&](const Row& row, std::byte* to) noexcept { fold.run(row, to); },
        [&](const Row& row, std::byte* to) { reduce_row(op.function, x.dtype, y.dtype, row, to, team); });
  };
  switch (op::reduced_in(as_reduction(op.function), x.dtype)) {
    case DType::i64: return reduce_as(std::type_identity<std::int64_t>{});
    case DType::u64: return reduce_as(std::type_identity<std::uint64_t>{});
    default: return reduce_as(std::type_identity<double>{});
  }
}

}  // namespace troupe::host
