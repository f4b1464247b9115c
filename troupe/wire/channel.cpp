#include "troupe/wire/channel.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

namespace troupe::inline v0::wire {
namespace {

constexpr std::uint64_t status_bytes(std::uint64_t ring_units) noexcept {
  return sizeof(Status) + ring_units * kUnitBytes;
}
constexpr std::size_t kTextOffset = offsetof(Reply, text);
/// So that the shortest reply has room for a message, too.
constexpr std::size_t kMaxLibraryBytes = 32;
constexpr std::size_t kMaxOpNameBytes = 255;

/// The size comes from a user or from the other process: it is an error there, and an assert only in `Ring`.
Result<void> check_units(std::uint64_t ring_units) {
  if (std::has_single_bit(ring_units) && ring_units <= kMaxRingUnits) return {};
  return fail(ErrorKind::invalid_argument, "a ring has a power of two of units, at most " +
                                               std::to_string(kMaxRingUnits) + ", and not " +
                                               std::to_string(ring_units));
}

}  // namespace

Channel::Channel(SharedMemory ring, SharedMemory status, std::uint64_t ring_units) noexcept
    : ring_memory_(std::move(ring)), status_memory_(std::move(status)), ring_(ring_memory_.data(), ring_units) {}

Result<Channel> Channel::create(std::uint64_t ring_units) {
  TROUPE_TRY(check_units(ring_units));
  SharedMemory ring = TROUPE_TRY(SharedMemory::create("troupe-ring", ring_units * kUnitBytes));
  TROUPE_TRY(ring.commit(0, ring.size_bytes()));
  TROUPE_TRY(ring.seal_writing_elsewhere());
  SharedMemory status = TROUPE_TRY(SharedMemory::create("troupe-status", status_bytes(ring_units)));
  TROUPE_TRY(status.commit(0, status.size_bytes()));
  std::construct_at(reinterpret_cast<Status*>(status.data()));
  return Channel(std::move(ring), std::move(status), ring_units);
}

Result<Channel> Channel::open(Descriptor ring, Descriptor status, std::uint64_t ring_units) {
  TROUPE_TRY(check_units(ring_units));
  SharedMemory ring_memory = TROUPE_TRY(SharedMemory::map(std::move(ring), ring_units * kUnitBytes, false));
  SharedMemory status_memory = TROUPE_TRY(SharedMemory::map(std::move(status), status_bytes(ring_units), true));
  return Channel(std::move(ring_memory), std::move(status_memory), ring_units);
}

void Channel::write_reply(Position position, std::uint64_t units, const Error& error, bool had_begun) noexcept {
  Reply& out = reply(position);
  const std::size_t room = units * kUnitBytes - kTextOffset;
  const ErrorOrigin& origin = error.origin();
  const std::string_view library = std::string_view(origin.library).substr(0, kMaxLibraryBytes);
  std::string_view message = error.message().substr(0, std::numeric_limits<std::uint16_t>::max());
  std::string_view cut;  // what stands for the rest of the message
  std::string_view op = std::string_view(origin.op).substr(0, kMaxOpNameBytes);
  if (library.size() + op.size() + message.size() > room) op = {};
  if (library.size() + message.size() > room) {
    cut = "...";
    message = message.substr(0, room - library.size() - cut.size());
  }
  std::byte* to = reinterpret_cast<std::byte*>(&out) + kTextOffset;
  for (const std::string_view text : {library, op, message, cut})
    to = std::ranges::copy(std::as_bytes(std::span(text)), to).out;
  out.message_bytes = static_cast<std::uint16_t>(message.size() + cut.size());
  out.library_bytes = static_cast<std::uint8_t>(library.size());
  out.op_bytes = static_cast<std::uint8_t>(op.size());
  out.native_code = origin.native_code;
  out.had_begun = had_begun ? 1 : 0;
  out.error_kind_plus_one = static_cast<std::uint16_t>(static_cast<std::uint16_t>(error.kind()) + 1);
}

Error Channel::read_error(Position position, std::uint64_t units, std::uint16_t kind_plus_one) const {
  const Reply& in = reply(position);
  if (kind_plus_one > kErrorKinds) return Error(ErrorKind::internal, "the worker's reply cannot be read");
  std::size_t left = units * kUnitBytes - kTextOffset;
  const char* from = reinterpret_cast<const char*>(&in) + kTextOffset;
  const auto next = [&](std::size_t size) {
    size = std::min(size, left);
    std::string text(from, size);
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    from += size;
    left -= size;
    return text;
  };
  std::string library = next(in.library_bytes);
  std::string op = next(in.op_bytes);
  std::string message = next(in.message_bytes);
  return Error(static_cast<ErrorKind>(kind_plus_one - 1), std::move(message),
               ErrorOrigin{.library = std::move(library), .native_code = in.native_code, .op = std::move(op)});
}

Result<SharedBells> SharedBells::create() {
  SharedMemory memory = TROUPE_TRY(SharedMemory::create("troupe-bells", sizeof(BellPage)));
  TROUPE_TRY(memory.commit(0, sizeof(BellPage)));
  std::construct_at(reinterpret_cast<BellPage*>(memory.data()));
  return SharedBells(std::move(memory));
}

Result<SharedBells> SharedBells::open(Descriptor descriptor) {
  return SharedBells(TROUPE_TRY(SharedMemory::map(std::move(descriptor), sizeof(BellPage), true)));
}

}  // namespace troupe::inline v0::wire
