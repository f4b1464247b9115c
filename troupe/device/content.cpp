#include "troupe/device/content.hpp"

#include <algorithm>
#include <new>

#include "troupe/core/without_memory.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/table.hpp"
#include "troupe/wire/backtrace.hpp"

namespace troupe::inline v0 {
namespace {

/// What a program's own code updates, it may write for the first time: many say `updates` of all that they write.
bool may_be_empty(const detail::OpCall& call, const op::Touch& touch) noexcept {
  return touch.writes && (call.kind == op::PluginCall::kKind || call.kind == op::Launch::kKind);
}

bool reads_nothing_good(const detail::OpCall& call, const BlockUse& use) noexcept {
  if (!use.touch.reads || use.block->is_whole()) return false;
  return (use.block->is_empty() && !may_be_empty(call, use.touch)) || use.block->is_tainted(use.touch.range);
}

bool reads_tainted(const detail::OpCall& call) noexcept {
  return std::ranges::any_of(call.uses.all(), [&](const BlockUse& use) { return reads_nothing_good(call, use); });
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

/// "b", or "array 2" of a list of arguments.
std::string argument_name(const detail::OpCall& call, const op::Touch& touch) {
  op::AnyOp op;
  if (!op.decode(call.bytes.bytes())) return "an array";
  op::Views views;
  op.info().views(op.get(), views);
  return touch.view < views.size() ? op::argument_name(views, touch.view) : "an array";
}

}  // namespace

bool reads_what_stays_unknown(const detail::OpCall& call) noexcept {
  return std::ranges::any_of(call.uses.all(), [&](const BlockUse& use) {
    // In this order: an op that is writing it may make it whole.
    return use.touch.reads && !use.block->is_whole() && !use.block->is_being_written() && reads_nothing_good(call, use);
  });
}

void taint_what_it_writes(detail::OpCall& call, const Error& why) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.touch.writes && !(call.writes_sealed && use.block->is_sealed())) use.block->taint(use.touch.range, why);
}

void skip_what_it_writes(detail::OpCall& call, const Error& why) noexcept {
  for (BlockUse& use : call.uses.all())
    if (use.touch.writes && !(call.writes_sealed && use.block->is_sealed())) use.block->skip(use.touch.range, why);
}

Error reads_unknown(const detail::OpCall& call) noexcept {
  for (const BlockUse& use : call.uses.all()) {
    if (!reads_nothing_good(call, use)) continue;
    const bool is_tainted = use.block->is_tainted(use.touch.range);
    const std::optional<Error> why = use.block->why_tainted();
    if (!is_tainted && use.block->is_empty())
      return detail::describe(ErrorKind::buffer_tainted, [&] {
        return argument_name(call, use.touch) + " is empty: nothing has been written to it yet";
      });
    if (!is_tainted || !why) continue;  // it has just become whole
    return detail::describe(ErrorKind::buffer_tainted, [&] {
      const bool is_as_it_was = !use.block->is_unknown(use.touch.range);
      const ErrorOrigin& from = why->origin();
      std::string text = argument_name(call, use.touch) + (is_as_it_was ? " was not written: " : " is unknown: ");
      text += from.op.empty() ? "an op" : from.op;
      if (from.where.line() != 0) text += " at " + detail::place_of(from.where);
      text += ", which writes it, ended in " + std::string(name(why->kind())) + ": ";
      text += wire::without_backtrace(why->message());
      return text + (is_as_it_was ? "; write it whole, or take it as it is with accept_skipped()"
                                  : "; write it whole to use it again");
    });
  }
  return Error(ErrorKind::buffer_tainted);
}

Error root_of(const detail::OpCall& call, const Error& its_own) noexcept {
  for (const BlockUse& use : call.uses.all())
    if (use.touch.reads && use.block->is_tainted(use.touch.range))
      if (std::optional<Error> why = use.block->why_tainted()) return *std::move(why);
  return its_own;
}

Result<void> how_it_ended(detail::OpCall& call) noexcept {
  if (call.is_stale)
    return fail(detail::describe(ErrorKind::buffer_stale, [] { return "the memory died with its worker"; }));
  if (call.writes_sealed) return fail(refused_for_seal(call.kind));
  if (call.is_hopeless || (!call.failure && reads_tainted(call))) return fail(reads_unknown(call));
  if (call.failure) return fail(call.failure->error);
  if (call.verdict.judge) return judged(call.verdict);
  return {};
}

void settle_content(detail::OpCall& call, const Result<void>& result, bool had_begun) noexcept {
  if (result) {
    for (BlockUse& use : call.uses.all()) {
      if (!use.touch.writes || use.block->is_whole()) continue;
      if (use.touch.whole && !use.touch.reads)
        use.block->rewritten(use.touch.range);
      else
        use.block->written_in_part();
    }
    return;
  }
  if (call.writes_sealed) return;
  // An op that was held back, or failed before it began, has changed nothing; who waits for it is told, and may go on
  // with what was there. An op that ran, and read what became unknown meanwhile, has written something unknown.
  const bool has_read_unknown = result.error().kind() == ErrorKind::buffer_tainted;
  const Error why = has_read_unknown ? root_of(call, result.error()) : result.error();
  if ((call.is_hopeless || call.nobody_waits) && call.failure && !had_begun)
    skip_what_it_writes(call, why);
  else if (had_begun || has_read_unknown)
    taint_what_it_writes(call, why);
}

}  // namespace troupe::inline v0
