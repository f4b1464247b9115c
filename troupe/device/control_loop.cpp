#include "troupe/device/control_loop.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace troupe::inline v0 {

Result<std::unique_ptr<ControlLoop>> ControlLoop::start() {
  wire::Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(wire::errno_error("no descriptor for the devices' control loop", errno));
  std::unique_ptr<ControlLoop> loop(new ControlLoop(std::move(wake)));
  try {
    loop->thread_ = std::thread([raw = loop.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for the devices' control loop: ") + error.what());
  }
  pthread_setname_np(loop->thread_.native_handle(), "troupe-control");
  return loop;
}

ControlLoop::~ControlLoop() { join(); }

void ControlLoop::schedule(Runnable& runnable, Scheduling) noexcept {
  {
    const std::lock_guard lock(mutex_);
    scheduled_.push_back(&runnable);
    if (scheduled_.size() > 1) return;  // whoever came first has woken it
  }
  eventfd_write(wake_.get(), 1);
}

void ControlLoop::join() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void ControlLoop::when_readable(int descriptor, std::function<void()> ready) {
  watched_[descriptor] = std::move(ready);
}

void ControlLoop::forget(int descriptor) noexcept { watched_.erase(descriptor); }

void ControlLoop::run() noexcept {
  for (;;) {
    run_turns();
    {
      const std::lock_guard lock(mutex_);
      if (!scheduled_.empty()) continue;
      if (stopping_) return;
    }
    wait();
  }
}

void ControlLoop::run_turns() noexcept {
  std::vector<Runnable*> turns;
  {
    const std::lock_guard lock(mutex_);
    turns.swap(scheduled_);
  }
  for (Runnable* turn : turns) turn->run();
}

void ControlLoop::wait() noexcept {
  std::vector<pollfd> polled{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  for (const auto& [descriptor, ready] : watched_) polled.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  if (poll(polled.data(), polled.size(), -1) < 0) return;
  if (polled[0].revents != 0) {
    eventfd_t count = 0;
    eventfd_read(wake_.get(), &count);
  }
  for (std::size_t i = 1; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    const auto found = watched_.find(polled[i].fd);
    if (found == watched_.end()) continue;  // forgotten by one that came before
    const std::function<void()> ready = std::move(found->second);
    watched_.erase(found);
    ready();
  }
}

}  // namespace troupe::inline v0
