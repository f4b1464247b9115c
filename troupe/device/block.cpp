#include "troupe/device/block.hpp"

#include <algorithm>

#include "troupe/device/vault.hpp"

namespace troupe {

void VaultBlock::taint(op::Range cut_off) noexcept {
  cut_off = {std::max(cut_off.begin, range().begin), std::min(cut_off.end, range().end)};
  if (cut_off.empty()) return;
  const std::lock_guard lock(mutex_);
  unknown_ = unknown_.empty() ? cut_off
                              : op::Range{std::min(unknown_.begin, cut_off.begin), std::max(unknown_.end, cut_off.end)};
  content_.store(BlockContent::tainted, std::memory_order_release);
}

bool VaultBlock::is_tainted(op::Range read) const noexcept {
  if (content() != BlockContent::tainted || read.empty()) return false;
  const std::lock_guard lock(mutex_);
  return content_.load(std::memory_order_relaxed) == BlockContent::tainted && unknown_.overlaps(read);
}

bool VaultBlock::begin_rewrite(op::Range written) noexcept {
  if (content() == BlockContent::whole) return true;
  const std::lock_guard lock(mutex_);
  if (written.covers(unknown_) && content_.load(std::memory_order_relaxed) == BlockContent::tainted)
    content_.store(BlockContent::being_rewritten, std::memory_order_release);
  return content_.load(std::memory_order_relaxed) != BlockContent::tainted;
}

void VaultBlock::rewritten(op::Range written) noexcept {
  if (content() == BlockContent::whole) return;
  const std::lock_guard lock(mutex_);
  if (written.covers(unknown_)) {
    unknown_ = {};
    content_.store(BlockContent::whole, std::memory_order_release);
  } else if (written.overlaps(unknown_)) {
    if (written.begin <= unknown_.begin) unknown_.begin = written.end;
    if (written.end >= unknown_.end) unknown_.end = written.begin;
  }
}

void VaultBlock::rewrite_failed() noexcept {
  const std::lock_guard lock(mutex_);
  if (content_.load(std::memory_order_relaxed) == BlockContent::being_rewritten)
    content_.store(BlockContent::tainted, std::memory_order_release);
}

op::Range VaultBlock::tainted_range() const noexcept {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

void VaultBlock::recycle() noexcept {
  const IntrusivePtr<Vault> vault = std::move(vault_);  // may be its last owner, so it goes after the block is back
  vault->take_back(*this);
}

}  // namespace troupe
