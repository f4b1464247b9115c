// Calls that Python waits for: in a thread, where Ctrl-C ends the wait, or on an event loop, which is woken by one
// descriptor for all of them. An actor of the system awaits the calls; nobody needs a thread for each.
#include <nanobind/stl/unique_ptr.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "handle.hpp"
#include "troupe/core/park.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"

namespace troupe::python {
namespace {

/// Where calls that have ended are laid down. Its descriptor is readable while there are some.
class Doorbell {
 public:
  Doorbell() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) raise(ErrorKind::out_of_memory, "the machine gives no eventfd");
  }
  ~Doorbell() { close(descriptor_); }
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  /// Any thread.
  void ring(std::uint64_t ticket, Result<void> end) {
    const std::lock_guard lock(mutex_);
    ended_.emplace_back(ticket, std::move(end));
    if (ended_.size() > 1) return;  // it has rung, and nobody has answered yet
    const std::uint64_t one = 1;
    (void)!write(descriptor_, &one, sizeof one);
  }
  std::vector<std::pair<std::uint64_t, Result<void>>> answer() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    (void)!read(descriptor_, &count, sizeof count);
    return std::exchange(ended_, {});
  }

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, Result<void>>> ended_;
};

/// Awaits calls, as many at once as there are.
class Waiter {
 public:
  struct Wait {
    std::shared_ptr<Doorbell> bell;  // shared with whoever waits
    std::uint64_t ticket;
    std::unique_ptr<Call<void>> call;
    std::stop_token stop;
  };
  Task<void> on(Wait wait) {
    Result<void> end = co_await std::move(*wait.call).cancel_on(wait.stop);
    wait.bell->ring(wait.ticket, std::move(end));
  }
};

/// A waiter, for one call or for those of a loop. It ends with the last of them.
class OwnedWaiter {
 public:
  explicit OwnedWaiter(detail::SystemCore& core)
      : core_(&core),
        ref_(checked(
            detail::spawn_under<Waiter>(core, detail::internals_of(core), {.mailbox_capacity = kMostWaiting}))) {}
  OwnedWaiter(OwnedWaiter&& other) noexcept : core_(other.core_), ref_(std::exchange(other.ref_, {})) {}
  OwnedWaiter& operator=(OwnedWaiter&&) = delete;
  ~OwnedWaiter() { ref_.drain(); }

  bool is_of(const detail::SystemCore& core) const noexcept { return core_ == &core; }
  void begin(std::shared_ptr<Doorbell> bell, std::uint64_t ticket, Call<void> call, std::stop_token stop) {
    auto kept = std::make_unique<Call<void>>(std::move(call));
    check(ref_.tell<Waiter::Wait>(std::move(bell), ticket, std::move(kept), std::move(stop)));
  }

 private:
  static constexpr std::uint32_t kMostWaiting = 1 << 20;

  detail::SystemCore* core_;
  Ref<Waiter> ref_;
};

detail::SystemCore& core_of(const Device& device) { return DeviceParts::state(device)->system(); }

/// What an event loop has: a doorbell, and a waiter in each system that it waits for.
class LoopBell {
 public:
  LoopBell() = default;
  LoopBell(const LoopBell&) = delete;
  LoopBell& operator=(const LoopBell&) = delete;

  int descriptor() const noexcept { return bell_->descriptor(); }
  Doorbell& bell() noexcept { return *bell_; }
  void begin(const Device& device, std::uint64_t ticket, Call<void> call, std::stop_token stop) {
    detail::SystemCore& core = core_of(device);
    auto found = std::ranges::find_if(waiters_, [&](const OwnedWaiter& waiter) { return waiter.is_of(core); });
    if (found == waiters_.end()) found = waiters_.emplace(waiters_.end(), core);
    found->begin(bell_, ticket, std::move(call), std::move(stop));
  }

 private:
  std::shared_ptr<Doorbell> bell_ = std::make_shared<Doorbell>();  // shared with the calls that are waited for
  std::list<OwnedWaiter> waiters_;
};

/// The end of a call that was submitted, for the thread that asks for it later.
class Ending final : public detail::OpGroup {
 public:
  void op_has_ended(std::uint32_t, const Result<void>& end) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      end_ = end;
    }
    has_ended_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }
  /// None when it takes longer.
  std::optional<Result<void>> wait(Duration patience) {
    if (!has_ended()) spin_until([&] { return has_ended(); });
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return end_.has_value(); });
    return end_;
  }

 private:
  std::atomic<bool> has_ended_{false};  // for a look without the lock
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<void>> end_;
};

/// A call that tells an `Ending` how it ends.
class ToldCall : public Call<void> {
 public:
  ToldCall(Call<void> call, detail::IntrusivePtr<detail::OpGroup> told) : Call<void>(std::move(call)) {
    call_->group = std::move(told);
    call_->has_group = true;
  }
  const detail::IntrusivePtr<detail::OpCall>& op() const noexcept { return call_; }
};

/// A call that was submitted when this was made, so that ops that the program submits afterwards come after it.
class Begun {
 public:
  Begun(const Device& device, Call<void> call)
      : device_(device), ending_(detail::IntrusivePtr<Ending>::adopt(new Ending)) {
    ToldCall told(std::move(call), ending_);
    op_ = told.op();
    const Result<void> taken = [&]() -> Result<void> {
      nb::gil_scoped_release released;  // it may wait for room
      return std::move(told).submit(std::source_location());
    }();
    check(taken);
  }

  /// Ctrl-C ends the wait and gives the call up.
  void wait() {
    for (;;) {
      std::optional<Result<void>> end;
      {
        nb::gil_scoped_release released;
        end = ending_->wait(kSignalLook);
      }
      if (end) return check(*end);
      if (PyErr_CheckSignals() == 0) continue;
      give_up();
      throw nb::python_error();
    }
  }
  bool has_ended() const noexcept { return ending_->has_ended(); }
  void give_up() {
    if (!op_->ended_in_engine.load(std::memory_order_acquire)) DeviceParts::state(device_)->engine().give_up(*op_);
  }

 private:
  static constexpr Duration kSignalLook = std::chrono::milliseconds(50);

  Device device_;
  detail::IntrusivePtr<Ending> ending_;      // shared with the op
  detail::IntrusivePtr<detail::OpCall> op_;  // shared with the engine
};

/// A wait that an event loop has begun, so that it can give it up.
class Waiting {
 public:
  explicit Waiting(std::stop_source stop) : stop_(std::move(stop)) {}
  void give_up() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
};

/// A call as Python holds it until it is submitted, which happens once.
class HeldCall {
 public:
  HeldCall(Device device, Call<void> call) : device_(std::move(device)), call_(std::move(call)) {}

  void deadline(double seconds) {
    held().deadline(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
  }
  void get() { wait_for_end(device_, take()); }
  void submit() { check(take().submit(std::source_location())); }
  std::unique_ptr<Begun> begin() { return std::make_unique<Begun>(device_, take()); }
  Waiting start(LoopBell& bell, std::uint64_t ticket) {
    std::stop_source stop;
    bell.begin(device_, ticket, take(), stop.get_token());
    return Waiting(std::move(stop));
  }

 private:
  Call<void>& held() {
    if (!call_) raise(ErrorKind::invalid_argument, "the call was submitted before; a call is submitted once");
    return *call_;
  }
  Call<void> take() {
    Call<void> taken = std::move(held());
    call_.reset();
    return taken;
  }

  Device device_;
  std::optional<Call<void>> call_;
};

nb::object exception_of(const Error& error) {
  try {
    raise(error);
  } catch (nb::python_error& raised) {
    return nb::borrow(raised.value());
  }
}

nb::list answered(LoopBell& loop) {
  nb::list all;
  for (auto& [ticket, end] : loop.bell().answer())
    all.append(nb::make_tuple(ticket, end ? nb::object(nb::none()) : exception_of(end.error())));
  return all;
}

std::vector<ArrayUse> uses_from(nb::handle given) {
  std::vector<ArrayUse> uses;
  for (const nb::handle pair : given)
    uses.push_back(use_from(nb::cast<std::string>(pair[0]), handle_of(nb::object(pair[1])).array));
  return uses;
}

}  // namespace

ArrayUse use_from(const std::string& word, const AnyArray& array) {
  if (word == "reads") return reads(array);
  if (word == "writes") return writes(array);
  return word == "part" ? writes_part(array) : updates(array);
}

void wait_for_end(const Device& device, Call<void> call) {
  const auto bell = std::make_shared<Doorbell>();
  std::stop_source stop;
  OwnedWaiter waiter(core_of(device));
  waiter.begin(bell, 0, std::move(call), stop.get_token());
  for (;;) {
    {
      nb::gil_scoped_release released;
      pollfd waits{bell->descriptor(), POLLIN, 0};
      (void)poll(&waits, 1, 50);
    }
    for (auto& [ticket, end] : bell->answer()) return check(end);
    if (PyErr_CheckSignals() == 0) continue;
    stop.request_stop();
    throw nb::python_error();
  }
}

void bind_calls(nb::module_& module) {
  nb::class_<LoopBell>(module, "LoopBell")
      .def(nb::init<>())
      .def("descriptor", &LoopBell::descriptor)
      .def("answer", &answered);
  nb::class_<Waiting>(module, "Waiting").def("give_up", &Waiting::give_up);
  nb::class_<Begun>(module, "Begun")
      .def("wait", &Begun::wait)
      .def_prop_ro("has_ended", &Begun::has_ended)
      .def("give_up", &Begun::give_up);
  nb::class_<HeldCall>(module, "HeldCall")
      .def("begin", &HeldCall::begin)
      .def("deadline", &HeldCall::deadline)
      .def("get", &HeldCall::get)
      .def("submit", &HeldCall::submit)
      .def("start", &HeldCall::start);
  module.def("call_nop", [](const Device& device) { return HeldCall(device, device.nop()); });
  module.def("call_ready",
             [](const Handle& array) { return HeldCall(array.device, array.device.wait_for(array.array)); });
  module.def("prepare", [](const Device& device, const std::string& path, const std::string& function, nb::handle uses,
                           nb::bytes parameters) {
    const auto* const bytes = static_cast<const std::byte*>(parameters.data());
    return checked(DeviceParts::prepare(device, path, function, uses_from(uses), std::span(bytes, parameters.size())));
  });
  module.def("forget", [](const Device& device, std::uint64_t prepared) { DeviceParts::forget(device, prepared); });
  module.def("call_plugin", [](const Device& device, const std::string& path, const std::string& function,
                               nb::handle uses, nb::bytes parameters) {
    const auto* const bytes = static_cast<const std::byte*>(parameters.data());
    return HeldCall(device, device.call_plugin(path, function, uses_from(uses), std::span(bytes, parameters.size())));
  });
}

}  // namespace troupe::python
