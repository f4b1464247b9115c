#include "troupe/device/block.hpp"

#include <algorithm>

#include "troupe/device/vault.hpp"

namespace troupe::inline v0::detail {

void VaultBlock::taint(op::Range cut_off) noexcept {
  cut_off = {std::max(cut_off.begin, range().begin), std::min(cut_off.end, range().end)};
  if (cut_off.empty()) return;
  const std::lock_guard lock(mutex_);
  unknown_ = unknown_.empty() ? cut_off
                              : op::Range{std::min(unknown_.begin, cut_off.begin), std::max(unknown_.end, cut_off.end)};
  whole_.store(false, std::memory_order_release);
}

bool VaultBlock::is_tainted(op::Range read) const noexcept {
  if (is_whole() || read.empty()) return false;
  const std::lock_guard lock(mutex_);
  return unknown_.overlaps(read);
}

void VaultBlock::rewritten(op::Range written) noexcept {
  if (is_whole()) return;
  const std::lock_guard lock(mutex_);
  if (written.covers(unknown_)) {
    unknown_ = {};
    whole_.store(true, std::memory_order_release);
  } else if (written.overlaps(unknown_)) {
    if (written.begin <= unknown_.begin) unknown_.begin = written.end;
    if (written.end >= unknown_.end) unknown_.end = written.begin;
  }
}

op::Range VaultBlock::tainted_range() const noexcept {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

void VaultBlock::recycle() noexcept {
  if (vault_->is_forked()) return leave_in_fork(this);
  const IntrusivePtr<Vault> vault = std::move(vault_);  // may be its last owner, so it goes after the block is back
  vault->take_back(*this);
}

}  // namespace troupe::inline v0::detail
