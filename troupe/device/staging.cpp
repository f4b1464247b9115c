// Copies between ordinary memory and a device, through shared memory, in pieces: one piece travels while several
// threads copy the next ones.
#include <cstring>
#include <mutex>

#include "troupe/actor/when.hpp"
#include "troupe/device/block.hpp"
#include "troupe/device/device.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/op_call.hpp"

namespace troupe::inline v0 {
namespace {

/// An array that is smaller goes in one piece, copied by the calling thread.
constexpr std::int64_t kWritePieceBytes = std::int64_t{4} << 20;
constexpr std::int64_t kReadPieceBytes = std::int64_t{16} << 20;

/// The elements of an array, in pieces of about `piece_bytes`.
struct Pieces {
  Pieces(const AnyArray& array, std::int64_t piece_bytes)
      : element_bytes(size_bytes(array.dtype())),
        elements(array.element_count()),
        per_piece(std::max<std::int64_t>(1, piece_bytes / element_bytes)) {}
  std::size_t count() const noexcept { return static_cast<std::size_t>((elements + per_piece - 1) / per_piece); }
  std::int64_t begin(std::size_t i) const noexcept { return static_cast<std::int64_t>(i) * per_piece; }
  std::int64_t end(std::size_t i) const noexcept { return std::min(elements, begin(i) + per_piece); }
  std::size_t begin_bytes(std::size_t i) const noexcept { return static_cast<std::size_t>(begin(i) * element_bytes); }
  std::size_t bytes(std::size_t i) const noexcept {
    return static_cast<std::size_t>((end(i) - begin(i)) * element_bytes);
  }

  std::int64_t element_bytes;
  std::int64_t elements;
  std::int64_t per_piece;
};

/// Passes pieces on in their order, in whatever order they were copied: so a tainted array becomes whole from its
/// beginning.
class InOrder {
 public:
  InOrder(std::size_t count, std::function<Result<void>(std::size_t, const AnyArray&)> pass_on)
      : waiting_(count), pass_on_(std::move(pass_on)) {}

  void arrived(std::size_t i, Result<AnyArray> piece) {
    const std::lock_guard lock(mutex_);
    if (!piece && status_) status_ = fail(piece.error());
    if (!status_) return;
    waiting_[i] = std::move(*piece);
    for (; next_ < waiting_.size() && waiting_[next_] && status_; ++next_) {
      status_ = pass_on_(next_, waiting_[next_]);
      waiting_[next_] = AnyArray();
    }
  }
  Result<void> status() {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  std::mutex mutex_;
  std::vector<AnyArray> waiting_;
  std::size_t next_ = 0;
  Result<void> status_;
  const std::function<Result<void>(std::size_t, const AnyArray&)> pass_on_;
};

Result<void> check_count(std::string_view op, const AnyArray& array, std::size_t count) {
  if (static_cast<std::int64_t>(count) == array.element_count()) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + ": the array is " + array.shape().to_string() +
                                               "; it needs " + std::to_string(array.element_count()) +
                                               " elements, and " + std::to_string(count) + " are given");
}

Result<void> check_bytes(std::string_view op, const AnyArray& array, std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) == array.size_bytes()) return {};
  return fail(ErrorKind::invalid_argument, std::string(op) + ": the array is " + array.shape().to_string() + " of " +
                                               std::string(name(array.dtype())) + "; it needs " +
                                               std::to_string(array.size_bytes()) + " bytes, and " +
                                               std::to_string(bytes) + " are given");
}

Task<Result<void>> read_piece(Device device, AnyArray from, AnyArray staged, std::byte* into, std::size_t bytes,
                              std::shared_ptr<CopyTeam> team) {
  CO_TRY(co_await device.copy(from, staged));
  team->copy(into, staged.block()->data(), bytes);
  co_return {};
}

}  // namespace

Call<void> Device::write_elements(const AnyArray& to, std::span<const std::byte> bytes, std::size_t count) const {
  if (Result<void> good = check_count("write", to, count); !good) return fail(std::move(good).error());
  if (state()->system().is_forked()) return fail(detail::fork_error());
  if (to.is_sealed()) return fail(ErrorKind::invalid_argument, "write: the array is sealed; unseal it first");
  const Pieces pieces(to, kWritePieceBytes);
  if (pieces.count() < 2 || !to.is_contiguous()) {
    AnyArray staged(to.dtype());
    if (Result<void> made = allocate_host(staged, to.shape()); !made) return fail(std::move(made).error());
    if (!bytes.empty()) std::memcpy(staged.block()->data(), bytes.data(), bytes.size());
    return named(copy(staged, to), "write");
  }
  const Result<AnyArray> flat = to.reshape({pieces.elements});
  if (!flat) return fail(flat.error());
  InOrder in_order(pieces.count(), [&](std::size_t i, const AnyArray& staged) -> Result<void> {
    const AnyArray part = TROUPE_TRY(flat->slice(0, pieces.begin(i), pieces.end(i)));
    Call<void> piece = named(copy(staged, part), "write");
    if (piece.refuses_to_start()) return piece.take();
    return piece.submit_above_limit();  // what is submitted or awaited after it is held back
  });
  state()->copy_team()->run(pieces.count(), [&](std::size_t i) {
    if (!in_order.status()) return;
    AnyArray staged(to.dtype());
    if (Result<void> made = allocate_host(staged, {pieces.end(i) - pieces.begin(i)}); !made)
      return in_order.arrived(i, fail(made.error()));
    std::memcpy(staged.block()->data(), bytes.data() + pieces.begin_bytes(i), pieces.bytes(i));
    in_order.arrived(i, std::move(staged));
  });
  if (Result<void> submitted = in_order.status(); !submitted) return fail(submitted.error());
  Call<void> end = named(wait_for(to), "write");
  end.call_->ends_a_write = true;
  return end;
}

Task<Result<void>> Device::read_elements(Device device, AnyArray from, std::span<std::byte> into, std::size_t count) {
  CO_TRY(check_count("read", from, count));
  const Pieces pieces(from, from.is_contiguous() ? kReadPieceBytes : from.size_bytes());
  const std::shared_ptr<CopyTeam> team = device.state()->copy_team();
  std::vector<Task<Result<void>>> reads;
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    AnyArray part = from;
    if (from.is_contiguous()) {
      const AnyArray flat = CO_TRY(from.reshape({pieces.elements}));
      part = CO_TRY(flat.slice(0, pieces.begin(i), pieces.end(i)));
    }
    AnyArray staged(from.dtype());
    CO_TRY(device.allocate_host(staged, part.shape()));
    reads.push_back(read_piece(device, part, staged, into.data() + pieces.begin_bytes(i), pieces.bytes(i), team));
  }
  for (Result<void>& end : co_await when_all(std::move(reads))) CO_TRY(std::move(end));
  co_return {};
}

// ---- of any type ----

Call<void> Device::write_bytes(const AnyArray& to, std::span<const std::byte> bytes) const {
  if (Result<void> good = check_bytes("write", to, bytes.size()); !good) return fail(std::move(good).error());
  return write_elements(to, bytes, static_cast<std::size_t>(to.element_count()));
}

detail::TaskCall<void> Device::read_bytes(const AnyArray& from, std::span<std::byte> into) const {
  return {state(), read_as_bytes(*this, from, into)};
}

Task<Result<void>> Device::read_as_bytes(Device device, AnyArray from, std::span<std::byte> into) {
  CO_TRY(check_bytes("read", from, into.size()));
  co_return co_await read_elements(device, from, into, static_cast<std::size_t>(from.element_count()));
}

}  // namespace troupe::inline v0
