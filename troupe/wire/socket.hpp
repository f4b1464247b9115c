// One end of a private connection between two processes: whole messages in order, with descriptors beside the bytes. It
// carries what is rare (the greeting, memory, a worker's report that it is poisoned); ops go through the ring.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "troupe/core/clock.hpp"
#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::size_t kMaxMessageBytes = 32 * 1024;
inline constexpr std::size_t kMaxDescriptors = 16;
/// How long `send` waits for a peer that does not read.
inline constexpr Duration kSendPatience = std::chrono::seconds(2);

struct Message {
  std::vector<std::byte> bytes;
  std::vector<Descriptor> descriptors;  // closed on exec
};

/// AF_UNIX, SOCK_SEQPACKET, closed on exec. Any thread may send and receive, several at once.
class Socket {
 public:
  /// Our end, and the other end to give away.
  static Result<std::pair<Socket, Descriptor>> make_pair();
  explicit Socket(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  /// Sends one message, whole or not at all: 1 to `kMaxMessageBytes` bytes (0 bytes would mean "closed") and copies of
  /// up to `kMaxDescriptors` descriptors. `invalid_argument` beyond that, `stopped` when the peer is gone, `queue_full`
  /// when it has not read for `patience`.
  Result<void> send(std::span<const std::byte> message, std::span<const int> descriptors = {},
                    Duration patience = kSendPatience);

  /// The next message; waits for it. `stopped` when the peer has closed and everything it sent has been received. A
  /// message that breaks the limits is dropped with its descriptors: `invalid_argument`. So is one whose descriptors
  /// this process has no room for: `out_of_memory`. After a `std::bad_alloc` the message can still be received.
  Result<Message> receive();
  /// The same without waiting; nothing when there is no message.
  Result<std::optional<Message>> try_receive();

  /// For a wait on several descriptors; readable when `try_receive` has an answer.
  int descriptor() const noexcept { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace troupe::inline v0::wire
