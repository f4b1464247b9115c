// The threads that the ops of a host worker share. A run of `count` items is cut into blocks, and the caller and the
// team's idle threads take block after block. Where the blocks are depends on the count and on what an item costs,
// never on how many threads there are: a reduction that joins its blocks in a fixed tree has the same bits on every
// machine. Work of one block is done by the caller at once, as if there were no team.
//
//   team.run(count, Grain::of_bytes(8), [&](std::int64_t begin, std::int64_t end) noexcept { ... });
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>

#include "troupe/backend/op_notes.hpp"
#include "troupe/core/fork.hpp"
#include "troupe/core/park.hpp"

namespace troupe::host {

/// How many items are enough for a block. Work of less than two blocks is not worth waking a thread for.
class Grain {
 public:
  /// Two such blocks take as long by one thread as by two of which one sleeps: docs/decisions/0019.
  static constexpr double kBlockNs = 10'000;
  /// What a core moves in that time, from memory or from a cache.
  static constexpr std::int64_t kBlockBytes = std::int64_t{256} << 10;

  /// For work that memory limits: the bytes that an item reads and writes.
  static constexpr Grain of_bytes(std::int64_t per_item) noexcept {
    return Grain(per_item < 1 ? kBlockBytes : kBlockBytes / per_item);
  }
  /// For work that takes longer than moving it.
  static constexpr Grain of_ns(double per_item) noexcept {
    constexpr double kLeast = 1e-3;
    return Grain(static_cast<std::int64_t>(kBlockNs / (per_item < kLeast ? kLeast : per_item)));
  }
  /// So many items, whatever they cost.
  static constexpr Grain of_items(std::int64_t items) noexcept { return Grain(items); }

  static constexpr Grain smaller(Grain a, Grain b) noexcept { return a.items() < b.items() ? a : b; }

  constexpr std::int64_t items() const noexcept { return items_; }

 private:
  explicit constexpr Grain(std::int64_t items) noexcept : items_(items < 1 ? 1 : items) {}
  std::int64_t items_;
};

/// Where the blocks of a run are. All have `size` items but the last, which may have fewer.
struct Blocks {
  /// As many as threads of the largest machines need to end at about the same time.
  static constexpr std::int64_t kLimit = 1024;
  /// Large blocks begin at multiples of so many items, where vectors and lines of the cache begin.
  static constexpr std::int64_t kAlignment = 64;

  constexpr Blocks(std::int64_t count_, Grain grain) noexcept : count(count_), size(count_) {
    if (count < 1) return;
    number = std::clamp<std::int64_t>(count / grain.items(), 1, kLimit);
    if (number == 1) return;
    size = (count - 1) / number + 1;
    if (size >= 16 * kAlignment) size += (kAlignment - size % kAlignment) % kAlignment;
    number = (count - 1) / size + 1;
  }
  constexpr std::int64_t begin(std::int64_t block) const noexcept { return block * size; }
  constexpr std::int64_t end(std::int64_t block) const noexcept {
    return block + 1 == number ? count : (block + 1) * size;
  }

  std::int64_t count;
  std::int64_t size;
  std::int64_t number = 0;
};

class Team {
 public:
  /// Runs at most `size` (1 or more) threads at once, the callers among them; threads of its own are made by the first
  /// run that has work for them. Each calls `in_new_thread` first.
  explicit Team(int size, std::function<void()> in_new_thread = [] {});
  /// Nobody may be in a run.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// One without threads of its own, for those who work alone.
  static Team& of_one();

  int size() const noexcept { return size_; }
  /// How many threads of its own it has made.
  int threads() const noexcept { return started_.load(std::memory_order_acquire); }

  /// Calls `work(begin, end)` for parts that make up [0, count), each once, and returns when all have returned. Any
  /// thread may call it at any time; what it wrote is visible to `work`, and what `work` wrote to the caller.
  /// The caller works on nothing but its own run. A run inside a block, and one in a fork, is done by its caller alone.
  /// `work` must not fork.
  template <class Work>
  void run(std::int64_t count, Grain grain, const Work& work) noexcept {
    static_assert(std::is_nothrow_invocable_v<const Work&, std::int64_t, std::int64_t>, "a block has no way to throw");
    if (is_small(count, grain)) {
      if (count > 0) work(std::int64_t{0}, count);
      return;
    }
    const Blocks blocks(count, grain);
    run_blocks(blocks, [&](std::int64_t block) noexcept { work(blocks.begin(block), blocks.end(block)); });
  }

  /// `map(begin, end)` of each block, joined by `join(left, right)` in a tree that depends on count and grain alone;
  /// `empty` when there are no items.
  template <class T, class Map, class Join>
  T reduce(std::int64_t count, Grain grain, T empty, const Map& map, const Join& join) noexcept {
    static_assert(std::is_nothrow_invocable_r_v<T, const Map&, std::int64_t, std::int64_t>,
                  "a block has no way to throw");
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64, "partial results lie on the caller's stack");
    if (count < 1) return empty;
    if (is_small(count, grain)) return map(std::int64_t{0}, count);
    const Blocks blocks(count, grain);
    std::array<T, Blocks::kLimit> partial;
    const auto at = [&](std::int64_t block) -> T& { return partial[static_cast<std::size_t>(block)]; };
    run_blocks(blocks, [&](std::int64_t block) noexcept { at(block) = map(blocks.begin(block), blocks.end(block)); });
    for (std::int64_t step = 1; step < blocks.number; step *= 2)
      for (std::int64_t block = 0; block + step < blocks.number; block += 2 * step)
        at(block) = join(at(block), at(block + step));
    return at(0);
  }

 private:
  using CallBlock = void (*)(const void* work, std::int64_t block) noexcept;

  /// A run that threads can help with. Places are the team's, not the caller's: a thread that is late for a run finds
  /// nothing left or the next run, never memory that is gone.
  struct alignas(64) Place {
    /// Blocks that nobody has taken. Whoever lowers it has taken one, and may read what stands below until `unfinished`
    /// says that the block is done.
    std::atomic<std::int64_t> untaken{0};
    std::atomic<std::int64_t> unfinished{0};
    Parker caller;
    CallBlock call = nullptr;
    const void* work = nullptr;
    std::int64_t blocks = 0;
    bool has_note = false;
    backend::OpNoted note;  // of the caller, for the last words of whoever helps
  };

  struct alignas(64) Helper {
    std::atomic<bool> sleeps{false};
    Parker parker;
    std::thread thread;
  };

  /// One place for every lane, the thread that drains the ring, and some to spare. Who finds none works alone.
  static constexpr int kPlaces = 32;
  /// How many sleepers each thread wakes that begins to work: the number at work doubles and more.
  static constexpr int kWakes = 2;

  /// Not two blocks.
  static constexpr bool is_small(std::int64_t count, Grain grain) noexcept {
    return count - grain.items() < grain.items();
  }
  template <class Block>
  void run_blocks(const Blocks& blocks, const Block& block) noexcept {
    run_call(
        blocks.number, [](const void* work, std::int64_t i) noexcept { (*static_cast<const Block*>(work))(i); },
        &block);
  }
  void run_call(std::int64_t blocks, CallBlock call, const void* work) noexcept;

  void run_together(int number, std::int64_t blocks, CallBlock call, const void* work) noexcept;
  int take_place() noexcept;
  static std::int64_t take_block(Place& place) noexcept;

  void start() noexcept;
  void help(int number) noexcept;
  bool help_with_all(int number) noexcept;
  static void help_with(Place& place, std::int64_t block) noexcept;
  bool has_work(int number) const noexcept;
  /// Callers count as threads at work: for each of them, the last of the helpers rests.
  bool is_wanted(int number, std::uint32_t open) const noexcept {
    return open != 0 && number + std::popcount(open) < size_;
  }
  void wake(int most) noexcept;
  bool get_up(Helper& helper) noexcept;

  const int size_;
  const std::function<void()> in_new_thread_;
  const detail::ForkMark fork_mark_;
  std::atomic<std::uint32_t> taken_{0};             // places with a caller
  alignas(64) std::atomic<std::uint32_t> open_{0};  // places that may have untaken blocks; their callers are at work
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::array<Place, kPlaces> places_;

  std::mutex starting_;
  std::atomic<bool> has_started_{false};
  std::atomic<int> started_{0};
  std::unique_ptr<Helper[]> helpers_;  // the first `started_` of them have threads
};

}  // namespace troupe::host
