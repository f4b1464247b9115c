#include "troupe/library/checkpoint/copies.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/checkpoint/format.hpp"
#include "troupe/op/memory.hpp"

namespace troupe::inline v0 {

/// Counts the copies that are under way, and keeps the error of the first one.
class Copies::Group final : public detail::OpGroup {
 public:
  Group(std::uint32_t count, detail::IntrusivePtr<detail::Outcome<void>> end) noexcept
      : left_(count), end_(std::move(end)) {}

  void op_has_ended(std::uint32_t number, const Result<void>& end) noexcept override {
    if (!end) {
      const std::lock_guard lock(mutex_);
      if (!first_ || number < number_) {
        first_ = end.error();
        number_ = number;
      }
    }
    // The last one sees what the others have written (acquire-release).
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) end_.leak()->complete_and_release({});
  }

  /// After the end of all.
  const std::optional<Error>& first_error() const noexcept { return first_; }
  std::uint32_t number() const noexcept { return number_; }

 private:
  std::atomic<std::uint32_t> left_;
  detail::IntrusivePtr<detail::Outcome<void>> end_;
  std::mutex mutex_;
  std::optional<Error> first_;
  std::uint32_t number_ = 0;
};

/// Awaits the end of a group, whose ops it submits.
class Copies::End {
 public:
  using troupe_awaitable = void;

  explicit End(Copies& copies)
      : copies_(copies),
        end_(detail::IntrusivePtr<detail::Outcome<void>>::adopt(new AllEnded)),
        group_(detail::IntrusivePtr<Group>::adopt(new Group(static_cast<std::uint32_t>(copies.ops_.size()), end_))) {}
  End(End&&) noexcept = default;  // before it is awaited
  End& operator=(End&&) = delete;
  ~End() {
    if (is_waiting_) end_->abandon();  // its coroutine is being destroyed; the copies go on
  }

  bool await_ready() const noexcept { return copies_.ops_.empty(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    is_waiting_ = true;
    end_->wait_in(waiter.promise().home(), waiter);
    submit();
  }
  detail::IntrusivePtr<Group> await_resume() noexcept {
    is_waiting_ = false;
    return group_;
  }

 private:
  class AllEnded final : public detail::Outcome<void> {
   public:
    AllEnded() : Outcome<void>(1) {}
  };

  void submit() noexcept {
    std::uint32_t number = 0;
    for (detail::IntrusivePtr<detail::OpCall>& op : copies_.ops_) {
      op->called = copies_.call_;
      op->nobody_waits = true;
      op->has_group = true;
      op->group = group_;
      op->number_in_group = number++;
      DeviceParts::state(copies_.device_)->engine().submit(std::move(op));
    }
  }

  Copies& copies_;
  detail::IntrusivePtr<detail::Outcome<void>> end_;
  detail::IntrusivePtr<Group> group_;
  bool is_waiting_ = false;
};

Error Copies::about(const std::string& name, const Error& error) const {
  return {error.kind(), std::string(call_) + ": " + shown(name) + ": " + std::string(error.message()), error.origin()};
}

Result<void> Copies::add(const std::string& name, const AnyArray& from, const AnyArray& to) {
  if (from.element_count() == 0) return {};
  const op::Copy copy{.in = from.view(), .out = to.view()};
  const std::array<const AnyArray*, 2> arrays{&from, &to};
  Result<detail::IntrusivePtr<detail::OpCall>> op =
      DeviceParts::make_op_call(device_, op::info_of<op::Copy>(), &copy, arrays);
  if (!op) return fail(about(name, op.error()));
  names_.push_back(name);
  ops_.push_back(std::move(*op));
  return {};
}

Task<Result<void>> Copies::run() {
  const detail::IntrusivePtr<Group> group = co_await End(*this);
  if (group->first_error()) co_return fail(about(names_[group->number()], *group->first_error()));
  co_return {};
}

}  // namespace troupe::inline v0
