#include "troupe/device/content.hpp"

namespace troupe {

void announce_rewrites(OpCall& call) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.block->content() != BlockContent::whole && use.touch.whole && !use.touch.reads)
      use.block->begin_rewrite(use.touch.range);
}

void forget_rewrites(OpCall& call) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.block->content() == BlockContent::being_rewritten && use.touch.whole) use.block->rewrite_failed();
}

void taint_what_it_writes(OpCall& call) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.touch.writes) use.block->taint(use.touch.range);
}

void settle_content(OpCall& call, Result<void>& result) noexcept {
  if (result) {
    for (const BlockUse& use : call.uses.all())
      if (use.touch.reads && use.block->content() != BlockContent::whole &&
          use.block->tainted_range().overlaps(use.touch.range))
        result = fail(ErrorKind::buffer_tainted);
  }
  if (result) {
    for (BlockUse& use : call.uses.all())
      if (use.touch.whole && !use.touch.reads && use.block->content() != BlockContent::whole)
        use.block->rewritten(use.touch.range);
  } else if (result.error().kind() == ErrorKind::cancelled || result.error().kind() == ErrorKind::invalid_argument) {
    forget_rewrites(call);
  } else {
    taint_what_it_writes(call);
  }
}

}  // namespace troupe
