#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/random/random_engines.hpp"

#include <algorithm>

#include "troupe/backend/cuda/random/random_engine_groups.hpp"
#include "troupe/backend/cuda/random/random_kernels.hpp"

namespace troupe::cuda {
namespace {

constexpr std::int64_t kWordsOfBlock = 4;

std::int64_t words_for(std::int64_t positions, int words_each) noexcept {
  return (positions * words_each + kWordsOfBlock - 1) / kWordsOfBlock * kWordsOfBlock;
}

/// A kernel of `count` threads that is told how many there are.
template <class Arguments>
Result<void> launch_threads(RandomEngineKernel kernel, Arguments arguments, long long count, const LaneTools& on) {
  std::array<void*, 2> all{&arguments, &count};
  return on.launch(TROUPE_TRY(on.kernel(kernel)), count, all);
}

random::XorwowJump jump_of(std::type_identity<random::XorwowJump>, const random::Steps& steps) noexcept {
  return random::xorwow_jump(steps);
}
random::MrgJump jump_of(std::type_identity<random::MrgJump>, const random::Steps& steps) noexcept {
  return random::mrg_jump(steps);
}

template <class Engine, class Jump>
Result<void> make_segments(RandomEngineKernel kernel, const Engine& state, random::Block* out, std::int64_t words,
                           const LaneTools& on) {
  SteppedArguments<Engine, Jump> of{.state = state, .jumps = {}, .out = out, .blocks = words / kWordsOfBlock};
  for (int i = 0; i < kSegmentDoublings; ++i)
    of.jumps[i] = jump_of(std::type_identity<Jump>{}, random::Steps::power_of_2(kSegmentBits + i));
  return launch_threads(kernel, of, (words + kSegmentWords - 1) / kSegmentWords, on);
}

/// That of 2^doubling segments of the Mersenne Twister.
const random::Mt19937Jump& segment_jump(int doubling) {
  static const auto kJumps = [] {
    std::array<random::Mt19937Jump, std::bit_width(static_cast<unsigned>(kMt19937Segments - 1))> jumps;
    for (std::size_t i = 0; i < jumps.size(); ++i)
      jumps[i] = random::mt19937_jump(random::times(kMt19937SegmentWords, std::uint64_t{1} << i));
    return jumps;
  }();
  return kJumps[static_cast<std::size_t>(doubling)];
}

}  // namespace

std::int64_t EngineBits::positions_at_once(random::Space space) noexcept {
  return space == random::kNumbers ? kWordsAtOnce / 2 : kWordsAtOnce;
}

Result<EngineBits> EngineBits::create(const op::RandomSource& source, random::Space space, std::int64_t most,
                                      const LaneTools& on) {
  const std::int64_t words = words_for(most, space == random::kNumbers ? 2 : 1);
  EngineBits made(source, space, on, TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(words) * 4)));
  if (const auto* const table = std::get_if<random::SobolTable>(&made.start_.state()))
    TROUPE_TRY(made.put_table(*table));
  return made;
}

Result<void> EngineBits::put_table(const random::SobolTable& table) {
  std::vector<std::uint64_t> all(table.all_directions().begin(), table.all_directions().end());
  all.insert(all.end(), table.shifts().begin(), table.shifts().end());
  table_.emplace(TROUPE_TRY(on_.scratch(all.size() * sizeof(std::uint64_t))));
  for (std::size_t begin = 0; begin < all.size(); begin += PutArguments::kMost) {
    const std::size_t count = std::min<std::size_t>(PutArguments::kMost, all.size() - begin);
    PutArguments of{
        .numbers = {}, .out = table_->data<std::uint64_t>() + begin, .count = static_cast<long long>(count)};
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), count, of.numbers);
    TROUPE_TRY(launch_threads(RandomEngineKernel::put_numbers, of, of.count, on_));
  }
  return {};
}

Result<void> EngineBits::make(std::uint64_t position, std::int64_t count) const {
  const std::int64_t words = words_for(count, start_.words_each());
  if (const auto* const table = std::get_if<random::SobolTable>(&start_.state()))
    return make_points(*table, position, count);
  const random::RandomStart::State state = start_.state_at(position);
  if (const auto* const xorwow = std::get_if<random::Xorwow>(&state)) return make_words(*xorwow, words);
  if (const auto* const mrg = std::get_if<random::Mrg32k3a>(&state)) return make_words(*mrg, words);
  return make_words(std::get<random::Mt19937State>(state), words);
}

Result<void> EngineBits::make_words(const random::Xorwow& state, std::int64_t words) const {
  return make_segments<random::Xorwow, random::XorwowJump>(RandomEngineKernel::xorwow_words, state,
                                                           bits_.data<random::Block>(), words, on_);
}
Result<void> EngineBits::make_words(const random::Mrg32k3a& state, std::int64_t words) const {
  return make_segments<random::Mrg32k3a, random::MrgJump>(RandomEngineKernel::mrg32k3a_words, state,
                                                          bits_.data<random::Block>(), words, on_);
}

Result<void> EngineBits::make_words(const random::Mt19937State& state, std::int64_t words) const {
  const std::int64_t segments = (words + kMt19937SegmentWords - 1) / kMt19937SegmentWords;
  constexpr std::int64_t kStateBytes = sizeof(random::Mt19937State);
  const StreamScratch states = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(segments * kStateBytes)));
  const StreamScratch sequences =
      TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(segments / 2 * kMt19937Sequence * 4)));
  Mt19937StartArguments start{.state = state, .states = states.data<unsigned>()};
  TROUPE_TRY(on_.launch_blocks(TROUPE_TRY(on_.kernel(RandomEngineKernel::start_mt19937)), 1, kMt19937Threads, &start));
  int doubling = 0;
  for (std::int64_t count = 1; count < segments; count *= 2, ++doubling) {
    Mt19937JumpArguments jump{.by = segment_jump(doubling),
                              .states = states.data<unsigned>(),
                              .sequences = sequences.data<unsigned>(),
                              .count = count};
    TROUPE_TRY(on_.launch_blocks(TROUPE_TRY(on_.kernel(RandomEngineKernel::jump_mt19937)),
                                 std::min(count, segments - count), kMt19937Threads, &jump));
  }
  Mt19937WordsArguments make{.states = states.data<const unsigned>(), .out = bits_.data<unsigned>(), .words = words};
  return on_.launch_blocks(TROUPE_TRY(on_.kernel(RandomEngineKernel::mt19937_words)), segments, kMt19937Threads, &make);
}

Result<void> EngineBits::make_points(const random::SobolTable& table, std::uint64_t position,
                                     std::int64_t count) const {
  const auto* const directions = table_->data<const std::uint64_t>();
  return launch_threads(RandomEngineKernel::sobol_words,
                        SobolArguments{.directions = directions,
                                       .shifts = directions + table.all_directions().size(),
                                       .dimensions = table.dimensions(),
                                       .position = position,
                                       .count = count,
                                       .out = bits_.data<void>(),
                                       .are_numbers = start_.words_each() == 2,
                                       .is_of_32_bits = start_.is_of_32_bits()},
                        count, on_);
}

}  // namespace troupe::cuda

#endif
