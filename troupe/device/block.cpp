#include "troupe/device/block.hpp"

#include <algorithm>

#include "troupe/device/vault.hpp"

namespace troupe::inline v0::detail {

namespace {

op::Range around(const op::Range& one, const op::Range& other) noexcept {
  if (one.empty()) return other;
  if (other.empty()) return one;
  return {std::min(one.begin, other.begin), std::max(one.end, other.end)};
}

/// What is left of `range` without `gone`, in one piece.
op::Range without(const op::Range& range, const op::Range& gone) noexcept {
  if (gone.covers(range)) return {};
  if (!gone.overlaps(range)) return range;
  if (gone.begin <= range.begin) return {gone.end, range.end};
  if (gone.end >= range.end) return {range.begin, gone.begin};
  return range;  // a hole in the middle
}

}  // namespace

void VaultBlock::make_empty() noexcept {
  if (size_bytes_ == 0) return;
  empty_.store(true, std::memory_order_relaxed);  // nobody else has it yet, and whoever shares it orders that
  whole_.store(false, std::memory_order_relaxed);
}

void VaultBlock::written_in_part() noexcept {
  if (!is_empty()) return;
  const std::lock_guard lock(mutex_);
  empty_.store(false, std::memory_order_release);
  settle();
}

void VaultBlock::taint(op::Range cut_off, const Error& why) noexcept {
  cut_off = {std::max(cut_off.begin, range().begin), std::min(cut_off.end, range().end)};
  if (cut_off.empty()) return;
  const std::lock_guard lock(mutex_);
  unknown_ = around(unknown_, cut_off);
  if (!why_) why_ = why;
  whole_.store(false, std::memory_order_release);
}

void VaultBlock::skip(op::Range skipped, const Error& why) noexcept {
  skipped = {std::max(skipped.begin, range().begin), std::min(skipped.end, range().end)};
  if (skipped.empty()) return;
  const std::lock_guard lock(mutex_);
  skipped_ = around(skipped_, skipped);
  if (!why_) why_ = why;
  whole_.store(false, std::memory_order_release);
}

bool VaultBlock::is_tainted(op::Range read) const noexcept {
  if (is_whole() || read.empty()) return false;
  const std::lock_guard lock(mutex_);
  return unknown_.overlaps(read) || skipped_.overlaps(read);
}

bool VaultBlock::is_unknown(op::Range read) const noexcept {
  const std::lock_guard lock(mutex_);
  return unknown_.overlaps(read);
}

bool VaultBlock::accept_skipped(op::Range wanted) noexcept {
  const std::lock_guard lock(mutex_);
  if (unknown_.overlaps(wanted)) return false;
  skipped_ = without(skipped_, wanted);
  settle();
  return true;
}

void VaultBlock::rewritten(op::Range written) noexcept {
  if (is_whole()) return;
  const std::lock_guard lock(mutex_);
  unknown_ = without(unknown_, written);
  skipped_ = without(skipped_, written);
  empty_.store(false, std::memory_order_release);
  settle();
}

void VaultBlock::settle() noexcept {
  if (!unknown_.empty() || !skipped_.empty()) return;
  why_.reset();
  if (is_empty()) return;
  whole_.store(true, std::memory_order_release);
}

std::optional<Error> VaultBlock::why_tainted() const noexcept {
  const std::lock_guard lock(mutex_);
  return why_;
}

op::Range VaultBlock::tainted_range() const noexcept {
  const std::lock_guard lock(mutex_);
  return around(unknown_, skipped_);
}

void VaultBlock::recycle() noexcept {
  if (vault_->is_forked()) return leave_in_fork(this);
  const IntrusivePtr<Vault> vault = std::move(vault_);  // may be its last owner, so it goes after the block is back
  vault->take_back(*this);
}

}  // namespace troupe::inline v0::detail
