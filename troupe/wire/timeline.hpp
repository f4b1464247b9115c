// A lane's completion counter: an op is done when its lane's timeline has reached the op's ticket. The device writes
// it, everyone may read it, and it only grows.
//
// It stands in memory that a worker can write, and anything may run in a worker: a stray write must not look as if ops
// were done. So a word proves what it says. Beside the ticket it has a mark, which only app and worker can make, and
// which covers the failures up to that ticket, so that a reply that was wiped out, or forged, shows as well.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace troupe::inline v0::wire {

/// Position of an op in its lane: 1, 2, 3, ... Tickets wrap after 2^32 ops; compare with `reached`.
using Ticket = std::uint32_t;

/// True when `now` is at or past `ticket`, for tickets less than 2^31 apart.
constexpr bool reached(Ticket now, Ticket ticket) noexcept { return static_cast<std::int32_t>(now - ticket) >= 0; }

/// An accelerator may raise a timeline once for several ops in a row, when many wait; never for more than this. Then an
/// op that runs may be this far after what its timeline says, unless its record is `alone`.
inline constexpr Ticket kMaxOpsPerFlag = 8;

/// What app and worker know and stray writes do not: makes the marks of one channel. No protection from code that looks
/// for it in its worker's memory.
class MarkKey {
 public:
  constexpr MarkKey() noexcept = default;
  constexpr explicit MarkKey(std::uint64_t secret) noexcept : secret_(secret) {}
  constexpr std::uint64_t secret() const noexcept { return secret_; }

  /// The mark of `value` at one of many places (a lane, a kind of word).
  constexpr std::uint32_t mark(std::uint64_t place, std::uint64_t value) const noexcept {
    std::uint64_t mixed = (value + 1) * kOdd ^ secret_ ^ ((place + 1) << 40);
    mixed = (mixed ^ (mixed >> 31)) * kOdd;
    return static_cast<std::uint32_t>(mixed >> 32);
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t secret_ = 0;
};

/// How the words of one lane's timeline are written and read. A word has 32 bits, because a GPU takes longer to write
/// more: the ticket in the high bits, as many of them as the ring needs, and a mark in all the others. Zero, as the
/// memory is at first, stands for ticket 0.
class TimelineWords {
 public:
  /// Needs a power of two of units, at most 2^20: then a mark has at least ten bits.
  constexpr TimelineWords(const MarkKey& key, std::uint32_t lane, std::uint64_t ring_units) noexcept
      : key_(key), lane_(lane), mark_bits_(mark_bits(ring_units)) {}

  /// Tickets are kept modulo four times the ring. Two ops that are in the ring at one time are less than a ring apart;
  /// and what a lane waits for elsewhere may have been done for nearly two rings before it comes to look, which must
  /// not be half of what a word can say.
  static constexpr unsigned mark_bits(std::uint64_t ring_units) noexcept {
    return 30 - static_cast<unsigned>(std::countr_zero(ring_units));
  }

  /// Everything up to `ticket` is done, and the proofs of all failures up to there have that sum.
  constexpr std::uint32_t make(Ticket ticket, std::uint16_t failures) const noexcept {
    const std::uint32_t mark = key_.mark(lane_, std::uint64_t{failures} << 32 | ticket);
    return least(ticket) | mark >> (32 - mark_bits_);
  }
  /// The ticket of a word: the first that it may be, from `from` on.
  constexpr Ticket ticket(std::uint32_t word, Ticket from) const noexcept {
    return from + ((word - least(from)) >> mark_bits_);
  }
  /// Every word of this ticket and of those that follow is at or past this one, as `reached` compares.
  constexpr std::uint32_t least(Ticket ticket) const noexcept { return ticket << mark_bits_; }

 private:
  MarkKey key_;
  std::uint32_t lane_;
  unsigned mark_bits_;
};

/// The worker's side of one timeline, for those who raise it and those who wait for it there. Of what stands in shared
/// memory it believes the words that it made itself, and does not go back; else it keeps to what it knew.
class Timeline {
 public:
  /// So many words may have been made, and no more, that are not written yet.
  static constexpr Ticket kMaxAhead = 256;

  Timeline(std::atomic<std::uint32_t>& word, const TimelineWords& words) noexcept : word_(word), words_(words) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// What the device had finished at this moment. Whatever the device wrote before raising the counter to this value is
  /// visible to the caller afterwards. Sequentially consistent, because whoever is about to sleep looks here once more
  /// after it has said so (see Bell): an acquire load may be done before others can see what it said.
  Ticket now() const noexcept {
    const Ticket known = known_.load(std::memory_order_seq_cst);  // first: a word that is read later is not behind it
    const std::uint32_t word = word_.load(std::memory_order_seq_cst);
    const Ticket ticket = words_.ticket(word, known);
    if (ticket == known || !is_made(ticket, word)) return known;
    know(ticket, known);
    return ticket;
  }
  bool done(Ticket ticket) const noexcept { return reached(now(), ticket); }

  /// The word that says that everything up to `ticket` is done, and that the last op of them failed with that proof
  /// (see `Channel::write_reply`; 0: it did not). In the order of the tickets: it counts the failures.
  std::uint32_t word_for(Ticket ticket, std::uint16_t failure) noexcept {
    failures_ = static_cast<std::uint16_t>(failures_ + failure);
    const std::uint32_t word = words_.make(ticket, failures_);
    made_[ticket % kMaxAhead].store(word, std::memory_order_relaxed);
    last_made_.store(ticket, std::memory_order_release);
    return word;
  }
  /// For lanes that run on a CPU; a GPU stores a word to `address()` itself. Sequentially consistent, because whoever
  /// raises it looks next whether somebody sleeps until it moves (see Bell).
  void raise_to(Ticket ticket, std::uint16_t failure = 0) noexcept { put(ticket, word_for(ticket, failure)); }
  /// The same with a word that was made before.
  void put(std::uint32_t word) noexcept { put(words_.ticket(word, known_.load(std::memory_order_relaxed)), word); }

  void* address() const noexcept { return &word_; }
  const TimelineWords& words() const noexcept { return words_; }

 private:
  using Word = std::atomic<std::uint32_t>;

  void put(Ticket ticket, std::uint32_t word) noexcept;
  void know(Ticket ticket, Ticket known) const noexcept;
  bool is_made(Ticket ticket, std::uint32_t word) const noexcept {
    return reached(last_made_.load(std::memory_order_acquire), ticket) &&
           made_[ticket % kMaxAhead].load(std::memory_order_relaxed) == word;
  }

  Word& word_;
  const TimelineWords words_;
  mutable std::atomic<Ticket> known_{0};
  std::uint16_t failures_ = 0;  // of whoever raises it; those take turns
  std::atomic<Ticket> last_made_{0};
  std::array<Word, kMaxAhead> made_;  // the last words, by their tickets
};

}  // namespace troupe::inline v0::wire
