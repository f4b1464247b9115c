#include "troupe/device/control_loop.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "troupe/core/assert.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0 {
namespace {

/// After this many turns it looks at the descriptors, too.
constexpr int kTurnsInARow = 64;
constexpr int kEventsAtOnce = 16;

/// One report only, until `listen_again`.
epoll_event one_report(int descriptor) noexcept {
  return {.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = descriptor}};
}

}  // namespace

Result<std::unique_ptr<ControlLoop>> ControlLoop::start(LogSink log) {
  wire::Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(wire::errno_error("no descriptor for the devices' control loop", errno));
  wire::Descriptor watched(epoll_create1(EPOLL_CLOEXEC));
  if (!watched) return fail(wire::errno_error("no descriptor for the devices' control loop", errno));
  epoll_event woken{.events = EPOLLIN, .data = {.fd = wake.get()}};
  if (epoll_ctl(watched.get(), EPOLL_CTL_ADD, wake.get(), &woken) != 0)
    return fail(wire::errno_error("the devices' control loop cannot wait", errno));
  std::unique_ptr<LogQueue> queue = TROUPE_TRY(LogQueue::start(std::move(log)));
  std::unique_ptr<ControlLoop> loop(new ControlLoop(std::move(wake), std::move(watched), std::move(queue)));
  try {
    loop->thread_ = std::thread([raw = loop.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for the devices' control loop: ") + error.what());
  }
  pthread_setname_np(loop->thread_.native_handle(), "troupe-control");
  return loop;
}

ControlLoop::ControlLoop(wire::Descriptor wake, wire::Descriptor watched, std::unique_ptr<LogQueue> log)
    : wake_(std::move(wake)),
      watched_(std::move(watched)),
      log_(std::move(log)),
      own_lines_(log_->add_speaker("the devices' control loop")) {}

ControlLoop::~ControlLoop() { join(); }

void ControlLoop::schedule(Runnable& runnable, Scheduling) noexcept {
  ready_.push(runnable);
  eventfd_write(wake_.get(), 1);
}

void ControlLoop::join() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  eventfd_write(wake_.get(), 1);
  thread_.join();
  log_->close();
}

bool ControlLoop::take_log(LogLevel level, std::string_view source, std::string_view message) noexcept {
  log_->say(*own_lines_, level, source, message);
  return true;
}

// ---- what is watched ----

Result<void> ControlLoop::when_readable(int descriptor, std::function<void()> ready) {
  const auto [entry, is_new] = when_readable_.try_emplace(descriptor);
  TROUPE_ASSERT(is_new, "a descriptor is given once, and then listened to again");
  entry->second = std::move(ready);
  epoll_event event = one_report(descriptor);
  if (epoll_ctl(watched_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  const int number = errno;
  when_readable_.erase(entry);
  return fail(wire::errno_error("the devices' control loop cannot listen to a worker", number));
}

void ControlLoop::listen_again(int descriptor) noexcept {
  epoll_event event = one_report(descriptor);
  const int failed = epoll_ctl(watched_.get(), EPOLL_CTL_MOD, descriptor, &event);
  TROUPE_ASSERT(failed == 0, "a descriptor that is listened to again was listened to before");
}

void ControlLoop::forget(int descriptor) noexcept {
  if (when_readable_.erase(descriptor) > 0) epoll_ctl(watched_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

// ---- the thread ----

void ControlLoop::run() noexcept {
  for (;;) {
    run_turns();
    const bool is_idle = ready_.empty();
    if (is_idle && stopping_.load(std::memory_order_seq_cst)) return;
    wait(is_idle);
  }
}

void ControlLoop::run_turns() noexcept {
  for (int i = 0; i < kTurnsInARow; ++i) {
    Runnable* const turn = ready_.pop();
    if (!turn) return;
    turn->run();
  }
}

void ControlLoop::wait(bool may_sleep) noexcept {
  if (std::exchange(lacks_memory_, false)) std::this_thread::sleep_for(detail::kMemoryPause);
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = epoll_wait(watched_.get(), events.data(), kEventsAtOnce, may_sleep ? -1 : 0);
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
    if (descriptor != wake_.get()) {
      is_readable(descriptor);
      continue;
    }
    eventfd_t times = 0;
    eventfd_read(wake_.get(), &times);
  }
}

void ControlLoop::is_readable(int descriptor) noexcept {
  const auto found = when_readable_.find(descriptor);
  if (found == when_readable_.end()) return;  // an earlier `ready` has forgotten it
  try {
    found->second();
  } catch (const std::bad_alloc&) {
    lacks_memory_ = true;
    listen_again(descriptor);
  }
}

}  // namespace troupe::inline v0
