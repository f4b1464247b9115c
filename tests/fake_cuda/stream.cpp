#include "tests/fake_cuda/stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace fake_cuda {
namespace {

/// Words that a stream waits for are also written by who does not tell us, so it looks again.
constexpr auto kLookAgain = std::chrono::microseconds(100);

/// Never destroyed: streams of a process that ends without closing them may still run.
struct World {
  std::mutex mutex;
  std::condition_variable moved;  // something was added, done, destroyed or poisoned
  std::vector<Stream*> streams;
  std::atomic<int> poison{0};
};
World& world() {
  static World& world = *new World;
  return world;
}

}  // namespace

int poison_code() noexcept { return world().poison.load(std::memory_order_acquire); }

void poison(int code) noexcept {
  int none = 0;
  world().poison.compare_exchange_strong(none, code);
  const std::lock_guard lock(world().mutex);
  world().moved.notify_all();
}

Stream::Stream() : thread_([this] { run(); }) {
  const std::lock_guard lock(world().mutex);
  world().streams.push_back(this);
}

Stream::~Stream() {
  {
    const std::lock_guard lock(world().mutex);
    closing_ = true;
    std::erase(world().streams, this);
    world().moved.notify_all();
  }
  thread_.join();
}

void Stream::add(Step step) {
  const std::lock_guard lock(world().mutex);
  steps_.push_back(std::move(step));
  world().moved.notify_all();
}

void Stream::add_wait(const std::uint32_t* word, std::uint32_t value) {
  add({{},
       [word, value] { return static_cast<std::int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) >= 0; },
       false});
}

bool Stream::is_idle() {
  const std::lock_guard lock(world().mutex);
  return steps_.empty();
}

void Stream::run() {
  World& all = world();
  std::unique_lock lock(all.mutex);
  bool drops = false;
  for (;;) {
    all.moved.wait(lock, [&] { return closing_ || !steps_.empty(); });
    if (steps_.empty()) return;
    const Step& step = steps_.front();  // stays where it is while others are added
    while (!drops && ((step.ready && !step.ready()) || page().held.load() != 0 || poison_code() != 0)) {
      drops = closing_;
      if (!drops) all.moved.wait_for(lock, kLookAgain);
    }
    if (step.work && (!drops || step.is_cleanup)) {
      lock.unlock();
      step.work();
      lock.lock();
    }
    steps_.pop_front();
    all.moved.notify_all();
  }
}

void Event::add_to(Stream& stream, std::shared_ptr<Event> self) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(world().mutex);
    number = ++recorded_;
  }
  stream.add([self = std::move(self), number] {
    const std::lock_guard lock(world().mutex);
    self->done_ = std::max(self->done_, number);
    world().moved.notify_all();
  });
}

bool Event::is_done() {
  const std::lock_guard lock(world().mutex);
  return done_ == recorded_;
}

void Event::wait() {
  std::unique_lock lock(world().mutex);
  world().moved.wait(lock, [&] { return done_ == recorded_ || poison_code() != 0; });
}

void wait_for_all_streams() {
  std::unique_lock lock(world().mutex);
  world().moved.wait(lock, [] {
    return poison_code() != 0 || std::ranges::all_of(world().streams, [](Stream* s) { return s->steps_.empty(); });
  });
}

}  // namespace fake_cuda
