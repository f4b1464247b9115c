// Every level of the CPU, every size of the team, every layout and every way to cut a fill in pieces: the same bits.
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/op_memory.test.hpp"
#include "troupe/backend/host/random/random_rows.hpp"
#include "troupe/core/sanitized.hpp"
#include "troupe/op/random.hpp"

namespace troupe::host {

Result<void> run_op(const op::RandomBits& op, const HostViews& here);
Result<void> run_op(const op::RandomIntegers& op, const HostViews& here);
Result<void> run_op(const op::RandomDiscrete& op, const HostViews& here);
Result<void> run_op(const op::RandomPermutation& op, const HostViews& here);
Result<void> run_op(const op::RandomUniform& op, const HostViews& here);
Result<void> run_op(const op::RandomNormal& op, const HostViews& here);
Result<void> run_op(const op::RandomLogNormal& op, const HostViews& here);
Result<void> run_op(const op::RandomExponential& op, const HostViews& here);
Result<void> run_op(const op::RandomCauchy& op, const HostViews& here);
Result<void> run_op(const op::RandomBernoulli& op, const HostViews& here);
Result<void> run_op(const op::RandomPoisson& op, const HostViews& here);
Result<void> run_op(const op::RandomGamma& op, const HostViews& here);
Result<void> run_op(const op::RandomBeta& op, const HostViews& here);

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kSeed = 0x1234'5678'9abc'def0;

Bytes bytes_of(HostViews here, const op::View& view) {
  GuardedArray dense(view.dtype, view.shape);
  EXPECT_TRUE(copy(here(view), dense.view()));
  const HostView all = dense.view();
  return {all.data, all.data + dense.count() * size_bytes(view.dtype)};
}

/// Calls `check(make)` for each op and a type of its elements: `make(out, position)` gives the op.
template <class Check>
void each_op(OpMemory& memory, const Check& check, RandomEngine engine = RandomEngine::philox4x32_10) {
  SCOPED_TRACE(name(engine));
  const bool has_points = op::has_points(engine);
  const auto source = [=](std::uint64_t position) {
    const bool has_stream = engine != RandomEngine::sobol32 && engine != RandomEngine::sobol64;
    return op::RandomSource{.engine = engine,
                            .stream = has_stream ? 5U : 0U,
                            .seed = kSeed,
                            .position = position,
                            .dimensions = has_points ? 3U : 1U};
  };
  const auto fill = [&]<class Op>(std::type_identity<Op>, DType dtype, double first, double second) {
    SCOPED_TRACE(std::string(Op::kName) + " " + std::string(name(dtype)));
    check(dtype, [=](const op::View& out, std::uint64_t position) {
      return Op{.source = source(position), .first = first, .second = second, .out = out};
    });
  };
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    fill(std::type_identity<op::RandomUniform>{}, dtype, -1, 3);
    fill(std::type_identity<op::RandomNormal>{}, dtype, 1, 2);
    fill(std::type_identity<op::RandomLogNormal>{}, dtype, 0, 0.5);
    fill(std::type_identity<op::RandomExponential>{}, dtype, 2, 0);
    fill(std::type_identity<op::RandomCauchy>{}, dtype, 0, 2);
    if (has_points) continue;
    fill(std::type_identity<op::RandomGamma>{}, dtype, 0.5, 2);
    fill(std::type_identity<op::RandomBeta>{}, dtype, 2, 0.5);
  }
  fill(std::type_identity<op::RandomBernoulli>{}, DType::boolean, 0.3, 0);
  if (!has_points) {
    fill(std::type_identity<op::RandomPoisson>{}, DType::i32, 3, 0);
    fill(std::type_identity<op::RandomPoisson>{}, DType::u64, 300, 0);
  }
  for (const DType dtype : {DType::u32, DType::u64})
    check(dtype, [=](const op::View& out, std::uint64_t position) {
      return op::RandomBits{.source = source(position), .out = out};
    });
  for (const DType dtype : {DType::i8, DType::i16, DType::u16, DType::u32, DType::i64})
    check(dtype, [=](const op::View& out, std::uint64_t position) {
      return op::RandomIntegers{.source = source(position),
                                .low = op::Scalar(std::int64_t{3}),
                                .high = op::Scalar(dtype == DType::i64 ? std::int64_t{3} << 61 : std::int64_t{100}),
                                .out = out};
    });
  if (has_points) return;
  GuardedArray weights(DType::u64, Shape{3, 2});
  for (int i = 0; i < 6; ++i) weights.set(i, op::Scalar(i % 2 == 0 ? std::uint64_t{1} << 63 : std::uint64_t{1}));
  const op::View table = memory.place(weights, Shape{3, 2}, Strides{2, 1});
  check(DType::i32, [=](const op::View& out, std::uint64_t position) {
    return op::RandomDiscrete{.source = source(position), .table = table, .out = out};
  });
}

TEST(RandomOps, give_the_same_bits_however_a_fill_is_cut) {
  OpMemory memory;
  const HostViews here = memory.here();
  each_op(memory, [&](DType dtype, const auto& make) {
    constexpr std::int64_t kCount = 1111;
    for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 34) - 500}) {
      const op::View whole = memory.place(dtype, Shape{kCount}, Strides{1});
      ASSERT_TRUE(run_op(make(whole, position), here));
      const op::View pieces = memory.place(dtype, Shape{kCount}, Strides{1});
      for (std::int64_t begin = 0, length = 1; begin < kCount; begin += length, length = length * 2 + 1) {
        length = std::min(length, kCount - begin);
        const op::View piece{pieces.address + static_cast<std::uint64_t>(begin * size_bytes(dtype)), dtype,
                             Shape{length}, Strides{1}};
        ASSERT_TRUE(run_op(make(piece, position + static_cast<std::uint64_t>(begin)), here));
      }
      EXPECT_TRUE(bytes_of(here, whole) == bytes_of(here, pieces)) << position;
    }
  });
}

TEST(RandomOps, of_every_engine_give_the_same_bits_however_a_fill_is_cut) {
  OpMemory memory;
  const HostViews here = memory.here();
  constexpr std::int64_t kCount = 600;
  for (auto number = 1; number <= static_cast<int>(RandomEngine::kLast); ++number)
    each_op(
        memory,
        [&](DType dtype, const auto& make) {
          const op::View whole = memory.place(dtype, Shape{kCount}, Strides{1});
          ASSERT_TRUE(run_op(make(whole, 13), here));
          const op::View pieces = memory.place(dtype, Shape{kCount}, Strides{-2});
          for (std::int64_t begin = 0, length = 3; begin < kCount; begin += length, length = length * 5 + 2) {
            length = std::min(length, kCount - begin);
            const op::View piece{pieces.address - static_cast<std::uint64_t>(2 * begin * size_bytes(dtype)), dtype,
                                 Shape{length}, Strides{-2}};
            ASSERT_TRUE(run_op(make(piece, 13 + static_cast<std::uint64_t>(begin)), here));
          }
          EXPECT_TRUE(bytes_of(here, whole) == bytes_of(here, pieces));
        },
        static_cast<RandomEngine>(number));
}

TEST(RandomOps, of_every_engine_give_the_same_bits_with_every_team) {
  OpMemory memory;
  Team team(3);
  constexpr std::int64_t kCount = 5'000'000;  // blocks of the Mersenne Twister's are of 2^21
  const op::View out = memory.place(DType::u32, Shape{kCount}, Strides{1});
  for (const RandomEngine engine :
       {RandomEngine::xorwow, RandomEngine::mrg32k3a, RandomEngine::mt19937, RandomEngine::scrambled_sobol64}) {
    const op::RandomSource source{.engine = engine, .seed = kSeed, .position = 9};
    ASSERT_TRUE(run_op(op::RandomBits{.source = source, .out = out}, memory.here()));
    const Bytes alone = bytes_of(memory.here(), out);
    ASSERT_TRUE(run_op(op::RandomBits{.source = source, .out = out}, memory.here(team)));
    EXPECT_TRUE(bytes_of(memory.here(), out) == alone) << name(engine);
  }
}

TEST(RandomOps, give_the_same_bits_in_every_layout) {
  OpMemory memory;
  const HostViews here = memory.here();
  const Shape shape{5, 7, 31};
  each_op(memory, [&](DType dtype, const auto& make) {
    const op::View dense = memory.place(dtype, shape, contiguous_strides(shape));
    ASSERT_TRUE(run_op(make(dense, 3), here));
    for (const NamedStrides& layout : layouts(shape)) {
      GuardedArray out(dtype, shape, layout.strides);
      const op::View view = memory.place(dtype, shape, layout.strides);
      ASSERT_TRUE(run_op(make(view, 3), here));
      EXPECT_TRUE(bytes_of(here, view) == bytes_of(here, dense)) << layout.name;
    }
  });
}

TEST(RandomOps, give_the_same_bits_with_every_team) {
  OpMemory memory;
  const std::int64_t count = kSanitized ? 25'001 : 50'001;
  std::vector<std::unique_ptr<Team>> teams;
  for (const int size : {2, 3, 16}) teams.push_back(std::make_unique<Team>(size));
  each_op(memory, [&](DType dtype, const auto& make) {
    memory.clear();
    GuardedArray weights(DType::u64, Shape{3, 2});
    for (int i = 0; i < 6; ++i) weights.set(i, op::Scalar(i % 2 == 0 ? std::uint64_t{1} << 63 : std::uint64_t{1}));
    memory.place(weights, Shape{3, 2}, Strides{2, 1});  // where the table was
    const op::View alone = memory.place(dtype, Shape{count}, Strides{1});
    ASSERT_TRUE(run_op(make(alone, 1), memory.here()));
    const Bytes want = bytes_of(memory.here(), alone);
    for (const auto& team : teams) {
      const op::View together = memory.place(dtype, Shape{count}, Strides{1});
      ASSERT_TRUE(run_op(make(together, 1), memory.here(*team)));
      EXPECT_TRUE(bytes_of(memory.here(), together) == want) << team->size();
    }
  });
}

TEST(RandomOps, permute_alike_with_every_team_and_in_every_layout) {
  OpMemory memory;
  Team team(3);
  const op::RandomSource source{.seed = kSeed, .position = 9};
  const op::View dense = memory.place(DType::i32, Shape{10'000}, Strides{1});
  const op::View apart = memory.place(DType::i32, Shape{10'000}, Strides{-3});
  ASSERT_TRUE(run_op(op::RandomPermutation{.source = source, .out = dense}, memory.here()));
  ASSERT_TRUE(run_op(op::RandomPermutation{.source = source, .out = apart}, memory.here(team)));
  EXPECT_TRUE(bytes_of(memory.here(), dense) == bytes_of(memory.here(), apart));
}

/// All that the rows of a level make of the same bits.
std::vector<Bytes> made_by(const RandomRows& rows) {
  constexpr std::int64_t kBlocks = 131;
  constexpr std::int64_t kPositions = 2 * kBlocks;
  std::vector<Bytes> made;
  const auto keep = [&]<class T>(const std::vector<T>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    made.emplace_back(bytes.begin(), bytes.end());
  };
  std::vector<std::uint32_t> words(4 * kBlocks);
  rows.blocks({kSeed, 1}, (std::uint64_t{1} << 32) - 60, random::kWords, words.data(), kBlocks);
  keep(words);
  std::vector<std::uint64_t> wide(kPositions);
  rows.widen(words.data(), wide.data(), kPositions);
  keep(wide);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
  std::vector<float> f32(kPositions);
  for (const auto row : {rows.uniform_f32, rows.normal_f32}) {
    row(words.data(), f32.data(), kPositions, {.first = 0.3, .second = 2.1, .third = 2.3});
    keep(f32);
  }
  std::vector<double> f64(kPositions);
  for (const auto row : {rows.uniform_f64, rows.normal_f64, rows.log_normal, rows.exponential, rows.cauchy,
                         rows.point_normal, rows.point_log_normal}) {
    row(wide.data(), f64.data(), kPositions, {.first = 0.3, .second = 2.1, .third = 2.3});
    keep(f64);
  }
  return made;
}

TEST(RandomRows, are_the_same_at_every_level) {
  const std::vector<Bytes> basic = made_by(random_rows(VectorLevel::basic));
  for (const VectorLevel level : {VectorLevel::avx2, VectorLevel::avx512})
    if (has(level)) {
      EXPECT_TRUE(made_by(random_rows(level)) == basic) << name(level);
    }
}

TEST(RandomRows, are_those_of_one_block_after_another) {
  std::vector<std::uint32_t> words(4 * 67);
  const std::uint64_t first = (std::uint64_t{1} << 32) - 20;  // the index's upper word changes on the way
  random_rows().blocks({kSeed, 1}, first, random::kNumbers, words.data(), 67);
  for (std::uint64_t i = 0; i < 67; ++i) {
    const random::Block block = random::philox({kSeed, 1}, first + i, random::kNumbers);
    for (std::uint64_t word = 0; word < 4; ++word) ASSERT_EQ(words[4 * i + word], block.words[word]) << i;
  }
}

}  // namespace
}  // namespace troupe::host
