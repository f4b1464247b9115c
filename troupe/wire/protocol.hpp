// What app and worker say to each other over their socket, apart from ops: the greeting and what comes of it, and the
// chunks of the vault. Few messages, none of them on the hot path.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/core/result.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/chunk.hpp"
#include "troupe/wire/socket.hpp"

namespace troupe::inline v0::wire {

/// The version that both must have, of everything that passes between them: this protocol, the channel, the ops.
std::string protocol_version();

/// App to worker, first of all. With it come the descriptors of ring, status and bells.
struct Hello {
  std::string version;
  std::string backend;
  std::uint64_t ring_units = 0;
  std::uint32_t doorbell = 0;     // which one is this worker's
  std::uint64_t mark_secret = 0;  // of the channel's `MarkKey`
  /// What the worker may allocate for itself, vault apart; 0: no limit.
  std::uint64_t memory_limit_bytes = 0;
  std::string device;  // which one of the backend's
  CompletionPolicy completion = CompletionPolicy::timeline;
  std::array<std::int8_t, kMaxLanes> priorities = {};
  Sandbox sandbox = Sandbox::none;
  std::vector<std::string> readable_paths = {};  // for Sandbox::strict; at most kMaxSandboxPaths of each
  std::vector<std::string> writable_paths = {};
};
inline constexpr std::uint32_t kMaxSandboxPaths = 256;
/// App to worker: a chunk of the vault, with its descriptor.
struct MapChunk {
  Chunk chunk;
};
/// App to worker: make that much of the accelerator's memory, and send its descriptor; or, when it is memory that dies
/// with its worker, keep it as that chunk.
struct MakeMemory {
  Chunk chunk;
};
/// App to worker: no op will name that chunk again.
struct DropChunk {
  std::uint32_t id = 0;
};
/// App to worker: from now on nothing there can write that chunk, or everything can again; where it is mapped stays. Of
/// shared memory the descriptor comes with it, one that was opened for reading only when nothing is to write.
struct ProtectChunk {
  std::uint32_t id = 0;
  bool read_only = false;
};
/// Worker to app: the backend is open, ops are welcome.
struct Ready {
  std::string version;
};
/// Worker to app: it cannot serve, and ends.
struct Refused {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// Worker to app: nothing works in it any more, and it ends. Said because its end takes a while.
struct Poisoned {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::int64_t native_code = 0;
  TimePoint::rep noticed = 0;  // when, by the clock that all processes share
};
/// Worker to app: the memory is made. Its descriptor comes with it, if it has one.
struct MemoryMade {};
/// Worker to app: there is none.
struct NoMemory {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};
/// Worker to app: that chunk is protected as was asked.
struct ChunkProtected {
  std::uint32_t id = 0;
  bool read_only = false;
};

using ToWorker = std::variant<Hello, MapChunk, DropChunk, MakeMemory, ProtectChunk>;
using ToApp = std::variant<Ready, Refused, MemoryMade, NoMemory, Poisoned, ChunkProtected>;

/// Errors as `Socket::send`.
Result<void> send(Socket& socket, const ToWorker& message, std::span<const int> descriptors = {},
                  Duration patience = kSendPatience);
Result<void> send(Socket& socket, const ToApp& message, std::span<const int> descriptors = {});

/// `invalid_argument` for bytes that are no such message. Of a greeting in another version, only the version is read.
Result<ToWorker> decode_to_worker(std::span<const std::byte> bytes);
Result<ToApp> decode_to_app(std::span<const std::byte> bytes);

}  // namespace troupe::inline v0::wire
