// The seal or unseal whose turn in the order of the ops has come: every worker must still map the chunk accordingly,
// and say so. There is one at a time; its op holds the memory meanwhile, so that no op uses it: a GPU that reads memory
// while its access is changed faults.
//
// Only the turns of the device's context touch it.
#pragma once

#include <utility>
#include <vector>

#include "troupe/device/chunk_table.hpp"
#include "troupe/device/engine.hpp"

namespace troupe::inline v0 {

/// A worker that has not answered after this time is replaced.
inline constexpr Duration kSealPatience = std::chrono::seconds(10);

class SealUnderWay {
 public:
  /// Begins the next one, if none is under way, and ends those that all workers have done.
  void attend(Engine& engine, ChunkTable& chunks);
  /// A worker has answered. An answer that nobody asked for is ignored.
  void answered(const wire::Socket& worker, std::uint32_t chunk, bool read_only) noexcept;
  /// A worker is gone, and with it what it had mapped.
  void gone(const wire::Socket& worker) noexcept { std::erase(awaited_, &worker); }
  /// The engine was shut, and has ended it.
  void forget() noexcept { call_ = nullptr; }

  /// Which one is under way, counted from 1; 0 when none is.
  std::uint64_t number() const noexcept { return call_ ? begun_ : 0; }
  bool waits_for(const wire::Socket& worker) const noexcept;

 private:
  bool seals() const noexcept { return call_->sealing == Sealing::seal; }
  detail::VaultBlock& block() const noexcept { return *call_->uses.all().front().block; }
  std::uint32_t chunk() const noexcept { return op::chunk_of(block().address()); }
  void end(Engine& engine, Result<void> result, bool has_changed) noexcept;

  detail::IntrusivePtr<detail::OpCall> call_;
  std::vector<const wire::Socket*> awaited_;  // workers that have not answered
  std::uint64_t begun_ = 0;
};

}  // namespace troupe::inline v0
