// Seals and unseals whose turn in the order of the ops has come. Every worker must still map the chunk accordingly, and
// say so. They are done one after another, in the order in which they come.
//
// Only the turns of the device's context touch it.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "troupe/device/chunk_table.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {

/// A worker that has not answered after this time is replaced.
inline constexpr Duration kSealPatience = std::chrono::seconds(10);

/// An op that seals or unseals. It ends exactly once; in `stopped` if nobody does it.
class SealRequest {
 public:
  /// Takes over one ownership.
  explicit SealRequest(detail::OpCall& call) noexcept : call_(detail::IntrusivePtr<detail::OpCall>::adopt(&call)) {}
  SealRequest(SealRequest&&) noexcept = default;
  SealRequest& operator=(SealRequest&&) = delete;
  ~SealRequest() {
    if (call_) end(fail(ErrorKind::stopped, "the device was closed"));
  }

  /// The op, if it must go through the ring again; then this is empty.
  detail::IntrusivePtr<detail::OpCall> take_if_again() noexcept;
  bool seals() const noexcept { return call_->sealing == Sealing::seal; }
  detail::VaultBlock& block() const noexcept { return *call_->uses.all().front().block; }
  std::uint32_t chunk() const noexcept { return op::chunk_of(block().address()); }
  void end(Result<void> result) noexcept;

 private:
  detail::IntrusivePtr<detail::OpCall> call_;
};

class SealQueue {
 public:
  /// Takes the request, or throws and leaves it.
  void add(SealRequest&& request) { requests_.push_back(std::move(request)); }
  /// Begins the next request, if none is under way, and ends those that all workers have done.
  void attend(ChunkTable& chunks);
  /// A worker has answered. An answer that nobody asked for is ignored.
  void answered(const wire::Socket& worker, std::uint32_t chunk, bool read_only) noexcept;
  /// A worker is gone, and with it what it had mapped.
  void gone(const wire::Socket& worker) noexcept { std::erase(awaited_, &worker); }

  /// Which one is under way, counted from 1; 0 when none is.
  std::uint64_t under_way() const noexcept { return is_under_way_ ? begun_ : 0; }
  bool waits_for(const wire::Socket& worker) const noexcept;
  bool empty() const noexcept { return requests_.empty(); }
  /// All that are left end in `why`.
  void clear(const Error& why) noexcept;

 private:
  void begin(ChunkTable& chunks);
  void end_first(Result<void> result, bool has_changed);

  std::deque<SealRequest> requests_;
  std::vector<const wire::Socket*> awaited_;  // workers that have not answered for the first one
  bool is_under_way_ = false;                 // the first one: workers were told
  std::uint64_t begun_ = 0;
};

}  // namespace troupe::inline v0
