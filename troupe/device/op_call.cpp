#include "troupe/device/op_call.hpp"

#include <algorithm>

#include "troupe/op/families.hpp"

namespace troupe {

BlockUse& BlockUses::next_of_more() {
  if (count_ == kInline) {
    more_ = std::make_unique<BlockUse[]>(op::kMaxViews);
    std::ranges::move(inline_, more_.get());
  }
  return more_[count_];
}

void BlockUses::clear() noexcept {
  for (BlockUse& use : all()) use.block = nullptr;
  count_ = 0;
}

bool OpCall::can_be_rerun() const noexcept {
  for (const BlockUse& written : uses.all()) {
    if (!written.touch.writes) continue;
    for (const BlockUse& read : uses.all())
      if (read.touch.reads && read.touch.range.overlaps(written.touch.range)) return false;
  }
  return true;
}

bool OpCall::conflicts_with(const OpCall& other) const noexcept {
  for (const BlockUse& mine : uses.all())
    for (const BlockUse& theirs : other.uses.all())
      if ((mine.touch.writes || theirs.touch.writes) && mine.touch.range.overlaps(theirs.touch.range)) return true;
  return false;
}

std::string OpCall::name() const { return op::name_of(kind); }

void UseCollector::add(const op::View& view, op::Access access) {
  const AnyArray& array = *arrays_[next_++];
  if (!status_) return;
  const bool is_written = access != op::Access::read;
  if (is_written && op::may_overlap_itself(view)) {
    status_ = fail(ErrorKind::invalid_argument, "an array whose elements overlap each other cannot be written: shape " +
                                                    view.shape.to_string() + ", strides " + view.strides.to_string());
    return;
  }
  const Result<op::Range> range = op::range_of(view);
  if (!range) {
    status_ = fail(range.error());
    return;
  }
  if (range->empty()) return;
  for (const BlockUse& other : call_.uses.all())
    if ((is_written || other.touch.writes) && other.touch.range.overlaps(*range)) {
      status_ = fail(ErrorKind::invalid_argument,
                     "what " + call_.name() + " writes overlaps another of its arrays: use a temporary");
      return;
    }
  call_.uses.add(array.block(), {.range = *range,
                                 .reads = access != op::Access::write,
                                 .writes = is_written,
                                 .whole = is_written && op::is_dense(view)});
}

}  // namespace troupe
