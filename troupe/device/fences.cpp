#include "troupe/device/fences.hpp"

#include <array>
#include <vector>

#include "troupe/core/without_memory.hpp"
#include "troupe/device/vault.hpp"
#include "troupe/op/fences.hpp"
#include "troupe/op/table.hpp"

namespace troupe::inline v0 {
namespace {

/// The fenced arrays of an op, and their vaults.
class FencesOf {
 public:
  explicit FencesOf(const detail::OpCall& call) noexcept {
    for (const BlockUse& use : call.uses.all()) {
      const bool is_used = use.touch.reads || use.touch.writes;
      if (!is_used || count_ == op::kMaxViews || use.block->is_sealed() || !use.block->vault().has_fences()) continue;
      arrays_[count_] = {use.block->range(), use.block->vault().with_fences(*use.block), use.touch.view};
      vaults_[count_++] = &use.block->vault();
    }
  }
  std::span<const op::FencedArray> arrays() const noexcept { return std::span(arrays_).first(count_); }
  /// The vault that a fence lies in.
  const detail::Vault* vault_of(const op::Range& fence) const noexcept {
    for (std::size_t i = 0; i < count_; ++i)
      if (arrays_[i].with_fences.covers(fence)) return vaults_[i];
    return nullptr;
  }

 private:
  std::array<op::FencedArray, op::kMaxViews> arrays_;
  std::array<const detail::Vault*, op::kMaxViews> vaults_;
  std::size_t count_ = 0;
};

std::optional<Error> look_for_overrun(const detail::OpCall& call, const Result<void>& end) {
  const FencesOf fences(call);
  op::AnyOp op;
  if (fences.arrays().empty() || !op.decode(call.bytes.bytes())) return std::nullopt;
  op::Views views;
  op.info().views(op.get(), views);
  std::vector<std::byte> copy;
  const auto read = [&](const op::Range& fence) -> std::span<const std::byte> {
    copy.resize(static_cast<std::size_t>(fence.end - fence.begin));
    const detail::Vault* const vault = fences.vault_of(fence);
    return vault && vault->look(fence, copy) ? std::span<const std::byte>(copy) : std::span<const std::byte>();
  };
  return op::find_overrun(op::FencedArrays(std::as_bytes(fences.arrays())), views, end, read);
}

}  // namespace

std::size_t guarded_bytes(const detail::OpCall& call) noexcept {
  return op::guarded_record_bytes(call.bytes.bytes().size(), call.uses.all().size());
}

void commit_guarded(wire::Ring& ring, const wire::RingSlot& slot, const detail::OpCall& call,
                    wire::RecordTraits traits) noexcept {
  std::array<std::byte, op::kMaxGuardedBytes> memory;
  const std::span<std::byte> record = std::span(memory).first(guarded_bytes(call));
  op::write_guarded_record(record, call.bytes.bytes(), FencesOf(call).arrays());
  traits.guarded = true;
  ring.commit(slot, call.lane, record, traits);
}

std::optional<Error> overrun_by(const detail::OpCall& call, const Result<void>& end,
                                const std::function<bool()>& is_over) noexcept {
  const bool was_run = !call.is_hopeless && (!call.failure || call.failure->had_begun);
  const bool is_told = !end && end.error().origin().library == op::kGuardLibrary;
  if (!was_run || is_told) return std::nullopt;
  std::optional<Error> overrun;
  const auto look = [&] { overrun = look_for_overrun(call, end); };
  if (!detail::await_memory_unless(look, is_over)) return Error(ErrorKind::stopped);
  return overrun;
}

}  // namespace troupe::inline v0
