#include "troupe/wire/channel.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::inline v0::wire {
namespace {

constexpr std::uint64_t status_bytes(std::uint64_t ring_units) noexcept {
  return sizeof(Status) + ring_units * kUnitBytes;
}
constexpr std::size_t kTextOffset = offsetof(Reply, text);
/// Short enough that even the shortest reply has room for a message.
constexpr std::size_t kMaxLibraryBytes = 32;
constexpr std::size_t kMaxOpNameBytes = 255;

/// The size comes from a user or from the other process, so a bad one is an error here; only `Ring` asserts it.
Result<void> check_units(std::uint64_t ring_units) {
  if (std::has_single_bit(ring_units) && ring_units <= kMaxRingUnits) return {};
  return fail(ErrorKind::invalid_argument, "a ring has a power of two of units, at most " +
                                               std::to_string(kMaxRingUnits) + ", and not " +
                                               std::to_string(ring_units));
}

template <std::size_t... kLane>
auto make_timelines(Status& status, const MarkKey& key, std::index_sequence<kLane...>) {
  return std::unique_ptr<std::array<Timeline, kMaxLanes>>(
      new std::array<Timeline, kMaxLanes>{Timeline(status.lanes[kLane].timeline, key, kLane)...});
}

Result<MarkKey> make_key() {
  std::uint64_t secret = 0;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
    return fail(errno_error(ErrorKind::internal, "random bytes for a worker's channel", errno));
  return MarkKey(secret);
}

/// How many bytes of a reply are in use: its head and its text.
std::size_t reply_bytes(const Reply& reply) noexcept {
  return kTextOffset + std::size_t{reply.library_bytes} + reply.op_bytes + reply.message_bytes;
}

Error error_of(const Reply& head, std::string_view text) {
  const auto next = [&](std::size_t size) {
    std::string part(text.substr(0, size));
    text.remove_prefix(part.size());
    std::replace_if(part.begin(), part.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return part;
  };
  std::string library = next(head.library_bytes);
  std::string op = next(head.op_bytes);
  std::string message = next(head.message_bytes);
  if (head.error_kind_plus_one > kErrorKinds) return Error(ErrorKind::internal, "the worker's reply cannot be read");
  return Error(static_cast<ErrorKind>(head.error_kind_plus_one - 1), std::move(message),
               ErrorOrigin{.library = std::move(library), .native_code = head.native_code, .op = std::move(op)});
}

}  // namespace

Channel::Channel(SharedMemory ring, SharedMemory status, std::uint64_t ring_units, const MarkKey& key)
    : ring_memory_(std::move(ring)),
      status_memory_(std::move(status)),
      ring_(ring_memory_.data(), ring_units),
      key_(key),
      timelines_(make_timelines(this->status(), key_, std::make_index_sequence<kMaxLanes>())) {}

Result<Channel> Channel::create(std::uint64_t ring_units) {
  TROUPE_TRY(check_units(ring_units));
  const MarkKey key = TROUPE_TRY(make_key());
  SharedMemory ring = TROUPE_TRY(SharedMemory::create("troupe-ring", ring_units * kUnitBytes));
  TROUPE_TRY(ring.commit(0, ring.size_bytes()));
  TROUPE_TRY(ring.seal_writing_elsewhere());
  SharedMemory status = TROUPE_TRY(SharedMemory::create("troupe-status", status_bytes(ring_units)));
  TROUPE_TRY(status.commit(0, status.size_bytes()));
  std::construct_at(reinterpret_cast<Status*>(status.data()));
  Channel channel(std::move(ring), std::move(status), ring_units, key);
  for (std::uint32_t lane = 0; lane < kMaxLanes; ++lane) {
    channel.status().lanes[lane].timeline.store(TimelineWord::make(key, lane, 0, 0));
    channel.begin(lane, 0);
  }
  return channel;
}

Result<Channel> Channel::open(Descriptor ring, Descriptor status, std::uint64_t ring_units, const MarkKey& key) {
  TROUPE_TRY(check_units(ring_units));
  SharedMemory ring_memory = TROUPE_TRY(SharedMemory::map(std::move(ring), ring_units * kUnitBytes, false));
  SharedMemory status_memory = TROUPE_TRY(SharedMemory::map(std::move(status), status_bytes(ring_units), true));
  return Channel(std::move(ring_memory), std::move(status_memory), ring_units, key);
}

std::uint16_t Channel::proof_of(Position position, std::span<const std::byte> reply) const noexcept {
  std::uint32_t mark = key_.mark(kReplyPlace, position);
  for (; !reply.empty(); reply = reply.subspan(std::min(reply.size(), sizeof(std::uint64_t)))) {
    std::uint64_t next = 0;
    std::memcpy(&next, reply.data(), std::min(reply.size(), sizeof next));
    mark = key_.mark(kReplyPlace + mark, next);
  }
  return static_cast<std::uint16_t>(mark | 1);
}

std::uint16_t Channel::write_reply(Position position, std::uint64_t units, const Error& error,
                                   bool had_begun) noexcept {
  Reply& out = reply(position);
  const std::size_t room = units * kUnitBytes - kTextOffset;
  const ErrorOrigin& origin = error.origin();
  const std::string_view library = std::string_view(origin.library).substr(0, kMaxLibraryBytes);
  std::string_view message = error.message().substr(0, std::numeric_limits<std::uint16_t>::max());
  std::string_view cut;  // stands for the rest of the message
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
  return proof_of(position, std::as_bytes(std::span(&out, units)).first(reply_bytes(out)));
}

std::unique_ptr<Channel::Failure> Channel::copy_failure(Position position, std::uint64_t units) {
  std::vector<std::byte> copy(units * kUnitBytes);
  std::memcpy(copy.data(), &reply(position), copy.size());
  Reply head;
  std::memcpy(&head, copy.data(), sizeof head);
  if (head.error_kind_plus_one == 0) head.error_kind_plus_one = 1;  // it was not 0 a moment ago
  const std::span<const std::byte> said =
      std::span<const std::byte>(copy).first(std::min(copy.size(), reply_bytes(head)));
  const std::string_view text(reinterpret_cast<const char*>(said.data()) + kTextOffset, said.size() - kTextOffset);
  auto failure = std::make_unique<Failure>(
      Failure{.error = error_of(head, text), .had_begun = head.had_begun != 0, .proof = proof_of(position, said)});
  for (std::uint64_t i = 0; i < units; ++i)
    reply(position + i).error_kind_plus_one = 0;  // last, when nothing can fail any more
  return failure;
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
