#include "troupe/op/random_words.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace troupe::inline v0::random {
namespace {

// Where streams and numbers begin. Those of a stream never meet: 2^64 words, then 2^65 of numbers from step 2^65 on.
constexpr int kFirstNumberBit = 65;
constexpr int kXorwowStreamBit = 67, kMrgStreamBit = 76;  // as far apart as cuRAND's subsequences

Steps first_step(const op::RandomSource& source, std::uint64_t position, bool are_numbers, int stream_bit) noexcept {
  const Steps stream{std::uint64_t{source.stream} << (stream_bit - 64), 0};
  if (!are_numbers) return stream + Steps{0, position};
  return stream + Steps::power_of_2(kFirstNumberBit) + times(position, 2);
}

/// As cuRAND's curand_init makes of a seed.
Xorwow xorwow_of(std::uint64_t seed) noexcept {
  const std::uint32_t t0 = 1'099'087'573U * (static_cast<std::uint32_t>(seed) ^ 0xAAD2'6B49U);
  const std::uint32_t t1 = 2'591'861'531U * (static_cast<std::uint32_t>(seed >> 32) ^ 0xF7DC'EFDDU);
  return {{123'456'789U + t0, 362'436'069U ^ t0, 521'288'629U + t1, 88'675'123U ^ t1, 5'783'321U + t0},
          6'615'241U + t1 + t0};
}

/// The same; the one seed of which all would be 0 is taken for seed 0, whose state is L'Ecuyer's.
Mrg32k3a mrg_of(std::uint64_t seed) noexcept {
  constexpr std::uint64_t kFirst = 12'345;
  const std::uint32_t x1 = static_cast<std::uint32_t>(seed) ^ 0x5555'5555U;
  const std::uint32_t x2 = static_cast<std::uint32_t>(seed >> 32) ^ 0xAAAA'AAAAU;
  Mrg32k3a state;
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t factor = seed == 0 || (x1 == 0 && x2 == 0) ? 1 : (half + i) % 2 == 0 ? x1 : x2;
      state.s[half][i] = static_cast<std::uint32_t>(factor * kFirst % Mrg32k3a::modulus(half));
    }
  return state;
}

/// The authors' init_genrand, which std::mt19937 has, too.
Mt19937State mt19937_of_word(std::uint32_t seed) noexcept {
  Mt19937State state;
  state.words[0] = seed;
  for (std::uint32_t i = 1; i < Mt19937::kWords; ++i)
    state.words[i] = 1'812'433'253U * (state.words[i - 1] ^ state.words[i - 1] >> 30) + i;
  return state;
}
/// The authors' init_by_array.
Mt19937State mt19937_of_words(const std::vector<std::uint32_t>& key) noexcept {
  constexpr std::size_t kWords = Mt19937::kWords;
  Mt19937State state = mt19937_of_word(19'650'218U);
  std::size_t i = 1;
  const auto mix = [&](std::uint32_t factor) {
    return state.words[i] ^ (state.words[i - 1] ^ state.words[i - 1] >> 30) * factor;
  };
  const auto go_on = [&] {
    if (++i < kWords) return;
    state.words[0] = state.words[kWords - 1];
    i = 1;
  };
  std::size_t j = 0;
  for (std::size_t k = 0; k < kWords; ++k, j = (j + 1) % key.size()) {
    state.words[i] = mix(1'664'525U) + key[j] + static_cast<std::uint32_t>(j);
    go_on();
  }
  for (std::size_t k = 0; k + 1 < kWords; ++k) {
    state.words[i] = mix(1'566'083'941U) - static_cast<std::uint32_t>(i);
    go_on();
  }
  state.words[0] = 0x8000'0000U;
  return state;
}
Mt19937State mt19937_of(std::uint64_t seed, std::uint32_t stream) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  return high == 0 && stream == 0 ? mt19937_of_word(low) : mt19937_of_words({low, high, stream});
}

/// So many steps are made one by one in less time than a jump takes.
constexpr std::uint64_t kWalked = std::uint64_t{1} << 19;

Mt19937State moved(const Mt19937State& state, const Steps& steps) {
  if (steps.high != 0 || steps.low > kWalked) return jumped(state, steps);
  std::vector<std::uint32_t> words(state.words, state.words + Mt19937::kWords);
  for (std::uint64_t i = 0; i < steps.low; ++i) {
    const std::size_t at = i % Mt19937::kWords;
    words[at] = Mt19937::next_word(words[at], words[(at + 1) % Mt19937::kWords],
                                   words[(at + Mt19937::kMiddle) % Mt19937::kWords]);
  }
  Mt19937State there;
  std::ranges::rotate_copy(words, words.begin() + static_cast<std::ptrdiff_t>(steps.low % Mt19937::kWords),
                           there.words);
  return there;
}

RandomStart::State first_state(const op::RandomSource& source, std::uint64_t position, bool are_numbers) {
  switch (source.engine) {
    case RandomEngine::xorwow:
      return jumped(xorwow_of(source.seed), first_step(source, position, are_numbers, kXorwowStreamBit));
    case RandomEngine::mrg32k3a:
      return jumped(mrg_of(source.seed), first_step(source, position, are_numbers, kMrgStreamBit));
    case RandomEngine::mt19937: {
      op::RandomSource first = source;
      first.stream = 0;  // streams begin with other states
      return moved(mt19937_of(source.seed, source.stream), first_step(first, position, are_numbers, 64));
    }
    case RandomEngine::scrambled_sobol32: return SobolTable(source.dimensions, source_of(source), true);
    case RandomEngine::scrambled_sobol64: return SobolTable(source.dimensions, source_of(source), false);
    default: return SobolTable(source.dimensions);
  }
}

}  // namespace

void Mt19937Words::renew() noexcept {
  constexpr int kWords = Mt19937::kWords;
  std::uint32_t* const w = state_.words;
  for (int i = 0; i < kWords - 1; ++i)
    w[i] = Mt19937::next_word(w[i], w[i + 1], w[i < Mt19937::kAtOnce ? i + Mt19937::kMiddle : i - Mt19937::kAtOnce]);
  w[kWords - 1] = Mt19937::next_word(w[kWords - 1], w[0], w[Mt19937::kMiddle - 1]);
  taken_ = 0;
}

SobolWords::SobolWords(const SobolTable& table, bool is_of_32_bits, bool are_numbers, std::uint64_t position)
    : table_(&table),
      is_of_32_bits_(is_of_32_bits),
      are_numbers_(are_numbers),
      dimension_(static_cast<std::uint32_t>(position % table.dimensions())),
      point_(position / table.dimensions()),
      coordinates_(table.dimensions()) {
  for (std::uint32_t i = 0; i < table.dimensions(); ++i) {
    // Those before the first one that is taken belong to the next point already.
    const std::uint64_t point = point_ + (i < dimension_ ? 1 : 0);
    coordinates_[i] = sobol_coordinate(table.directions(i), point) ^ table.shifts()[i];
  }
}

std::uint32_t SobolWords::next() noexcept {
  const std::uint64_t coordinate = coordinates_[dimension_];
  if (!are_numbers_) {
    go_on();
    return static_cast<std::uint32_t>(coordinate >> 32);
  }
  const std::uint64_t number = sobol_number(coordinate, is_of_32_bits_);
  const bool is_upper_half = std::exchange(is_upper_half_, !is_upper_half_);
  if (is_upper_half) go_on();
  return static_cast<std::uint32_t>(is_upper_half ? number >> 32 : number);
}

void SobolWords::go_on() noexcept {
  // One bit of Gray's code changes from a point to the next.
  const int changed = std::countr_one(point_);
  if (changed < kSobolBits) coordinates_[dimension_] ^= table_->directions(dimension_)[changed];
  if (++dimension_ < table_->dimensions()) return;
  dimension_ = 0;
  ++point_;
}

void RandomWords::take(std::uint64_t first, std::uint32_t* out, std::int64_t count) noexcept {
  const auto is_taken = [&] { return static_cast<std::int64_t>(next_ - first) > 0; };
  for (; is_taken() && count > 0; ++first, --count) *out++ = last_[first % kKept];
  if (count <= 0) return;
  std::visit(
      [&](auto& engine) {
        for (std::int64_t i = 0; i < count; ++i) out[i] = engine.next();
      },
      engine_);
  next_ += static_cast<std::uint64_t>(count);
  const std::uint64_t kept = std::min<std::uint64_t>(kKept, static_cast<std::uint64_t>(count));
  for (std::uint64_t word = next_ - kept; word < next_; ++word)
    last_[word % kKept] = out[static_cast<std::size_t>(word - (next_ - static_cast<std::uint64_t>(count)))];
}

RandomStart::RandomStart(const op::RandomSource& source, Space space)
    : are_numbers_(space == kNumbers),
      is_of_32_bits_(source.engine == RandomEngine::sobol32 || source.engine == RandomEngine::scrambled_sobol32),
      position_(source.position - source.position % 4),
      state_(first_state(source, position_, are_numbers_)) {}

RandomStart::State RandomStart::state_at(std::uint64_t position) const {
  const Steps further = times(position - position_, static_cast<std::uint64_t>(words_each()));
  if (const auto* const state = std::get_if<Mt19937State>(&state_)) return moved(*state, further);
  if (const auto* const state = std::get_if<Xorwow>(&state_)) return jumped(*state, further);
  if (const auto* const state = std::get_if<Mrg32k3a>(&state_)) return jumped(*state, further);
  return state_;
}

RandomWords RandomStart::at(std::uint64_t position) const {
  const std::uint64_t word = position * static_cast<std::uint64_t>(words_each());  // modulo 2^64: only neighbours meet
  if (const auto* const table = std::get_if<SobolTable>(&state_))
    return {SobolWords(*table, is_of_32_bits_, are_numbers_, position), word};
  const State state = state_at(position);
  if (const auto* const twister = std::get_if<Mt19937State>(&state)) return {Mt19937Words(*twister), word};
  if (const auto* const xorwow = std::get_if<Xorwow>(&state)) return {*xorwow, word};
  return {std::get<Mrg32k3a>(state), word};
}

Source source_of(const op::RandomSource& source) noexcept {
  return {.seed = source.seed, .stream = source.stream, .is_by_counter = source.engine == RandomEngine::philox4x32_10};
}

Source own_source_at(const op::RandomSource& source, std::uint64_t position) {
  if (source.engine == RandomEngine::philox4x32_10) return source_of(source);
  op::RandomSource there = source;
  there.position = position;
  const RandomStart start(there, kNumbers);
  std::uint32_t words[8] = {};
  start.at(start.position()).take(start.position() * 2, words, 8);
  const std::uint64_t which = position - start.position();
  return own_source(source_of(source), words[2 * which] | std::uint64_t{words[2 * which + 1]} << 32);
}

}  // namespace troupe::inline v0::random
