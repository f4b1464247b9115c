// Which ops must wait for which. Ops come in ring order; one that touches memory which an earlier, unfinished op of
// another lane touches must wait for it, unless both only read: read after write, write after read, write after write.
// Ops of one lane run in order anyway, so of every other lane only the latest conflicting op matters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "troupe/backend/backend.hpp"
#include "troupe/op/op.hpp"

namespace troupe::worker {

class RangeTracker {
 public:
  explicit RangeTracker(const wire::Channel& channel) noexcept : channel_(channel) {}

  /// Sets what `work` has to wait for and whether it begins anew, and remembers what it touches until its timeline
  /// covers it. In ring order.
  void add(backend::Work& work, std::span<const op::Touch> touches);

 private:
  struct Entry {
    wire::Ticket ticket = 0;
    op::Touches touches;
    bool conflicts_with(std::span<const op::Touch> others) const noexcept;
    bool reads_what_is_written_by(std::span<const op::Touch> others) const noexcept;
  };
  /// The unfinished ops of one lane, oldest first, in a circular buffer that grows with the lane's backlog.
  struct LaneOps {
    std::vector<Entry> entries;
    std::size_t first = 0;
    std::size_t count = 0;
    Entry& at(std::size_t i) noexcept { return entries[(first + i) % entries.size()]; }
    Entry& append();
  };

  void forget_finished(std::uint32_t lane) noexcept;

  const wire::Channel& channel_;
  std::array<LaneOps, wire::kMaxLanes> lanes_;
  std::uint32_t occupied_ = 0;  // a bit for every lane with unfinished ops
};

}  // namespace troupe::worker
