// The loop that drains a ring: takes the records in order, finds out what each must wait for, and hands it to its lane.
// Spins briefly when the ring is empty, then sleeps. The same for every backend and every isolation.
#pragma once

#include <array>
#include <atomic>

#include "troupe/backend/backend.hpp"
#include "troupe/core/park.hpp"
#include "troupe/op/table.hpp"
#include "troupe/worker/range_tracker.hpp"

namespace troupe::worker {

template <backend::Backend B>
class Loop {
 public:
  Loop(wire::Channel& channel, wire::Bell& doorbell, B& backend) noexcept
      : channel_(channel), doorbell_(doorbell), backend_(backend), tracker_(channel) {}

  /// Runs until `stop`; then ops that were not begun are left where they are.
  void run() {
    while (!stopping_.load(std::memory_order_acquire)) {
      if (drain() || spin_until([this] { return look(); }, B::kSpin)) continue;
      backend_.flush();
      doorbell_.listen();
      if (has_record() || stopping_.load(std::memory_order_seq_cst))
        doorbell_.ignore();
      else
        doorbell_.sleep(TimePoint::max());
    }
  }
  void stop() noexcept {
    stopping_.store(true, std::memory_order_seq_cst);
    doorbell_.ring();
  }

 private:
  /// Whether there is something to do.
  bool look() noexcept {
    backend_.flush_due();
    return has_record() || stopping_.load(std::memory_order_acquire);
  }
  bool has_record() const noexcept { return channel_.ring().has(position_); }

  bool drain() {
    bool any = false;
    while (const std::optional<wire::Record> record = channel_.ring().at(position_)) {
      // Only when the app is ahead: otherwise this would take away cache lines that the app is about to write.
      if (any) channel_.ring().prefetch_after(position_);
      if (!record->skip) hand_in(*record);
      position_ += record->units;
      any = true;
      if (stopping_.load(std::memory_order_relaxed)) break;
    }
    return any;
  }

  void hand_in(const wire::Record& record) {
    // The app counts the ops of each lane in ring order, too: both sides know the ticket, and nobody sends it.
    const std::uint32_t lane = record.lane % wire::kMaxLanes;
    // Other cores wrote what is read next: prefetched now, it arrives while the op is decoded.
    channel_.ring().prefetch_rest(position_, record.units);
    __builtin_prefetch(channel_.timeline(lane).address());
    backend::Work work;
    work.position = position_;
    work.units = record.units;
    work.cancelled = record.cancelled;
    work.lane = lane;
    work.alone = record.alone;
    work.ticket = ++issued_[lane];
    const Result<void> handed_in = hand_in(record, work);
    if (handed_in) return;
    work.failure = channel_.write_reply(position_, record.units, handed_in.error());
    work.refused = true;
    work.estimate = 0;
    op_ = {};
    backend_.submit(work, op_);
  }

  /// Fails for an op that must not be run.
  Result<void> hand_in(const wire::Record& record, backend::Work& work) {
    std::span<const std::byte> bytes = record.bytes;
    if (record.guarded) [[unlikely]] {
      const op::GuardedRecord guarded = TROUPE_TRY(op::read_guarded_record(bytes));
      bytes = guarded.op;
      work.fenced = guarded.arrays;
    }
    TROUPE_TRY(op_.decode(bytes));
    const op::OpInfo& info = op_.info();
    op::Views views;
    info.views(op_.get(), views);
    op::Toucher toucher;
    TROUPE_TRY(op::examine(info, op_.get(), views, toucher));
    work.estimate = info.work(op_.get(), toucher.elements());
    // A cancelled op only keeps its place in the order; the memory that it names may be gone.
    if (record.cancelled->load(std::memory_order_seq_cst) == 0) {
      for (const op::Touch& touch : toucher.touches().all())
        if (!backend_.memory().contains(touch.range))
          return fail(ErrorKind::invalid_argument, "the op names memory that is not in the vault");
      TROUPE_TRY(check_fences(work.fenced));
    }
    tracker_.add(work, toucher.touches().all());
    backend_.submit(work, op_);
    op_.clear();  // now, while nobody waits, and not when the next op has come
    return {};
  }

  Result<void> check_fences(const op::FencedArrays& fenced) {
    for (std::size_t i = 0; i < fenced.size(); ++i)
      if (const op::FencedArray array = fenced[i];
          !backend_.memory().contains(array.with_fences) || !array.with_fences.covers(array.elements))
        return fail(ErrorKind::invalid_argument, "the op names fences that are not in the vault");
    return {};
  }

  wire::Channel& channel_;
  wire::Bell& doorbell_;
  B& backend_;
  RangeTracker tracker_;
  op::AnyOp op_;  // the one at hand
  std::atomic<bool> stopping_{false};
  wire::Position position_ = 0;
  std::array<wire::Ticket, wire::kMaxLanes> issued_{};
};

}  // namespace troupe::worker
