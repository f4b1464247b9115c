#include "troupe/device/op_call.hpp"

#include <memory>

#include "troupe/op/expression.hpp"
#include "troupe/op/fields.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe::inline v0 {

void BlockUses::make_room() {
  std::allocator<BlockUse> memory;
  BlockUse* const larger = memory.allocate(2 * capacity_);
  std::uninitialized_move_n(begin_, count_, larger);
  std::destroy_n(begin_, count_);
  if (begin_ != inline_) memory.deallocate(begin_, capacity_);
  begin_ = larger;
  capacity_ *= 2;
}

void BlockUses::clear() noexcept {
  std::destroy_n(begin_, count_);
  if (begin_ != inline_) std::allocator<BlockUse>().deallocate(begin_, capacity_);
  begin_ = inline_;
  capacity_ = kInline;
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
  std::string text = called ? called : op::name_of(kind);
  op::AnyOp op;
  if (!op.decode(bytes.bytes())) return text;
  if (const op::Evaluate* const expression = op.get_if<op::Evaluate>()) return text + " " + op::text_of(*expression);
  if (const op::EvaluateReduce* const reduction = op.get_if<op::EvaluateReduce>())
    return text + " " + std::string(troupe::name(reduction->function)) + "(" + op::text_of(*reduction) + ")";
  for (const op::Field& field : op::fields_of(op))
    if (field.name == "kernel" || field.name == "function")
      if (const std::string* const name = std::get_if<std::string>(&field.value)) text += " " + *name;
  return text;
}

}  // namespace detail

}  // namespace troupe::inline v0
