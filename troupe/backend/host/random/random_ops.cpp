#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/random/fill_in_order.hpp"
#include "troupe/backend/host/random/random_rows.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"
#include "troupe/op/random.hpp"

namespace troupe::host {
namespace {

random::Source source_of(const op::RandomSource& source) noexcept {
  return {.seed = source.seed, .stream = source.stream};
}

/// The bits of positions from `first` on, with those before it and behind the last that share their blocks.
struct Words {
  static constexpr std::uint64_t kInBlock = 4;
  static constexpr std::uint32_t kThird = random::kWords;
  using Bits = std::uint32_t;
};
struct Numbers {
  static constexpr std::uint64_t kInBlock = 2;
  static constexpr std::uint32_t kThird = random::kNumbers;
  using Bits = std::uint64_t;
};
template <class Kind>
class BitsOf {
 public:
  using Bits = typename Kind::Bits;

  BitsOf(const random::Source& source, std::uint64_t first, std::int64_t count) noexcept
      : before_(static_cast<std::int64_t>(first % 4)), count_((before_ + count + 3) / 4 * 4) {
    random_rows().blocks(source, (first - first % 4) / Kind::kInBlock, Kind::kThird,
                         reinterpret_cast<std::uint32_t*>(bits_), count_ / static_cast<std::int64_t>(Kind::kInBlock));
  }
  /// Of the first position.
  const Bits* data() const noexcept { return bits_ + before_; }
  /// With those around it: a multiple of 4, from a position that is one.
  const Bits* all() const noexcept { return bits_; }
  std::int64_t count() const noexcept { return count_; }
  std::int64_t before() const noexcept { return before_; }

 private:
  std::int64_t before_;
  std::int64_t count_;
  alignas(64) Bits bits_[kPiece + 8];
};

// ---- numbers of floating-point types, by rows ----

/// From what is computed to the elements.
template <class F, Element T>
void convert_to(const F* from, T* to, std::int64_t count) noexcept {
  if (const ConvertRow row = convert_row_for(dtype_of<F>, dtype_of<T>))
    return row(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), count);
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[i]);
}

/// A piece by the row of a distribution, which computes in `F`.
template <Element T, class F, class Bits>
void make_row(const BitsOf<Bits>& bits, RandomRows::Row<typename Bits::Bits, F> row, const RowNumbers& of, T* to,
              std::int64_t count) noexcept {
  if constexpr (std::same_as<T, F>)
    if (bits.count() == count) return row(bits.all(), to, count, of);
  alignas(64) F numbers[kPiece + 8];
  row(bits.all(), numbers, bits.count(), of);
  convert_to(numbers + bits.before(), to, count);
}

/// The same from 64 bits a position; for smaller types from a word, which stands for them.
template <Element T>
void make_wide_row(const random::Source& source, RandomRows::Row<std::uint64_t, double> row, const RowNumbers& of,
                   T* to, std::uint64_t position, std::int64_t count) noexcept {
  if constexpr (std::same_as<T, double>) {
    make_row<T, double>(BitsOf<Numbers>(source, position, count), row, of, to, count);
  } else {
    const BitsOf<Words> words(source, position, count);
    alignas(64) std::uint64_t wide[kPiece + 8];
    alignas(64) double numbers[kPiece + 8];
    random_rows().widen(words.all(), wide, words.count());
    row(wide, numbers, words.count(), of);
    convert_to(numbers + words.before(), to, count);
  }
}

/// Calls `f` with the type of the elements, one of those that have the distribution.
template <class F>
void with_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64: return f(std::type_identity<double>{});
    case DType::f16: return f(std::type_identity<f16>{});
    case DType::bf16: return f(std::type_identity<bf16>{});
    default: return f(std::type_identity<float>{});
  }
}
template <class F>
void with_whole(DType dtype, F&& f) {
  visit(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) f(type);
  });
}

/// What a block of the team is worth it for, for elements that take so long.
Grain grain_of(const op::View& out, double element_ns) noexcept {
  return Grain::smaller(Grain::of_bytes(size_bytes(out.dtype)), Grain::of_ns(element_ns));
}

/// Uniform and normal numbers: in f64, or in f32 for all that is smaller.
template <op::Distribution distribution>
void fill_by_row(const op::RandomFill<distribution>& op, const HostViews& here, const RowNumbers& of,
                 RandomRows::Row<std::uint32_t, float> narrow, RandomRows::Row<std::uint64_t, double> wide) {
  const random::Source source = source_of(op.source);
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(here(op.out), here.team(), grain_of(op.out, 1), op.source.position,
                     [&](T* to, std::uint64_t position, std::int64_t count) noexcept {
                       if constexpr (std::same_as<T, double>)
                         make_row<T, double>(BitsOf<Numbers>(source, position, count), wide, of, to, count);
                       else
                         make_row<T, float>(BitsOf<Words>(source, position, count), narrow, of, to, count);
                     });
  });
}
/// Those that are computed in f64.
template <op::Distribution distribution>
void fill_by_wide_row(const op::RandomFill<distribution>& op, const HostViews& here,
                      RandomRows::Row<std::uint64_t, double> row) {
  const random::Source source = source_of(op.source);
  const RowNumbers of{.first = op.first, .second = op.second};
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(here(op.out), here.team(), grain_of(op.out, 4), op.source.position,
                     [&](T* to, std::uint64_t position, std::int64_t count) noexcept {
                       make_wide_row<T>(source, row, of, to, position, count);
                     });
  });
}

// ---- the others, element by element ----

/// `make(position, word)` for every element.
template <Element T, class Kind, class Make>
void fill_by_bits(const op::RandomSource& from, const op::View& out, const HostViews& here, const Make& make) {
  const random::Source source = source_of(from);
  fill_in_order<T>(here(out), here.team(), grain_of(out, 1.5), from.position,
                   [&](T* to, std::uint64_t position, std::int64_t count) noexcept {
                     const BitsOf<Kind> bits(source, position, count);
                     for (std::int64_t i = 0; i < count; ++i)
                       to[i] = make(position + static_cast<std::uint64_t>(i), bits.data()[i]);
                   });
}
/// `make(numbers)` for every element, with the numbers of its own.
template <Element T, class Make>
void fill_by_own(const op::RandomSource& from, const op::View& out, const HostViews& here, const Make& make) {
  const random::Source source = source_of(from);
  fill_in_order<T>(here(out), here.team(), grain_of(out, 60), from.position,
                   [&](T* to, std::uint64_t position, std::int64_t count) noexcept {
                     for (std::int64_t i = 0; i < count; ++i)
                       to[i] = convert<T>(make(random::OwnNumbers(source, position + static_cast<std::uint64_t>(i))));
                   });
}

}  // namespace

Result<void> run_op(const op::RandomBits& op, const HostViews& here) {
  if (op.out.dtype == DType::u64)
    fill_by_bits<std::uint64_t, Numbers>(op.source, op.out, here, [](auto, std::uint64_t number) { return number; });
  else
    fill_by_bits<std::uint32_t, Words>(op.source, op.out, here, [](auto, std::uint32_t word) { return word; });
  return {};
}

Result<void> run_op(const op::RandomIntegers& op, const HostViews& here) {
  const random::Source source = source_of(op.source);
  const std::uint64_t low = op.low_bits();
  const std::uint64_t range = op.range();
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    if (!random::is_wide(range))
      fill_by_bits<T, Words>(op.source, op.out, here, [=](std::uint64_t position, std::uint32_t word) {
        const auto least = static_cast<std::uint32_t>(range);
        return static_cast<T>(low + random::below(least, word, random::OwnNumbers(source, position)));
      });
    else
      fill_by_bits<T, Numbers>(op.source, op.out, here, [=](std::uint64_t position, std::uint64_t number) {
        random::OwnNumbers own(source, position);
        return static_cast<T>(low + (range == 0 ? number : random::below(range, number, own)));
      });
  });
  return {};
}

Result<void> run_op(const op::RandomDiscrete& op, const HostViews& here) {
  const HostView table = here(op.table);
  const std::int64_t row = table.strides[0] * 8;
  const std::int64_t column = table.strides[1] * 8;
  const auto outcomes = static_cast<std::uint64_t>(table.shape[0]);
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_by_own<T>(op.source, op.out, here, [=](const random::OwnNumbers& own) {
      const random::Pick pick = random::pick(outcomes, own);
      const std::byte* const at = table.data + static_cast<std::int64_t>(pick.place) * row;
      return static_cast<T>(pick.bits < load<std::uint64_t>(at) ? pick.place : load<std::uint64_t>(at + column));
    });
  });
  return {};
}

Result<void> run_op(const op::RandomPermutation& op, const HostViews& here) {
  if (op.out.shape[0] == 0) return {};
  const random::Permutation places(source_of(op.source), op.source.position,
                                   static_cast<std::uint64_t>(op.out.shape[0]));
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(here(op.out), here.team(), grain_of(op.out, 60), 0,
                     [&](T* to, std::uint64_t first, std::int64_t count) noexcept {
                       for (std::int64_t i = 0; i < count; ++i)
                         to[i] = static_cast<T>(places(first + static_cast<std::uint64_t>(i)));
                     });
  });
  return {};
}

Result<void> run_op(const op::RandomUniform& op, const HostViews& here) {
  const op::UniformNumbers numbers = op::uniform_numbers(op.first, op.second, op.out.dtype);
  const int bits = op::uniform_bits(op.out.dtype);
  const RowNumbers of{.first = numbers.low,
                      .second = numbers.width,
                      .third = numbers.top,
                      .shift = 32 - bits,
                      .step = std::ldexp(1.0, -bits)};
  fill_by_row(op, here, of, random_rows().uniform_f32, random_rows().uniform_f64);
  return {};
}
Result<void> run_op(const op::RandomNormal& op, const HostViews& here) {
  const RowNumbers of{.first = op.first, .second = op.second};
  fill_by_row(op, here, of, random_rows().normal_f32, random_rows().normal_f64);
  return {};
}
Result<void> run_op(const op::RandomLogNormal& op, const HostViews& here) {
  fill_by_wide_row(op, here, random_rows().log_normal);
  return {};
}
Result<void> run_op(const op::RandomExponential& op, const HostViews& here) {
  fill_by_wide_row(op, here, random_rows().exponential);
  return {};
}
Result<void> run_op(const op::RandomCauchy& op, const HostViews& here) {
  fill_by_wide_row(op, here, random_rows().cauchy);
  return {};
}

Result<void> run_op(const op::RandomBernoulli& op, const HostViews& here) {
  const random::Source source = source_of(op.source);
  const random::Chance chance = random::chance_of(op.first);
  // A byte of 0 or 1 is a bool, too.
  HostView out = here(op.out);
  out.dtype = DType::u8;
  fill_in_order<std::uint8_t>(out, here.team(), grain_of(op.out, 1), op.source.position,
                              [&](std::uint8_t* to, std::uint64_t position, std::int64_t count) noexcept {
                                const BitsOf<Words> words(source, position, count);
                                for (std::int64_t i = 0; i < count; ++i)
                                  to[i] = random::happens(chance, words.data()[i],
                                                          {source, position + static_cast<std::uint64_t>(i)});
                              });
  return {};
}
Result<void> run_op(const op::RandomPoisson& op, const HostViews& here) {
  const random::PoissonNumbers of = random::poisson_numbers(op.first);
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_by_own<T>(op.source, op.out, here, [&](const random::OwnNumbers& own) { return random::poisson(of, own); });
  });
  return {};
}
Result<void> run_op(const op::RandomGamma& op, const HostViews& here) {
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_by_own<T>(op.source, op.out, here,
                   [&](const random::OwnNumbers& own) { return random::gamma(op.first, op.second, own); });
  });
  return {};
}
Result<void> run_op(const op::RandomBeta& op, const HostViews& here) {
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_by_own<T>(op.source, op.out, here,
                   [&](const random::OwnNumbers& own) { return random::beta(op.first, op.second, own); });
  });
  return {};
}

void add_random(RunTable& table) { table.add(op::RandomOps{}); }

}  // namespace troupe::host
