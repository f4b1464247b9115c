// What the threads do that make the bits of the engines which have no counter, into memory that the distributions read:
// each goes on from a place of its own that it jumps to. Plain functions, so that tests without a GPU run the same
// code; those of a whole block are told how to share work and to wait for each other.
#pragma once

#include "troupe/op/random_engines.hpp"

namespace troupe::cuda {

/// So many words are made at a time.
inline constexpr long long kWordsAtOnce = 1LL << 24;

// ---- xorwow and MRG32k3a: a thread makes a segment ----

inline constexpr int kSegmentBits = 10;
inline constexpr long long kSegmentWords = 1LL << kSegmentBits;
inline constexpr int kSegmentDoublings = 24 - kSegmentBits;

/// `jumps[i]` is one of 2^i segments.
template <class Engine, class Jump>
struct SteppedArguments {
  Engine state;
  Jump jumps[kSegmentDoublings];
  random::Block* out;
  long long blocks;  // of four words
};
using XorwowArguments = SteppedArguments<random::Xorwow, random::XorwowJump>;
using MrgArguments = SteppedArguments<random::Mrg32k3a, random::MrgJump>;

/// What a jump leaves out.
TROUPE_EVERYWHERE inline void count_segments(random::Xorwow& state, long long segments) {
  state.d += random::Xorwow::kCount * static_cast<std::uint32_t>(segments * kSegmentWords);
}
TROUPE_EVERYWHERE inline void count_segments(random::Mrg32k3a&, long long) {}

template <class Engine, class Jump>
TROUPE_EVERYWHERE void make_segment(const SteppedArguments<Engine, Jump>& of, long long segment) {
  Engine engine = of.state;
  for (int i = 0; i < kSegmentDoublings; ++i)
    if ((segment >> i & 1) != 0) engine.jump(of.jumps[i]);
  count_segments(engine, segment);
  constexpr long long kBlocks = kSegmentWords / 4;
  const long long end = (segment + 1) * kBlocks < of.blocks ? (segment + 1) * kBlocks : of.blocks;
  for (long long block = segment * kBlocks; block < end; ++block) {
    random::Block words;
    for (std::uint32_t& word : words.words) word = engine.next();
    of.out[block] = words;
  }
}

// ---- the Mersenne Twister: a block of threads makes a segment ----

inline constexpr long long kMt19937SegmentWords = 1LL << 18;
inline constexpr long long kMt19937Segments = kWordsAtOnce / kMt19937SegmentWords;
inline constexpr long long kMt19937Sequence = random::Mt19937::kDegree + random::Mt19937::kWords;
inline constexpr unsigned kMt19937Threads = 256;
/// The memory that a block shares: a state, and what is made at once.
inline constexpr int kMt19937Shared = random::Mt19937::kWords + random::Mt19937::kAtOnce;

struct Mt19937StartArguments {
  random::Mt19937State state;
  unsigned* states;
};
/// States 0 to count - 1 are there; block b makes state count + b of state b. A sequence is memory to work in.
struct Mt19937JumpArguments {
  random::Mt19937Jump by;
  unsigned* states;
  unsigned* sequences;
  long long count;
};
struct Mt19937WordsArguments {
  const unsigned* states;
  unsigned* out;
  long long words;
};

/// `threads(count, f)` calls f(0) to f(count - 1), each by some thread of the block, and waits for all of them.
template <class Threads>
TROUPE_EVERYWHERE void start_mt19937(const Mt19937StartArguments& of, const Threads& threads) {
  threads(random::Mt19937::kWords, [&](int i) { of.states[i] = of.state.words[i]; });
}
template <class Threads>
TROUPE_EVERYWHERE void jump_mt19937(const Mt19937JumpArguments& of, long long block, const Threads& threads) {
  using random::Mt19937;
  const unsigned* const from = of.states + block * Mt19937::kWords;
  unsigned* const to = of.states + (of.count + block) * Mt19937::kWords;
  unsigned* const words = of.sequences + block * kMt19937Sequence;
  threads(Mt19937::kWords, [&](int i) { words[i] = from[i]; });
  for (long long begin = 0; begin + Mt19937::kWords < kMt19937Sequence; begin += Mt19937::kAtOnce) {
    const long long left = kMt19937Sequence - Mt19937::kWords - begin;
    threads(left < Mt19937::kAtOnce ? static_cast<int>(left) : Mt19937::kAtOnce, [&](int i) {
      const unsigned* const at = words + begin + i;
      words[begin + i + Mt19937::kWords] = Mt19937::next_word(at[0], at[1], at[Mt19937::kMiddle]);
    });
  }
  threads(Mt19937::kWords, [&](int i) {
    unsigned sum = 0;
    for (int power = 0; power < Mt19937::kDegree; ++power)
      if ((of.by.words[power / 32] >> power % 32 & 1) != 0) sum ^= words[power + i];
    to[i] = sum;
  });
}
template <class Threads>
TROUPE_EVERYWHERE void make_mt19937_segment(const Mt19937WordsArguments& of, long long block, unsigned* shared,
                                            const Threads& threads) {
  using random::Mt19937;
  unsigned* const state = shared;
  unsigned* const fresh = shared + Mt19937::kWords;
  const auto around = [](int i) { return i < Mt19937::kWords ? i : i - Mt19937::kWords; };
  threads(Mt19937::kWords, [&](int i) { state[i] = of.states[block * Mt19937::kWords + i]; });
  const long long first = block * kMt19937SegmentWords;
  const long long end = first + kMt19937SegmentWords < of.words ? first + kMt19937SegmentWords : of.words;
  int oldest = 0;
  for (long long begin = first; begin < end; begin += Mt19937::kAtOnce) {
    threads(Mt19937::kAtOnce, [&](int i) {
      const int at = around(oldest + i);
      fresh[i] = Mt19937::next_word(state[at], state[around(at + 1)], state[around(at + Mt19937::kMiddle)]);
    });
    threads(Mt19937::kAtOnce, [&](int i) {
      state[around(oldest + i)] = fresh[i];
      if (begin + i < end) of.out[begin + i] = Mt19937::tempered(fresh[i]);
    });
    oldest = around(oldest + Mt19937::kAtOnce);
  }
}

// ---- Sobol's sequences: every position by itself ----

struct SobolArguments {
  const std::uint64_t* directions;
  const std::uint64_t* shifts;
  unsigned long long dimensions;
  unsigned long long position;
  long long count;
  void* out;  // words, or numbers
  bool are_numbers;
  bool is_of_32_bits;
};
TROUPE_EVERYWHERE inline void make_sobol(const SobolArguments& of, long long index) {
  const unsigned long long position = of.position + static_cast<unsigned long long>(index);
  const unsigned long long point = position / of.dimensions;
  const unsigned long long dimension = position - point * of.dimensions;
  const std::uint64_t coordinate =
      random::sobol_coordinate(of.directions + dimension * random::kSobolBits, point) ^ of.shifts[dimension];
  if (of.are_numbers)
    static_cast<std::uint64_t*>(of.out)[index] = random::sobol_number(coordinate, of.is_of_32_bits);
  else
    static_cast<std::uint32_t*>(of.out)[index] = static_cast<std::uint32_t>(coordinate >> 32);
}

/// Numbers of the host, as part of a launch, into memory.
struct PutArguments {
  static constexpr int kMost = 400;
  std::uint64_t numbers[kMost];
  std::uint64_t* out;
  long long count;
};
TROUPE_EVERYWHERE inline void put_number(const PutArguments& of, long long index) { of.out[index] = of.numbers[index]; }

}  // namespace troupe::cuda
