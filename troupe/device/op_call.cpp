#include "troupe/device/op_call.hpp"

#include <algorithm>

#include "troupe/op/fields.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::inline v0 {

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

namespace detail {

bool OpCall::can_be_rerun() const noexcept {
  // What one of its arrays writes, no other one has: `op::examine` has seen to that.
  return std::ranges::none_of(uses.all(), [](const BlockUse& use) { return use.touch.reads && use.touch.writes; });
}

bool OpCall::conflicts_with(const OpCall& other) const noexcept {
  for (const BlockUse& mine : uses.all())
    for (const BlockUse& theirs : other.uses.all())
      if ((mine.touch.writes || theirs.touch.writes) && mine.touch.range.overlaps(theirs.touch.range)) return true;
  return false;
}

bool OpCall::is_users_code() const noexcept {
  const op::Family family{op::family_number(kind)};
  return family == op::kJitFamily || family == op::kPluginFamily;
}

std::string OpCall::name() const {
  std::string text = op::name_of(kind);
  op::AnyOp op;
  if (!op.decode(bytes.bytes())) return text;
  for (const op::Field& field : op::fields_of(op))
    if (field.name == "kernel" || field.name == "function")
      if (const std::string* const name = std::get_if<std::string>(&field.value)) text += " " + *name;
  return text;
}

}  // namespace detail

}  // namespace troupe::inline v0
