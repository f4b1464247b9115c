// The engines beside Philox against what others publish or give: the standard library's Mersenne Twister, cuRAND's
// curand_init (of CUDA 13.0, its header compiled for a CPU), L'Ecuyer's first numbers, SciPy's qmc.Sobol (1.17). And
// every place in a stream against those before it.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <span>

#include "troupe/core/sanitized.hpp"
#include "troupe/op/random_words.hpp"

namespace troupe::random {
namespace {

using Words = std::vector<std::uint32_t>;

op::RandomSource source(RandomEngine engine, std::uint64_t seed, std::uint64_t position = 0) {
  return {.engine = engine, .seed = seed, .position = position};
}
/// Words from the source's position on.
Words words_of(const op::RandomSource& from, std::size_t count, Space space = kWords) {
  const RandomStart start(from, space);
  const auto each = static_cast<std::uint64_t>(start.words_each());
  Words all((count + 4) * each);
  start.at(start.position()).take(start.position() * each, all.data(), static_cast<std::int64_t>(all.size()));
  const auto before = static_cast<std::ptrdiff_t>((from.position - start.position()) * each);
  return {all.begin() + before, all.begin() + before + static_cast<std::ptrdiff_t>(count * each)};
}

constexpr RandomEngine kEngines[] = {
    RandomEngine::xorwow,           RandomEngine::mrg32k3a,          RandomEngine::mt19937,
    RandomEngine::sobol32,          RandomEngine::scrambled_sobol32, RandomEngine::sobol64,
    RandomEngine::scrambled_sobol64};

TEST(Mt19937, gives_the_standard_librarys_numbers) {
  EXPECT_EQ(words_of(source(RandomEngine::mt19937, 5489, 9999), 1), Words{4'123'659'995U}) << "as the standard wants";
  std::mt19937 theirs(77);
  for (const std::uint32_t word : words_of(source(RandomEngine::mt19937, 77), 5000)) ASSERT_EQ(word, theirs());
}

TEST(Mt19937, gives_them_far_away_too) {
  constexpr std::uint64_t kFar = kSanitized ? 3'000'001 : 100'000'003;
  std::mt19937 theirs(5);
  theirs.discard(kFar);
  for (const std::uint32_t word : words_of(source(RandomEngine::mt19937, 5, kFar), 1000)) ASSERT_EQ(word, theirs());
}

TEST(Mt19937, gives_numpys_numbers) {  // numpy.random.RandomState(2024).randint(0, 2**32, 3, "uint64")
  EXPECT_EQ(words_of(source(RandomEngine::mt19937, 2024), 3), (Words{2'525'503'112U, 3'251'949'050U, 3'002'649'184U}));
}

TEST(Mt19937, has_other_numbers_for_each_part_of_the_seed) {
  const Words first = words_of(source(RandomEngine::mt19937, 1), 8);
  op::RandomSource other = source(RandomEngine::mt19937, 1);
  other.stream = 1;
  EXPECT_NE(words_of(other, 8), first);
  EXPECT_NE(words_of(source(RandomEngine::mt19937, 1 + (std::uint64_t{1} << 32)), 8), first);
}

struct KnownWords {
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint64_t position;
  std::array<std::uint32_t, 3> words;
};

TEST(Xorwow, gives_curands_numbers) {
  for (const KnownWords& known : {
           KnownWords{0U, 0U, 0U, {0xbd7f03b6U, 0x703e556dU, 0x845af0c5U}},
           KnownWords{0U, 0U, 1000000007U, {0x13b1df6aU, 0x97007476U, 0xfce5d44eU}},
           KnownWords{0U, 3U, 0U, {0xf80df3fdU, 0x7ea780ceU, 0xac62ae4cU}},
           KnownWords{0U, 3U, 1000000007U, {0x38afdc46U, 0xe9437060U, 0x488599c6U}},
           KnownWords{42U, 0U, 0U, {0x11ece47fU, 0x8cdacf50U, 0x2faeaeb6U}},
           KnownWords{42U, 0U, 1000000007U, {0xa162c808U, 0x71eb5322U, 0x3348aa50U}},
           KnownWords{42U, 3U, 0U, {0x938d0a4aU, 0x6d9e5af9U, 0x0b3b4c50U}},
           KnownWords{42U, 3U, 1000000007U, {0xf16c88dbU, 0xee288ceeU, 0x40f22882U}},
           KnownWords{81985529216486895U, 0U, 0U, {0x1a444210U, 0x3fcca938U, 0xac7c5504U}},
           KnownWords{81985529216486895U, 0U, 1000000007U, {0xe5c5a025U, 0x247770f8U, 0xcea49289U}},
           KnownWords{81985529216486895U, 3U, 0U, {0x296ca177U, 0xadcdade9U, 0x669c7316U}},
           KnownWords{81985529216486895U, 3U, 1000000007U, {0x342037beU, 0xef19694aU, 0x3d65aa63U}},
       }) {
    op::RandomSource from = source(RandomEngine::xorwow, known.seed, known.position);
    from.stream = known.stream;
    EXPECT_EQ(words_of(from, 3), Words(known.words.begin(), known.words.end())) << known.seed;
  }
}

TEST(Mrg32k3a, gives_curands_numbers) {
  for (const KnownWords& known : {
           KnownWords{0U, 0U, 0U, {545508589U, 1368065410U, 1327943761U}},
           KnownWords{0U, 0U, 1000000007U, {365337380U, 957982882U, 1862335514U}},
           KnownWords{0U, 3U, 0U, {2161280219U, 709416543U, 96044577U}},
           KnownWords{0U, 3U, 1000000007U, {3961962401U, 666234442U, 2894465108U}},
           KnownWords{42U, 0U, 0U, {994013725U, 4154291359U, 3812527636U}},
           KnownWords{42U, 0U, 1000000007U, {1186340392U, 1206903662U, 1989867479U}},
           KnownWords{42U, 3U, 0U, {2303469588U, 2811039590U, 1302021230U}},
           KnownWords{42U, 3U, 1000000007U, {4006881842U, 1965427429U, 1764203381U}},
           KnownWords{81985529216486895U, 0U, 0U, {2301419730U, 2186294667U, 3113353537U}},
           KnownWords{81985529216486895U, 0U, 1000000007U, {1360804243U, 153432579U, 1313200625U}},
           KnownWords{81985529216486895U, 3U, 0U, {709043010U, 2448936945U, 315749888U}},
           KnownWords{81985529216486895U, 3U, 1000000007U, {898973277U, 2099779578U, 1669125797U}},
       }) {
    Words spread;  // theirs are 1 to m, ours are spread over all words
    for (const std::uint32_t number : known.words)
      spread.push_back(number - 1 + static_cast<std::uint32_t>(std::uint64_t{number - 1} * 209 >> 32));
    op::RandomSource from = source(RandomEngine::mrg32k3a, known.seed, known.position);
    from.stream = known.stream;
    EXPECT_EQ(words_of(from, 3), spread) << known.seed;
  }
}

TEST(Mrg32k3a, begins_as_lecuyers) {
  Mrg32k3a state{{{12'345, 12'345, 12'345}, {12'345, 12'345, 12'345}}};
  for (const double known : {0.127011122046577, 0.318527565396794, 0.309186015583270})
    EXPECT_NEAR(state.number() / (Mrg32k3a::kModuli[0] + 1.0), known, 1e-15);
}

TEST(Mrg32k3a, has_a_state_for_the_seed_whose_factors_are_0) {
  const Words words = words_of(source(RandomEngine::mrg32k3a, 0xAAAA'AAAA'5555'5555), 3);
  EXPECT_EQ(words, words_of(source(RandomEngine::mrg32k3a, 0), 3));
}

TEST(RandomJumps, end_where_steps_end) {
  for (const RandomEngine engine : kEngines) {
    SCOPED_TRACE(name(engine));
    op::RandomSource from = source(engine, 9);
    from.dimensions = engine >= RandomEngine::sobol32 ? 3 : 1;
    const Words whole = words_of(from, 3000);
    for (const std::uint64_t position : {1U, 4U, 159U, 160U, 623U, 624U, 625U, 2047U}) {
      op::RandomSource there = from;
      there.position = position;
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(position);
      ASSERT_EQ(words_of(there, 600), Words(begin, begin + 600)) << position;
    }
  }
}

TEST(RandomJumps, may_be_made_in_parts) {
  const Steps far{0x12, 0x3456'789A'BCDE'F012}, further{0x7, 0xFEDC'BA98'7654'3210};
  const Xorwow xorwow{{1, 2, 3, 4, 5}, 6};
  Xorwow a = jumped(jumped(xorwow, far), further), b = jumped(xorwow, far + further);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(a.next(), b.next());
  const Mrg32k3a mrg{{{1, 2, 3}, {4, 5, 6}}};
  Mrg32k3a c = jumped(jumped(mrg, far), further), d = jumped(mrg, far + further);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(c.next(), d.next());
  Mt19937State state{};
  std::iota(std::begin(state.words), std::end(state.words), 1U);
  Mt19937Words e(jumped(jumped(state, far), further)), f(jumped(state, far + further));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(e.next(), f.next());
}

TEST(RandomWords, are_the_same_however_they_are_taken) {
  for (const RandomEngine engine : kEngines)
    for (const Space space : {kWords, kNumbers}) {
      SCOPED_TRACE(name(engine));
      op::RandomSource from = source(engine, 3, 8);
      from.dimensions = engine >= RandomEngine::sobol32 ? 5 : 1;
      const RandomStart start(from, space);
      const auto each = static_cast<std::uint64_t>(start.words_each());
      const Words whole = words_of(from, 400, space);
      RandomWords words = start.at(16);
      for (std::uint64_t position = 16, count = 4; position + count < 400; position += count - 4, count += 8) {
        Words part(count * each);
        words.take(position * each, part.data(), static_cast<std::int64_t>(part.size()));
        const auto begin = whole.begin() + static_cast<std::ptrdiff_t>((position - 8) * each);
        ASSERT_EQ(part, Words(begin, begin + static_cast<std::ptrdiff_t>(part.size()))) << position;
        if (count > 100) break;
      }
    }
}

TEST(RandomWords, of_numbers_are_not_those_of_words) {
  for (const RandomEngine engine : {RandomEngine::xorwow, RandomEngine::mrg32k3a, RandomEngine::mt19937})
    EXPECT_NE(words_of(source(engine, 1), 2), words_of(source(engine, 1), 1, kNumbers)) << name(engine);
}

Words sobol(RandomEngine engine, std::uint32_t dimensions, std::uint64_t position, std::size_t count) {
  op::RandomSource from = source(engine, 7, position);
  from.dimensions = dimensions;
  return words_of(from, count);
}

TEST(Sobol, gives_scipys_points) {  // qmc.Sobol(5, scramble=False, bits=32).random(5) * 2**32
  EXPECT_EQ(sobol(RandomEngine::sobol32, 5, 5, 20),
            (Words{2'147'483'648U, 2'147'483'648U, 2'147'483'648U, 2'147'483'648U, 2'147'483'648U,
                   3'221'225'472U, 1'073'741'824U, 1'073'741'824U, 1'073'741'824U, 3'221'225'472U,
                   1'073'741'824U, 3'221'225'472U, 3'221'225'472U, 3'221'225'472U, 1'073'741'824U,
                   1'610'612'736U, 1'610'612'736U, 2'684'354'560U, 3'758'096'384U, 1'610'612'736U}));
  const Words point = sobol(RandomEngine::sobol32, 256, 256'000, 256);  // after fast_forward(1000)
  EXPECT_EQ((Words{point[0], point[1], point[2], point[100], point[200], point[255]}),
            (Words{943'718'400U, 415'236'096U, 2'227'175'424U, 3'300'917'248U, 3'233'808'384U, 1'069'547'520U}));
}

TEST(Sobol, gives_scipys_points_in_all_dimensions) {
  std::uint64_t sum = 0;
  for (const std::uint32_t word : sobol(RandomEngine::sobol32, 256, 0, 256 * 1024))
    sum = sum * 1'099'511'628'211U + (word >> 22);
  EXPECT_EQ(sum, 0xD04F'0C70'415C'0000U);
}

TEST(Sobol, gives_scipys_points_of_64_bits) {  // point 123456 of qmc.Sobol(4, bits=64), whose numbers have 53 bits
  op::RandomSource from = source(RandomEngine::sobol64, 7, 4 * 123'456);
  from.dimensions = 4;
  const Words words = words_of(from, 4, kNumbers);
  const std::uint64_t known[] = {0x0'D910'0000'0000, 0x5'D910'0000'0000, 0x9'D510'0000'0000, 0xE'68F0'0000'0000};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ((words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32) >> 11, known[i]) << i;
}

/// Of 2^k points each of 2^k equal parts has one, in every dimension.
void expect_even(RandomEngine engine) {
  constexpr std::uint32_t kDimensions = 64;
  constexpr int kBits = 8;
  const Words words = sobol(engine, kDimensions, std::uint64_t{kDimensions} << kBits, kDimensions << kBits);
  for (std::uint32_t dimension = 0; dimension < kDimensions; ++dimension) {
    std::vector<bool> seen(1U << kBits);
    for (std::size_t i = dimension; i < words.size(); i += kDimensions) seen[words[i] >> (32 - kBits)] = true;
    ASSERT_TRUE(std::ranges::all_of(seen, std::identity{})) << name(engine) << " " << dimension;
  }
}

TEST(Sobol, fills_every_dimension_evenly_scrambled_or_not) {
  for (const RandomEngine engine : kEngines)
    if (engine >= RandomEngine::sobol32) expect_even(engine);
}

TEST(Sobol, is_moved_by_the_seed_where_it_is_scrambled) {
  const auto of_seed = [](RandomEngine engine, std::uint64_t seed) { return words_of(source(engine, seed), 16); };
  EXPECT_EQ(of_seed(RandomEngine::sobol32, 1), of_seed(RandomEngine::sobol32, 2));
  EXPECT_NE(of_seed(RandomEngine::scrambled_sobol32, 1), of_seed(RandomEngine::scrambled_sobol32, 2));
  EXPECT_NE(of_seed(RandomEngine::scrambled_sobol64, 1), of_seed(RandomEngine::scrambled_sobol64, 2));
}

}  // namespace
}  // namespace troupe::random
