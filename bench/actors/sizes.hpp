// How large the programs are and the pieces of work in them. They stand here, once, so that they are the same on every
// side.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe::bench::actors {

inline constexpr int kRingActors = 100;
inline constexpr int kBigActors = 120;
inline constexpr int kProducers = 32;
inline constexpr int kPairWorkers = 64;
inline constexpr int kForkJoinActors = 60;

/// The storm: so many asks are under way, and each instance fails at its so many-th ask.
inline constexpr int kStormAsksUnderWay = 64;
inline constexpr int kStormAsksPerInstance = 100;

/// The saturated pool: actors per thread, each of which always has so many messages to handle, and what one takes.
inline constexpr int kSaturatingActorsPerThread = 2;
inline constexpr int kSaturatingMessages = 128;
inline constexpr int kSaturatingWorkUs = 20;
/// How many messages CAF handles in one turn there. Without a limit, its default, an actor that always has messages
/// never lets go of its thread; 64 is ours, too.
inline constexpr int kMessagesPerTurn = 64;

/// The pool at half load: messages of so much work come at random moments, so many that half of the pool is busy.
inline constexpr int kHalfLoadActors = 64;
inline constexpr int kHalfLoadWorkUs = 100;
inline constexpr std::chrono::microseconds kAskPeriod(1000);

/// A run of asks one after another, or of timers under load, is over after this time, whatever it has counted by then.
inline constexpr std::chrono::milliseconds kLoadTrial(1500);
/// Between two asks of a thread into a saturated pool.
inline constexpr std::chrono::milliseconds kAskPause(1);
inline constexpr std::chrono::milliseconds kLoadTimer(5);

/// The burst: so many handlers that block for so long, on as many threads.
inline constexpr int kBurst = 16;
inline constexpr std::chrono::milliseconds kBurstHandler(5);

/// One of the timers is due so long after the one before it; and the first of so many when as many could be due again.
inline constexpr std::chrono::microseconds kTimerGap(10);

/// A bit less than a microsecond of arithmetic whose result depends on `seed` alone.
inline std::uint64_t piece_of_work(std::uint64_t seed) {
  std::uint64_t state = seed * 2 + 1;
  for (int step = 0; step < 400; ++step) {
    state ^= state >> 12;
    state *= 0x2545F4914F6CDD1D;
  }
  return state;
}

/// What worker `from` sends in round `round` of all pairs.
inline std::uint64_t pair_seed(int from, int round) { return static_cast<std::uint64_t>(from) * 1'000'003 + round; }

/// What all workers of all pairs have together after so many rounds.
inline std::uint64_t pairs_sum(int rounds) {
  std::uint64_t sum = 0;
  for (int from = 0; from < kPairWorkers; ++from)
    for (int round = 0; round < rounds; ++round) sum += piece_of_work(pair_seed(from, round)) * (kPairWorkers - 1);
  return sum;
}

/// Small random numbers from a seed, the same on every side.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  int below(int limit) {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<int>((static_cast<std::uint64_t>(state_) * static_cast<std::uint64_t>(limit)) >> 32);
  }

 private:
  std::uint32_t state_;
};

}  // namespace troupe::bench::actors
