#include "troupe/device/vault.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "troupe/core/assert.hpp"
#include "troupe/wire/memory_info.hpp"

namespace troupe::inline v0::detail {
namespace {

std::uint64_t usual_chunk_bytes(std::uint64_t chunk_bytes, std::uint64_t limit_bytes) noexcept {
  const std::uint64_t asked = round_up(std::min(chunk_bytes, op::kMaxChunkBytes), kChunkStepBytes);
  const std::uint64_t most = round_up(limit_bytes / kLeastChunks, kChunkStepBytes);
  const std::uint64_t least = round_up(limit_bytes / (op::kMaxChunks / 2), kChunkStepBytes);
  return std::clamp(std::max(std::min(asked, most), least), kChunkStepBytes, op::kMaxChunkBytes);
}

std::uint64_t end_of(const Suballocator::Piece& piece) noexcept { return piece.offset_bytes + piece.size_bytes; }

bool is_out_of_memory(const Error& error) noexcept { return error.kind() == ErrorKind::out_of_memory; }

}  // namespace

Result<IntrusivePtr<Vault>> Vault::create(VaultOptions options, int device, std::shared_ptr<ChunkSource> source) {
  if (!source) return fail(ErrorKind::invalid_argument, "a vault needs a source of chunks");
  if (options.limit_bytes < kVaultAlignment)
    return fail(ErrorKind::invalid_argument, "limit_bytes is " + std::to_string(options.limit_bytes) +
                                                 "; a vault needs at least " + std::to_string(kVaultAlignment));
  return IntrusivePtr<Vault>::adopt(new Vault(options, device, std::move(source)));
}

Vault::Vault(VaultOptions options, int device, std::shared_ptr<ChunkSource> source)
    : limit_bytes_(options.limit_bytes / kVaultAlignment * kVaultAlignment),
      usual_bytes_(usual_chunk_bytes(options.chunk_bytes, limit_bytes_)),
      keep_empty_bytes_(std::max(options.keep_empty_bytes, usual_bytes_)),
      fence_bytes_(options.fence_bytes),
      device_(device),
      generation_(options.generation),
      source_(std::move(source)) {
  stats_.limit_bytes = options.limit_bytes;
}

Vault::~Vault() {
  try {
    trim();
  } catch (const std::bad_alloc&) {  // the chunks go with their table
  }
  forget_quick();  // for a closed vault, which was not trimmed
  while (idle_) delete std::exchange(idle_, idle_->next_idle_);
}

Result<IntrusivePtr<VaultBlock>> Vault::allocate(std::uint64_t size_bytes) {
  try {
    return find_or_make(with_room_for_fences(size_bytes));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::out_of_memory);
  }
}

Result<IntrusivePtr<VaultBlock>> Vault::find_or_make(std::uint64_t size_bytes) {
  std::optional<ChunkPiece> place;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return stopped();
    if (!idle_) keep_idle(*new VaultBlock);  // before it takes a place: later there may be no memory
    if (size_bytes == 0) return new_block(nullptr, 0);
    if (IntrusivePtr<VaultBlock> quick = quick_block(size_bytes)) return quick;
    if (size_bytes <= usual_bytes_) place = find_place(round_up(size_bytes, kVaultAlignment), Search::usual_chunks);
    if (place && end_of(place->piece) <= place->chunk->committed_bytes) return new_block(&*place, size_bytes);
  }
  return allocate_slowly(size_bytes, place);
}

/// With a place that is not committed yet, or without one.
Result<IntrusivePtr<VaultBlock>> Vault::allocate_slowly(std::uint64_t size_bytes, std::optional<ChunkPiece> place) {
  const std::lock_guard growth(growth_);
  if (closed_) {
    const std::lock_guard lock(mutex_);
    if (place) leave_place(place->slot, place->piece);
    return stopped();
  }
  Result<ChunkPiece> found = place ? Result<ChunkPiece>(*place) : grow(size_bytes);
  Result<IntrusivePtr<VaultBlock>> block = found ? committed_block(size_bytes, *found) : fail(found.error());
  give_back_empty_chunks(keep_empty_bytes_);  // those that were freed in the meantime
  return block;
}

Result<IntrusivePtr<VaultBlock>> Vault::allocate_own_chunk(std::uint64_t size_bytes) {
  if (size_bytes == 0) return allocate(0);
  const std::lock_guard growth(growth_);
  if (closed_) return stopped();
  size_bytes = with_room_for_fences(size_bytes);
  Result<ChunkPiece> found = grow_by_own_chunk(size_bytes);
  Result<IntrusivePtr<VaultBlock>> block = found ? committed_block(size_bytes, *found) : fail(found.error());
  give_back_empty_chunks(keep_empty_bytes_);
  return block;
}

Result<IntrusivePtr<VaultBlock>> Vault::committed_block(std::uint64_t size_bytes, const ChunkPiece& place) {
  Result<void> committed = commit(place);
  const std::lock_guard lock(mutex_);
  try {
    if (committed) return new_block(&place, size_bytes);
  } catch (const std::bad_alloc&) {
    committed = fail(ErrorKind::out_of_memory);
  }
  leave_place(place.slot, place.piece);
  return fail(committed.error());
}

Result<Vault::ChunkPiece> Vault::grow_by_own_chunk(std::uint64_t size_bytes) {
  if (size_bytes > limit_bytes_ || size_bytes > op::kMaxChunkBytes) return no_room(size_bytes);
  const std::uint64_t bytes = round_up(size_bytes, kVaultAlignment);
  const std::uint64_t wanted_bytes = round_up(bytes, kChunkStepBytes);
  Result<ChunkPiece> made = make_chunk(bytes, wanted_bytes, ChunkFor::one);
  if (!made && is_out_of_memory(made.error()) && give_back_empty_chunks(0))
    made = make_chunk(bytes, wanted_bytes, ChunkFor::one);
  if (!made && is_out_of_memory(made.error())) return no_room(size_bytes, std::string(made.error().message()));
  return made;
}

Result<Vault::ChunkPiece> Vault::grow(std::uint64_t size_bytes) {
  if (size_bytes > limit_bytes_ || size_bytes > op::kMaxChunkBytes) return no_room(size_bytes);
  const std::uint64_t bytes = round_up(size_bytes, kVaultAlignment);
  const bool large = bytes > usual_bytes_;
  const std::uint64_t least_bytes = round_up(bytes, kChunkStepBytes);
  const std::uint64_t wanted_bytes = large ? least_bytes : usual_bytes_;
  {
    const std::lock_guard lock(mutex_);
    forget_quick();
    if (const auto place = find_place(bytes, large ? Search::large_chunks : Search::usual_chunks)) return *place;
  }
  Result<ChunkPiece> made = make_chunk(bytes, wanted_bytes);
  if (!made && is_out_of_memory(made.error()) && give_back_empty_chunks(0)) made = make_chunk(bytes, wanted_bytes);
  if (!made && is_out_of_memory(made.error()) && least_bytes < wanted_bytes) made = make_chunk(bytes, least_bytes);
  if (made || !is_out_of_memory(made.error())) return made;
  {
    const std::lock_guard lock(mutex_);
    if (const auto place = find_place(bytes, Search::all_chunks)) return *place;
  }
  return no_room(size_bytes, std::string(made.error().message()));
}

/// A new chunk of the wanted size, or of what is left under the limit when that is less, and a place in it.
Result<Vault::ChunkPiece> Vault::make_chunk(std::uint64_t bytes, std::uint64_t wanted_bytes, ChunkFor use) {
  const VaultStats now = stats();
  const std::uint64_t chunk_bytes = std::min({wanted_bytes, limit_bytes_ - now.reserved_bytes, op::kMaxChunkBytes});
  if (chunk_bytes < bytes) return fail(ErrorKind::out_of_memory, "the limit leaves no room for another chunk");
  if (now.chunks == op::kMaxChunks)
    return fail(ErrorKind::out_of_memory,
                "there are " + std::to_string(op::kMaxChunks) + " chunks, the most there can be");
  const ChunkSource::Chunk chunk = TROUPE_TRY(source_->make(chunk_bytes));
  TROUPE_ASSERT(chunk.id < op::kMaxChunks, "a chunk's number is below kMaxChunks");
  try {
    const std::lock_guard lock(mutex_);
    return add_chunk(chunk, chunk_bytes, bytes, use);
  } catch (const std::bad_alloc&) {
    source_->drop(chunk.id);
    return fail(ErrorKind::out_of_memory);
  }
}

Vault::ChunkPiece Vault::add_chunk(ChunkSource::Chunk chunk, std::uint64_t chunk_bytes, std::uint64_t bytes,
                                   ChunkFor use) {
  auto slot = static_cast<std::uint32_t>(std::find(chunks_.begin(), chunks_.end(), nullptr) - chunks_.begin());
  if (slot == chunks_.size()) chunks_.emplace_back();
  const bool is_own = use == ChunkFor::one;
  const bool usual = bytes <= usual_bytes_ && !is_own;
  chunks_[slot] = std::make_unique<ChunkState>(ChunkState{chunk, Suballocator(chunk_bytes), 0, usual, is_own});
  if (usual) use_slot(slot);
  ++stats_.chunks;
  stats_.reserved_bytes += chunk_bytes;
  empty_bytes_ += chunk_bytes;
  if (is_own) ++own_empty_;
  const std::optional<ChunkPiece> place = place_in(slot, bytes);
  TROUPE_ASSERT(place.has_value(), "a new chunk has room for what it was made for");
  return *place;
}

/// Looks first at the chunk that had room last, then once at each of the others.
std::optional<Vault::ChunkPiece> Vault::find_place(std::uint64_t bytes, Search search) {
  const auto slots = static_cast<std::uint32_t>(chunks_.size());
  std::uint32_t slot = last_slot_;
  for (std::uint32_t i = 0; i < slots; ++i, ++slot) {
    if (slot >= slots) slot = 0;
    const ChunkState* chunk = chunks_[slot].get();
    if (!chunk || chunk->is_own || !chunk->pieces.may_fit(bytes)) continue;
    if (search != Search::all_chunks && chunk->usual != (search == Search::usual_chunks)) continue;
    if (const auto place = place_in(slot, bytes)) {
      if (chunk->usual) use_slot(slot);
      return place;
    }
  }
  return std::nullopt;
}

std::optional<Vault::ChunkPiece> Vault::place_in(std::uint32_t slot, std::uint64_t bytes) {
  ChunkState& chunk = *chunks_[slot];
  const bool was_empty = chunk.pieces.empty();
  const auto piece = chunk.pieces.allocate(bytes);
  if (!piece) return std::nullopt;
  if (was_empty) empty_bytes_ -= chunk.pieces.size_bytes();
  if (chunk.is_own) --own_empty_;
  return ChunkPiece{&chunk, slot, *piece};
}

void Vault::leave_place(std::uint32_t slot, const Suballocator::Piece& piece) {
  Suballocator& pieces = chunks_[slot]->pieces;
  pieces.free(piece);
  if (pieces.empty()) empty_bytes_ += pieces.size_bytes();
  if (chunks_[slot]->is_own) ++own_empty_;
}

Result<void> Vault::commit(const ChunkPiece& place) {
  const std::uint64_t chunk_bytes = place.chunk->pieces.size_bytes();  // never changes
  const std::uint64_t bytes = std::min(round_up(end_of(place.piece), kChunkStepBytes), chunk_bytes);
  {
    const std::lock_guard lock(mutex_);
    if (bytes <= place.chunk->committed_bytes) return {};
  }
  Result<void> committed = source_->commit(place.chunk->chunk.id, bytes);
  if (!committed && is_out_of_memory(committed.error()) && give_back_empty_chunks(0))
    committed = source_->commit(place.chunk->chunk.id, bytes);
  if (!committed && is_out_of_memory(committed.error()))
    return no_room(place.piece.size_bytes, std::string(committed.error().message()));
  if (!committed) return committed;
  const std::lock_guard lock(mutex_);
  place.chunk->committed_bytes = bytes;
  return {};
}

/// Gives empty chunks back until those left have no more than `keep_bytes`, and all that were made for one block: their
/// memory may be sealed, and is not used again. True when it gave one back.
bool Vault::give_back_empty_chunks(std::uint64_t keep_bytes) {
  std::vector<std::uint32_t> removed;
  {
    const std::lock_guard lock(mutex_);
    if (keep_bytes == 0) forget_quick();
    removed = remove_empty_chunks(keep_bytes);
  }
  for (const std::uint32_t id : removed) source_->drop(id);
  return !removed.empty();
}

/// Removes those made for one block or for large ones first: the chunks that are kept should serve many.
std::vector<std::uint32_t> Vault::remove_empty_chunks(std::uint64_t keep_bytes) {
  std::vector<std::uint32_t> removed;
  if (empty_bytes_ > keep_bytes || own_empty_ > 0) removed.reserve(chunks_.size());
  const auto remove = [&](std::unique_ptr<ChunkState>& chunk) {
    --stats_.chunks;
    stats_.reserved_bytes -= chunk->pieces.size_bytes();
    empty_bytes_ -= chunk->pieces.size_bytes();
    if (chunk->is_own) --own_empty_;
    removed.push_back(chunk->chunk.id);
    chunk.reset();
  };
  for (auto& chunk : chunks_) {
    if (own_empty_ == 0) break;
    if (chunk && chunk->is_own && chunk->pieces.empty()) remove(chunk);
  }
  for (const bool usual : {false, true}) {
    for (auto& chunk : chunks_) {
      if (empty_bytes_ <= keep_bytes) return removed;
      if (chunk && chunk->usual == usual && chunk->pieces.empty()) remove(chunk);
    }
  }
  return removed;
}

bool Vault::has_empty_chunks_to_spare() const noexcept { return empty_bytes_ > keep_empty_bytes_ || own_empty_ > 0; }

void Vault::use_slot(std::uint32_t slot) {
  if (slot != last_slot_) forget_quick();
  last_slot_ = slot;
}

IntrusivePtr<VaultBlock> Vault::quick_block(std::uint64_t size_bytes) noexcept {
  const std::uint64_t size = (size_bytes - 1) / kVaultAlignment;
  if (size >= kQuickSizes || !quick_[size]) return nullptr;
  VaultBlock& block = *quick_[size];
  quick_[size] = block.next_idle_;
  quick_bytes_ -= block.piece_.size_bytes;
  return hand_out(block, size_bytes);
}

bool Vault::keep_quick(VaultBlock& block) noexcept {
  const std::uint64_t bytes = block.piece_.size_bytes;
  const bool is_last = stats_.blocks == 0 && stats_.chunks > 1;  // then chunks should become empty
  if (bytes == 0 || bytes > kQuickSizes * kVaultAlignment || block.slot_ != last_slot_ || is_last) return false;
  if (quick_bytes_ + bytes > kMaxQuickBytes || !chunks_[last_slot_]->usual) return false;
  block.next_idle_ = std::exchange(quick_[bytes / kVaultAlignment - 1], &block);
  quick_bytes_ += bytes;
  return true;
}

/// Frees the pieces of all quick blocks.
void Vault::forget_quick() noexcept {
  if (quick_bytes_ == 0) return;
  for (VaultBlock*& first : quick_)
    while (first) {
      VaultBlock& block = *std::exchange(first, first->next_idle_);
      leave_place(block.slot_, block.piece_);
      keep_idle(block);
    }
  quick_bytes_ = 0;
}

void Vault::keep_idle(VaultBlock& block) noexcept {
  if (idle_blocks_ == kMaxIdleBlocks) return delete &block;
  block.next_idle_ = std::exchange(idle_, &block);
  ++idle_blocks_;
}

IntrusivePtr<VaultBlock> Vault::new_block(const ChunkPiece* place, std::uint64_t size_bytes) {
  VaultBlock* block = idle_;
  if (block) {
    idle_ = block->next_idle_;
    --idle_blocks_;
  } else {
    block = new VaultBlock;
  }
  block->device_ = device_;
  block->address_ = place ? op::address_of(place->chunk->chunk.id, place->piece.offset_bytes + fence_bytes_) : 0;
  std::byte* const chunk_data = place ? place->chunk->chunk.data : nullptr;
  block->data_ = chunk_data ? chunk_data + place->piece.offset_bytes + fence_bytes_ : nullptr;
  block->piece_ = place ? place->piece : Suballocator::Piece{};
  block->slot_ = place ? place->slot : 0;
  block->has_own_chunk_ = place && place->chunk->is_own;
  return hand_out(*block, size_bytes);
}

IntrusivePtr<VaultBlock> Vault::hand_out(VaultBlock& block, std::uint64_t size_bytes) noexcept {
  block.owners_.store(1, std::memory_order_relaxed);  // whoever shares it orders that itself
  block.whole_.store(true, std::memory_order_relaxed);
  block.empty_.store(false, std::memory_order_relaxed);
  block.unknown_ = block.skipped_ = {};
  block.why_.reset();
  block.seals_.store(0, std::memory_order_relaxed);
  block.size_bytes_ = size_bytes == 0 ? 0 : size_bytes - 2 * fence_bytes_;
  block.vault_ = IntrusivePtr<Vault>::share(this);
  block.number_ = ++stats_.allocations;
  ++stats_.blocks;
  stats_.used_bytes += block.piece_.size_bytes;
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.used_bytes);
  return IntrusivePtr<VaultBlock>::adopt(&block);
}

/// From the last owner, on any thread: must not wait for anybody who waits for the source.
void Vault::take_back(VaultBlock& block) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++stats_.frees;
    --stats_.blocks;
    stats_.used_bytes -= block.piece_.size_bytes;
    if (keep_quick(block)) return;
    if (block.piece_.size_bytes > 0) leave_place(block.slot_, block.piece_);
    keep_idle(block);
    if (stats_.blocks == 0 && stats_.chunks > 1) forget_quick();
    if (closed_ || !has_empty_chunks_to_spare()) return;
  }
  // Whoever holds `growth_` looks for empty chunks when it is done.
  try {
    if (const std::unique_lock growth(growth_, std::try_to_lock); growth && !closed_)
      give_back_empty_chunks(keep_empty_bytes_);
  } catch (const std::bad_alloc&) {  // the next call gives them back
  }
}

/// What is larger than all of the vault stays as it is, and is refused for that.
std::uint64_t Vault::with_room_for_fences(std::uint64_t size_bytes) const noexcept {
  return size_bytes == 0 || size_bytes > limit_bytes_ ? size_bytes : size_bytes + 2 * fence_bytes_;
}

op::Range Vault::with_fences(const VaultBlock& block) const noexcept {
  if (block.size_bytes() == 0) return {};
  const op::Address begin = block.address() - fence_bytes_;
  return {begin, begin + block.piece_.size_bytes};
}

bool Vault::look(const op::Range& range, std::span<std::byte> into) const noexcept {
  return source_->look(op::chunk_of(range.begin), op::offset_of(range.begin), into);
}

Result<LentChunk> Vault::lend(const VaultBlock& block) const { return source_->lend(op::chunk_of(block.address())); }

VaultStats Vault::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void Vault::trim() {
  const std::lock_guard growth(growth_);
  if (!closed_) give_back_empty_chunks(0);
}

void Vault::close() noexcept {
  const std::lock_guard growth(growth_);
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

Unexpected Vault::no_room(std::uint64_t size_bytes, const std::string& why) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t largest = 0;
  for (const auto& chunk : chunks_)
    if (chunk) largest = std::max(largest, chunk->pieces.largest_free_bytes());
  using wire::format_bytes;
  std::string message = "no room for " + format_bytes(size_bytes) + ": " + format_bytes(stats_.used_bytes) + " of " +
                        format_bytes(limit_bytes_) + " are used, the largest free piece has " + format_bytes(largest) +
                        ", " + std::to_string(stats_.chunks) + " chunks have " + format_bytes(stats_.reserved_bytes);
  if (!why.empty()) message += "; " + why;
  ErrorOrigin origin;
  origin.library = "vault";
  origin.device = device_;
  return fail(Error(ErrorKind::out_of_memory, std::move(message), std::move(origin)));
}

Unexpected Vault::stopped() const {
  return fail(ErrorKind::stopped, "the vault of device " + std::to_string(device_) + " is closed");
}

}  // namespace troupe::inline v0::detail
