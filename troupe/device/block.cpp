#include "troupe/device/block.hpp"

#include <algorithm>

#include "troupe/device/vault.hpp"

namespace troupe {

void Block::taint(op::Range cut_off) noexcept {
  cut_off = {std::max(cut_off.begin, range().begin), std::min(cut_off.end, range().end)};
  if (cut_off.empty()) return;
  const std::lock_guard lock(mutex_);
  unknown_ = unknown_.empty() ? cut_off
                              : op::Range{std::min(unknown_.begin, cut_off.begin), std::max(unknown_.end, cut_off.end)};
  content_.store(Content::tainted, std::memory_order_release);
}

bool Block::is_tainted(op::Range read) const noexcept {
  if (content() != Content::tainted || read.empty()) return false;
  const std::lock_guard lock(mutex_);
  return content_.load(std::memory_order_relaxed) == Content::tainted && unknown_.overlaps(read);
}

bool Block::begin_rewrite(op::Range written) noexcept {
  if (content() == Content::whole) return true;
  const std::lock_guard lock(mutex_);
  if (written.covers(unknown_) && content_.load(std::memory_order_relaxed) == Content::tainted)
    content_.store(Content::being_rewritten, std::memory_order_release);
  return content_.load(std::memory_order_relaxed) != Content::tainted;
}

void Block::rewritten(op::Range written) noexcept {
  if (content() == Content::whole) return;
  const std::lock_guard lock(mutex_);
  if (written.covers(unknown_)) {
    unknown_ = {};
    content_.store(Content::whole, std::memory_order_release);
  } else if (written.overlaps(unknown_)) {
    if (written.begin <= unknown_.begin) unknown_.begin = written.end;
    if (written.end >= unknown_.end) unknown_.end = written.begin;
  }
}

void Block::rewrite_failed() noexcept {
  const std::lock_guard lock(mutex_);
  if (content_.load(std::memory_order_relaxed) == Content::being_rewritten)
    content_.store(Content::tainted, std::memory_order_release);
}

op::Range Block::tainted_range() const noexcept {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

void Block::recycle() noexcept {
  const IntrusivePtr<Vault> vault = std::move(vault_);  // may be its last owner, so it goes after the block is back
  vault->take_back(*this);
}

}  // namespace troupe
