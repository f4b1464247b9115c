#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/random/random_bits.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"
#include "troupe/op/random.hpp"

namespace troupe::host {
namespace {

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
void make_wide_row(BlockBits& bits, RandomRows::Row<std::uint64_t, double> row, const RowNumbers& of, T* to,
                   std::uint64_t position, std::int64_t count) noexcept {
  if constexpr (std::same_as<T, double>) {
    make_row<T, double>(BitsOf<Numbers>(bits, position, count), row, of, to, count);
  } else {
    const BitsOf<Words> words(bits, position, count);
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

/// The bits that a distribution over floating-point types takes.
random::Space space_of(const op::View& out) noexcept {
  return out.dtype == DType::f64 ? random::kNumbers : random::kWords;
}

/// Uniform and normal numbers: in f64, or in f32 for all that is smaller.
template <op::Distribution distribution>
void fill_by_row(const op::RandomFill<distribution>& op, const HostViews& here, const RowNumbers& of,
                 RandomRows::Row<std::uint32_t, float> narrow, RandomRows::Row<std::uint64_t, double> wide) {
  const OpBits bits(op.source, space_of(op.out));
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(here(op.out), here.team(), bits.grain(grain_of(op.out, 1)), op.source.position, bits,
                     [&](BlockBits& block, T* to, std::uint64_t position, std::int64_t count) noexcept {
                       if constexpr (std::same_as<T, double>)
                         make_row<T, double>(BitsOf<Numbers>(block, position, count), wide, of, to, count);
                       else
                         make_row<T, float>(BitsOf<Words>(block, position, count), narrow, of, to, count);
                     });
  });
}
/// Those that are computed in f64.
template <op::Distribution distribution>
void fill_by_wide_row(const op::RandomFill<distribution>& op, const HostViews& here,
                      RandomRows::Row<std::uint64_t, double> row) {
  const OpBits bits(op.source, space_of(op.out));
  const RowNumbers of{.first = op.first, .second = op.second};
  with_float(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(here(op.out), here.team(), bits.grain(grain_of(op.out, 4)), op.source.position, bits,
                     [&](BlockBits& block, T* to, std::uint64_t position, std::int64_t count) noexcept {
                       make_wide_row<T>(block, row, of, to, position, count);
                     });
  });
}

// ---- the others, element by element ----

/// `make(word, numbers of its own)` for every element.
template <Element T, class Kind, class Make>
void fill_by_bits(const op::RandomSource& from, const op::View& out, const HostViews& here, const Make& make) {
  const OpBits all(from, Kind::kSpace);
  fill_in_order<T>(here(out), here.team(), all.grain(grain_of(out, 1.5)), from.position, all,
                   [&](BlockBits& block, T* to, std::uint64_t position, std::int64_t count) noexcept {
                     const BitsOf<Kind> bits(block, position, count);
                     for (std::int64_t i = 0; i < count; ++i)
                       to[i] =
                           make(bits.data()[i], block.own(position + static_cast<std::uint64_t>(i), bits.data()[i]));
                   });
}
/// `make(numbers)` for every element, with the numbers of its own.
template <Element T, class Make>
void fill_by_own(const op::RandomSource& from, const op::View& out, const HostViews& here, const Make& make) {
  const OpBits all(from, random::kNumbers);
  fill_in_order<T>(
      here(out), here.team(), all.grain(grain_of(out, 60)), from.position, all,
      [&](BlockBits& block, T* to, std::uint64_t position, std::int64_t count) noexcept {
        std::optional<BitsOf<Numbers>> bits;
        if (!block.source().is_by_counter) bits.emplace(block, position, count);
        for (std::int64_t i = 0; i < count; ++i)
          to[i] = convert<T>(make(block.own(position + static_cast<std::uint64_t>(i), bits ? bits->data()[i] : 0)));
      });
}

}  // namespace

Result<void> run_op(const op::RandomBits& op, const HostViews& here) {
  if (op.out.dtype == DType::u64)
    fill_by_bits<std::uint64_t, Numbers>(op.source, op.out, here, [](std::uint64_t number, auto) { return number; });
  else
    fill_by_bits<std::uint32_t, Words>(op.source, op.out, here, [](std::uint32_t word, auto) { return word; });
  return {};
}

Result<void> run_op(const op::RandomIntegers& op, const HostViews& here) {
  const std::uint64_t low = op.low_bits();
  const std::uint64_t range = op.range();
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    if (!random::is_wide(range))
      fill_by_bits<T, Words>(op.source, op.out, here, [=](std::uint32_t word, const random::OwnNumbers& own) {
        return static_cast<T>(low + random::below(static_cast<std::uint32_t>(range), word, own));
      });
    else
      fill_by_bits<T, Numbers>(op.source, op.out, here, [=](std::uint64_t number, random::OwnNumbers own) {
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
  const random::Permutation places(random::own_source_at(op.source, op.source.position), op.source.position,
                                   static_cast<std::uint64_t>(op.out.shape[0]));
  with_whole(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    fill_in_order<T>(
        here(op.out), here.team(), grain_of(op.out, 60), 0, [](std::uint64_t) noexcept { return 0; },
        [&](int, T* to, std::uint64_t first, std::int64_t count) noexcept {
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
  if (op::has_points(op.source.engine)) {
    fill_by_wide_row(op, here, random_rows().point_normal);
  } else {
    const RowNumbers of{.first = op.first, .second = op.second};
    fill_by_row(op, here, of, random_rows().normal_f32, random_rows().normal_f64);
  }
  return {};
}
Result<void> run_op(const op::RandomLogNormal& op, const HostViews& here) {
  const RandomRows& rows = random_rows();
  fill_by_wide_row(op, here, op::has_points(op.source.engine) ? rows.point_log_normal : rows.log_normal);
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
  const random::Chance chance = random::chance_of(op.first);
  const auto happens = [=](std::uint32_t word, const random::OwnNumbers& own) {
    return static_cast<std::uint8_t>(random::happens(chance, word, own));
  };
  // A bool is a byte, too.
  op::View bytes = op.out;
  bytes.dtype = DType::u8;
  fill_by_bits<std::uint8_t, Words>(op.source, bytes, here, happens);
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
