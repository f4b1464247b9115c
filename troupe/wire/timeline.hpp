// A lane's completion counter: an op is done when its lane's timeline has reached the op's ticket. The device writes
// it, everyone may read it, and it only grows.
//
// It stands in memory that a worker can write, and anything may run in a worker: a stray write must not look as if ops
// were done. So the word proves itself: beside the ticket it has a mark, which only app and worker can make, and the
// sum of the proofs of all failures up to that ticket, so that a wiped or forged reply shows, too.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::inline v0::wire {

/// Position of an op in its lane: 1, 2, 3, ... Tickets wrap after 2^32 ops; compare with `reached`.
using Ticket = std::uint32_t;

/// True when `now` is at or past `ticket`, for tickets less than 2^31 apart.
constexpr bool reached(Ticket now, Ticket ticket) noexcept { return static_cast<std::int32_t>(now - ticket) >= 0; }

/// When many ops wait, an accelerator may raise a timeline once for several ops in a row, but never for more than this.
/// So a running op may be this far ahead of its timeline, unless its record is `alone`.
inline constexpr Ticket kMaxOpsPerFlag = 8;

/// Makes the marks of one channel from a secret that app and worker know and a stray write does not. It is no
/// protection from code that searches its worker's memory for the secret.
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

/// The word in a timeline, from its high to its low bits: the ticket, half a mark, and the sum of failures. Ticket 0,
/// before the first op, has its mark, too, so wiped memory is never a valid word.
struct TimelineWord {
  static constexpr std::uint64_t make(const MarkKey& key, std::uint32_t lane, Ticket ticket,
                                      std::uint16_t failures) noexcept {
    return std::uint64_t{ticket} << 32 | std::uint64_t{half_mark(key, lane, ticket)} << 16 | failures;
  }
  static constexpr Ticket ticket(std::uint64_t word) noexcept { return static_cast<Ticket>(word >> 32); }
  static constexpr std::uint16_t failures(std::uint64_t word) noexcept { return static_cast<std::uint16_t>(word); }
  static constexpr bool is_marked(const MarkKey& key, std::uint32_t lane, std::uint64_t word) noexcept {
    return static_cast<std::uint16_t>(word >> 16) == half_mark(key, lane, ticket(word));
  }

 private:
  static constexpr std::uint16_t half_mark(const MarkKey& key, std::uint32_t lane, Ticket ticket) noexcept {
    return static_cast<std::uint16_t>(key.mark(lane, ticket));
  }
};

/// The worker's side of one timeline, for whoever raises it or waits for it there. It believes the word in shared
/// memory only when the mark is right and the ticket does not go back; otherwise it keeps what it knew.
class Timeline {
 public:
  Timeline(std::atomic<std::uint64_t>& word, const MarkKey& key, std::uint32_t lane) noexcept
      : word_(word), key_(key), lane_(lane) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// What the device had finished at this moment. Whatever the device wrote before raising the counter to this value is
  /// visible to the caller afterwards. Sequentially consistent, because a sleeper looks here once more after it has
  /// said that it sleeps (see Bell); an acquire load could happen before others see that.
  Ticket now() const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_seq_cst);
    const Ticket ticket = TimelineWord::ticket(word);
    const Ticket known = known_.load(std::memory_order_seq_cst);
    if (ticket == known || !reached(ticket, known) || !TimelineWord::is_marked(key_, lane_, word)) return known;
    known_.store(ticket, std::memory_order_seq_cst);
    return ticket;
  }
  bool done(Ticket ticket) const noexcept { return reached(now(), ticket); }

  /// The word that says that everything up to `ticket` is done. `failure` is the proof of that op's failure (see
  /// `Channel::write_reply`), or 0. Call it in the order of the tickets, because it sums up the failures.
  std::uint64_t word_for(Ticket ticket, std::uint16_t failure) noexcept {
    failures_ = static_cast<std::uint16_t>(failures_ + failure);
    return TimelineWord::make(key_, lane_, ticket, failures_);
  }
  /// For lanes that run on a CPU; a GPU stores a word to `address()` itself. Sequentially consistent, because whoever
  /// raises it looks next whether somebody sleeps (see Bell).
  void raise_to(Ticket ticket, std::uint16_t failure = 0) noexcept { put(word_for(ticket, failure)); }
  void put(std::uint64_t word) noexcept;

  void* address() const noexcept { return &word_; }
  /// The ticket's offset in the word, for a GPU that waits for it.
  static constexpr std::size_t kTicketOffset = 4;
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

 private:
  std::atomic<std::uint64_t>& word_;
  const MarkKey key_;
  const std::uint32_t lane_;
  mutable std::atomic<Ticket> known_{0};
  std::uint16_t failures_ = 0;  // only whoever raises it uses this; they take turns
};

}  // namespace troupe::inline v0::wire
