// Notices at once that the worker that serves takes no more ops, because it has died; see wire/life_line.hpp. It only
// brings the news forward: the hang-up and the reap tell it, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "troupe/core/result.hpp"
#include "troupe/wire/life_line.hpp"

namespace troupe::inline v0::detail {

class DeathWatch {
 public:
  /// `died` is called with the generation, in a thread of its own, once for each worker at most. It must not throw.
  explicit DeathWatch(std::function<void(std::int64_t)> died) noexcept : died_(std::move(died)) {}
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

  Result<void> start();
  /// That worker serves from now on; nobody looks at the one before any more.
  void watch(wire::LifeLine& life, std::int64_t generation) noexcept;
  void stop() noexcept;
  /// In a fork, where there is no such thread, and the lines are the parent's.
  void forget() noexcept;

 private:
  struct Watched {
    wire::LifeLine* life = nullptr;
    std::int64_t generation = 0;
  };

  void run() noexcept;
  void replace(std::optional<Watched> by) noexcept;

  const std::function<void(std::int64_t)> died_;
  std::mutex mutex_;
  std::optional<Watched> watched_;
  bool stopping_ = false;
  std::atomic<std::uint32_t> changes_{0};  // of these two
  std::thread thread_;
};

}  // namespace troupe::inline v0::detail
