#include "troupe/device/seal_queue.hpp"

#include <algorithm>

#include "troupe/device/vault.hpp"

namespace troupe::inline v0 {

void SealRequest::end(Result<void> result) noexcept {
  call_->uses.clear();  // before the reply: its receiver may count on the memory
  call_.leak()->complete_and_release(std::move(result));
}

detail::IntrusivePtr<detail::OpCall> SealRequest::take_if_again() noexcept {
  if (!std::exchange(call_->goes_again, false)) return nullptr;
  call_->refuse_when_full = false;  // it has been let in
  call_->deadline_passed = false;   // it is checked again
  return std::move(call_);
}

void SealQueue::attend(ChunkTable& chunks) {
  while (!requests_.empty()) {
    if (!is_under_way_) begin(chunks);
    if (!awaited_.empty()) return;
    if (is_under_way_) end_first({}, true);
  }
}

/// Tells the workers, or ends the request when there is nothing to tell.
void SealQueue::begin(ChunkTable& chunks) {
  const SealRequest& first = requests_.front();
  Result<std::optional<std::vector<const wire::Socket*>>> told = chunks.protect(first.chunk(), first.seals());
  if (!told) {
    end_first(fail(told.error()), false);
  } else if (!*told) {
    end_first({}, false);
  } else {
    awaited_ = std::move(**told);
    is_under_way_ = true;
    ++begun_;
  }
}

void SealQueue::end_first(Result<void> result, bool has_changed) {
  SealRequest first = std::move(requests_.front());
  requests_.pop_front();
  is_under_way_ = false;
  // The seal in force stays counted in the block until an unseal.
  if (first.seals() != has_changed) first.block().end_seal();
  first.end(std::move(result));
}

void SealQueue::clear(const Error& why) noexcept {
  for (SealRequest& request : requests_) request.end(fail(why));
  requests_.clear();
  is_under_way_ = false;
}

void SealQueue::answered(const wire::Socket& worker, std::uint32_t chunk, bool read_only) noexcept {
  if (!is_under_way_ || requests_.front().chunk() != chunk || requests_.front().seals() != read_only) return;
  gone(worker);
}

bool SealQueue::waits_for(const wire::Socket& worker) const noexcept {
  return std::ranges::find(awaited_, &worker) != awaited_.end();
}

}  // namespace troupe::inline v0
