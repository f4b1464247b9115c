// What app and worker say to each other over their socket, apart from ops: the greeting and its answer, and the chunks
// of the vault. Few messages, none of them on the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/core/result.hpp"
#include "troupe/wire/channel.hpp"
#include "troupe/wire/chunk.hpp"
#include "troupe/wire/socket.hpp"

namespace troupe::inline v0::wire {

/// The version of all that passes between them: this protocol, the channel, the ops. Both must have the same.
std::string protocol_version();

/// App to worker, the first message. With it come the descriptors of ring, status and bells.
struct Hello {
  std::string version;
  std::string backend;
  std::uint64_t ring_units = 0;
  std::uint32_t doorbell = 0;     // this worker's number in the page of bells
  std::uint64_t mark_secret = 0;  // of the channel's `MarkKey`
  /// What the worker may allocate for itself, without the vault; 0: no limit.
  std::uint64_t memory_limit_bytes = 0;
  std::string device;            // which device of the backend
  std::string device_name = {};  // for people: "gpu0", "host"
  CompletionPolicy completion = CompletionPolicy::timeline;
  std::optional<std::int32_t> cpu_threads = {};  // none: as many as there are
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
/// App to worker: make accelerator memory of that size, and send its descriptor. Memory that dies with its worker has
/// no descriptor: keep it as that chunk.
struct MakeMemory {
  Chunk chunk;
};
/// App to worker: no op will name that chunk again.
struct DropChunk {
  std::uint32_t id = 0;
};
/// App to worker: make that chunk read-only or writable, at the address where it is. For shared memory its descriptor
/// comes with the message, opened for reading only when the chunk is to be read-only.
struct ProtectChunk {
  std::uint32_t id = 0;
  bool read_only = false;
};
/// App to worker: it serves now, as that generation. Only for those who look at its process.
struct BeginGeneration {
  std::int64_t generation = 0;
};
/// App to worker: run that `plugin.call` beside the ring, on no lane, for what it leaves in the process: a worker that
/// serves has it then, and a standby has it ahead of time. It only reads arrays that nobody writes. Nobody is told how
/// it ends: whoever needs what it makes finds out.
struct PrepareOp {
  std::vector<std::byte> op;  // as it would stand in the ring; at most kMaxPreparedBytes
};
inline constexpr std::size_t kMaxPreparedBytes = std::size_t{24} << 10;
/// Worker to app: the backend is open; send ops.
struct Ready {
  std::string version;
};
/// Worker to app: it cannot serve, and ends.
struct Refused {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// Worker to app: its context is poisoned, and it ends. It says so because the end takes a while.
struct Poisoned {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::int64_t native_code = 0;
  TimePoint::rep noticed = 0;  // when, by the clock that all processes share
};
/// Worker to app: the memory is made. Its descriptor comes with it, if it has one.
struct MemoryMade {};
/// Worker to app: the memory could not be made.
struct NoMemory {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};
/// Worker to app: that chunk is protected as was asked.
struct ChunkProtected {
  std::uint32_t id = 0;
  bool read_only = false;
};

using ToWorker = std::variant<Hello, MapChunk, DropChunk, MakeMemory, ProtectChunk, BeginGeneration, PrepareOp>;
using ToApp = std::variant<Ready, Refused, MemoryMade, NoMemory, Poisoned, ChunkProtected>;

/// Fails as `Socket::send` does.
Result<void> send(Socket& socket, const ToWorker& message, std::span<const int> descriptors = {},
                  Duration patience = kSendPatience);
Result<void> send(Socket& socket, const ToApp& message, std::span<const int> descriptors = {});

/// `invalid_argument` for bytes that are not such a message. Of a `Hello` with another version only the version is
/// read.
Result<ToWorker> decode_to_worker(std::span<const std::byte> bytes);
Result<ToApp> decode_to_app(std::span<const std::byte> bytes);

}  // namespace troupe::inline v0::wire
