#include "troupe/device/death_watch.hpp"

#include <pthread.h>

#include <string>
#include <system_error>
#include <utility>

namespace troupe::inline v0::detail {

DeathWatch::~DeathWatch() { stop(); }

Result<void> DeathWatch::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread to watch the device's workers: ") + error.what());
  }
  pthread_setname_np(thread_.native_handle(), "troupe-lives");
  return {};
}

void DeathWatch::watch(wire::LifeLine& life, std::int64_t generation) noexcept { replace(Watched{&life, generation}); }

void DeathWatch::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  replace(std::nullopt);
  thread_.join();
}

void DeathWatch::forget() noexcept {
  if (thread_.joinable()) thread_.detach();
}

void DeathWatch::replace(std::optional<Watched> by) noexcept {
  const std::lock_guard lock(mutex_);
  const std::optional<Watched> before = std::exchange(watched_, by);
  if (before && !(by && by->life == before->life)) before->life->let_go();  // the thread looks up
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_all();
}

void DeathWatch::run() noexcept {
  for (;;) {
    const std::uint32_t changes = changes_.load(std::memory_order_acquire);
    std::optional<Watched> watched;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      watched = watched_;
    }
    if (!watched) {
      changes_.wait(changes, std::memory_order_acquire);
      continue;
    }
    const bool is_dead = watched->life->wait_until_cut();
    {
      const std::lock_guard lock(mutex_);
      // Whether it has died, or somebody wrote over the line: there is nothing more to see of this one.
      if (watched_ && watched_->generation == watched->generation) watched_.reset();
    }
    if (is_dead) died_(watched->generation);
  }
}

}  // namespace troupe::inline v0::detail
