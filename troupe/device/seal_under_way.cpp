#include "troupe/device/seal_under_way.hpp"

#include <algorithm>
#include <new>

#include "troupe/device/vault.hpp"

namespace troupe::inline v0 {

void SealUnderWay::attend(Engine& engine, ChunkTable& chunks) {
  for (;;) {
    if (call_) {
      if (!awaited_.empty()) return;
      end(engine, {}, true);
    }
    call_ = engine.take_exclusive();
    if (!call_) return;
    ++begun_;
    if (seals()) block().begin_seal();
    Result<std::optional<std::vector<const wire::Socket*>>> told = fail(ErrorKind::out_of_memory);
    try {
      told = chunks.protect(chunk(), seals());
    } catch (const std::bad_alloc&) {  // nobody was told
    }
    if (told && *told)
      awaited_ = std::move(**told);
    else
      end(engine, told ? Result<void>() : fail(told.error()), false);
  }
}

void SealUnderWay::end(Engine& engine, Result<void> result, bool has_changed) noexcept {
  if (seals() != has_changed) block().end_seal();  // the seal in force stays counted until an unseal
  engine.end_exclusive(*std::exchange(call_, nullptr), std::move(result));
}

void SealUnderWay::answered(const wire::Socket& worker, std::uint32_t chunk_id, bool read_only) noexcept {
  if (call_ && chunk() == chunk_id && seals() == read_only) gone(worker);
}

bool SealUnderWay::waits_for(const wire::Socket& worker) const noexcept {
  return call_ && std::ranges::find(awaited_, &worker) != awaited_.end();
}

}  // namespace troupe::inline v0
