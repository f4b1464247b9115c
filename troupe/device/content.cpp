#include "troupe/device/content.hpp"

#include <algorithm>
#include <new>

#include "troupe/core/without_memory.hpp"
#include "troupe/op/table.hpp"

namespace troupe::inline v0 {
namespace {

bool reads_tainted(const detail::OpCall& call) noexcept {
  return std::ranges::any_of(
      call.uses.all(), [](const BlockUse& use) { return use.touch.reads && use.block->is_tainted(use.touch.range); });
}

Error refused_for_seal(op::Kind kind) noexcept {
  return detail::describe(ErrorKind::invalid_argument, [&] {
    const op::OpInfo* const info = op::find_op(kind);
    return std::string(info ? info->call() : "") + ": an array that it writes is sealed; unseal it first";
  });
}

/// `out_of_memory` when there is no memory for the verdict's sentence.
Result<void> judged(const Verdict& verdict) noexcept {
  try {
    return verdict.judge(verdict.words);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::out_of_memory);
  }
}

}  // namespace

bool reads_what_stays_unknown(const detail::OpCall& call) noexcept {
  return std::ranges::any_of(call.uses.all(), [](const BlockUse& use) {
    return use.touch.reads && use.block->is_tainted(use.touch.range) && !use.block->is_being_written() &&
           use.block->is_tainted(use.touch.range);  // an op that has just ended may have made it whole
  });
}

void taint_what_it_writes(detail::OpCall& call) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.touch.writes && !(call.writes_sealed && use.block->is_sealed())) use.block->taint(use.touch.range);
}

void skip_what_it_writes(detail::OpCall& call) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.touch.writes && !(call.writes_sealed && use.block->is_sealed())) use.block->skip(use.touch.range);
}

void settle_content(detail::OpCall& call, Result<void>& result, bool had_begun) noexcept {
  // An op that was held back, or failed before it began, has changed nothing; who waits for it is told, and may go on
  // with what was there. An op that ran, and read what became unknown meanwhile, has written something unknown.
  const bool was_skipped = (call.is_hopeless || call.nobody_waits) && !result && !had_begun && !call.writes_sealed;
  const bool reads_unknown = !call.writes_sealed && (call.is_hopeless || (result && reads_tainted(call)));
  if (call.is_stale)
    result = fail(detail::describe(ErrorKind::buffer_stale, [] { return "the memory died with its worker"; }));
  else if (call.writes_sealed)
    result = fail(refused_for_seal(call.kind));
  else if (reads_unknown)
    result = fail(ErrorKind::buffer_tainted);
  else if (result && call.verdict.judge)
    result = judged(call.verdict);
  if (result) {
    for (BlockUse& use : call.uses.all())
      if (use.touch.whole && !use.touch.reads) use.block->rewritten(use.touch.range);
  } else if (was_skipped) {
    skip_what_it_writes(call);
  } else if ((had_begun || reads_unknown) && !call.writes_sealed) {
    taint_what_it_writes(call);
  }
}

}  // namespace troupe::inline v0
