#include "troupe/wire/protocol.hpp"

#include "troupe/wire/encoding.hpp"

namespace troupe::inline v0::wire {
namespace {

enum class Tag : std::uint8_t {
  hello,
  map_chunk,
  drop_chunk,
  ready,
  refused,
  make_memory,
  memory_made,
  no_memory,
  poisoned,
  protect_chunk,
  chunk_protected,
  begin_generation,
  prepare_op
};

struct Encode {
  Writer& out;
  void operator()(const Hello& m) const {
    out.put(Tag::hello);
    out.put_text(m.version);
    out.put_text(m.backend);
    out.put(m.ring_units);
    out.put(m.doorbell);
    out.put(m.mark_secret);
    out.put(m.memory_limit_bytes);
    out.put_text(m.device);
    out.put_text(m.device_name);
    out.put(m.completion);
    out.put(m.cpu_threads.has_value());
    out.put(m.cpu_threads.value_or(0));
    for (const std::int8_t priority : m.priorities) out.put(priority);
    out.put(m.sandbox);
    put(m.readable_paths);
    put(m.writable_paths);
  }
  void put(const std::vector<std::string>& paths) const {
    out.put(static_cast<std::uint32_t>(paths.size()));
    for (const std::string& path : paths) out.put_text(path);
  }
  void operator()(const MapChunk& m) const { put(Tag::map_chunk, m.chunk); }
  void operator()(const MakeMemory& m) const { put(Tag::make_memory, m.chunk); }
  void put(Tag tag, const Chunk& chunk) const {
    out.put(tag);
    out.put(chunk.id);
    out.put(chunk.size_bytes);
    out.put(chunk.memory);
    out.put(chunk.address);
    out.put(chunk.read_only);
  }
  void operator()(const ProtectChunk& m) const { put_protection(Tag::protect_chunk, m.id, m.read_only); }
  void operator()(const ChunkProtected& m) const { put_protection(Tag::chunk_protected, m.id, m.read_only); }
  void put_protection(Tag tag, std::uint32_t id, bool read_only) const {
    out.put(tag);
    out.put(id);
    out.put(read_only);
  }
  void operator()(const MemoryMade&) const { out.put(Tag::memory_made); }
  void operator()(const NoMemory& m) const {
    out.put(Tag::no_memory);
    out.put(m.kind);
    out.put_text(m.message);
  }
  void operator()(const Poisoned& m) const {
    out.put(Tag::poisoned);
    out.put(m.kind);
    out.put_text(m.message);
    out.put(m.native_code);
    out.put(m.noticed);
  }
  void operator()(const DropChunk& m) const {
    out.put(Tag::drop_chunk);
    out.put(m.id);
  }
  void operator()(const BeginGeneration& m) const {
    out.put(Tag::begin_generation);
    out.put(m.generation);
  }
  void operator()(const PrepareOp& m) const {
    out.put(Tag::prepare_op);
    out.put_sized(m.op);
  }
  void operator()(const Ready& m) const {
    out.put(Tag::ready);
    out.put_text(m.version);
  }
  void operator()(const Refused& m) const {
    out.put(Tag::refused);
    out.put(m.kind);
    out.put_text(m.message);
  }
};

Unexpected not_a_message() {
  return fail(ErrorKind::invalid_argument, "the other side sent bytes that are no message of this version");
}

Result<std::vector<std::string>> decode_paths(Reader& in) {
  const auto count = in.get<std::uint32_t>();
  if (count > kMaxSandboxPaths) return not_a_message();
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < count; ++i) paths.emplace_back(in.get_text());
  return paths;
}

Result<bool> decode_bool(Reader& in) {
  const auto number = in.get<std::uint8_t>();
  if (number > 1) return not_a_message();
  return number == 1;
}

/// A `ProtectChunk` or its answer.
template <class M>
Result<M> decode_protection(Reader& in) {
  M message;
  message.id = in.get<std::uint32_t>();
  message.read_only = TROUPE_TRY(decode_bool(in));
  return message;
}

Result<Chunk> decode_chunk(Reader& in) {
  Chunk chunk;
  chunk.id = in.get<std::uint32_t>();
  chunk.size_bytes = in.get<std::uint64_t>();
  chunk.memory = in.get<ChunkMemory>();
  if (chunk.memory > ChunkMemory::kLast) return not_a_message();
  chunk.address = in.get<std::uint64_t>();
  chunk.read_only = TROUPE_TRY(decode_bool(in));
  return chunk;
}

}  // namespace

std::string protocol_version() {
  return "troupe 0.1, protocol " + std::to_string(kProtocolVersion) + ", ops " + std::to_string(kOpVersion);
}

Result<void> send(Socket& socket, const ToWorker& message, std::span<const int> descriptors, Duration patience) {
  Writer out;
  std::visit(Encode{out}, message);
  return socket.send(out.bytes(), descriptors, patience);
}

Result<void> send(Socket& socket, const ToApp& message, std::span<const int> descriptors) {
  Writer out;
  std::visit(Encode{out}, message);
  return socket.send(out.bytes(), descriptors);
}

Result<ToWorker> decode_to_worker(std::span<const std::byte> bytes) {
  Reader in(bytes);
  ToWorker message;
  switch (in.get<Tag>()) {
    case Tag::hello: {
      Hello hello;
      hello.version = in.get_text();
      if (in.ok() && hello.version != protocol_version()) return hello;  // the rest has another layout
      hello.backend = in.get_text();
      hello.ring_units = in.get<std::uint64_t>();
      hello.doorbell = in.get<std::uint32_t>();
      if (hello.doorbell >= kMaxDoorbells) return not_a_message();
      hello.mark_secret = in.get<std::uint64_t>();
      hello.memory_limit_bytes = in.get<std::uint64_t>();
      hello.device = in.get_text();
      hello.device_name = in.get_text();
      hello.completion = in.get<CompletionPolicy>();
      if (hello.completion > CompletionPolicy::kLast) return not_a_message();
      const bool has_threads = in.get<bool>();
      const auto threads = in.get<std::int32_t>();
      if (has_threads) hello.cpu_threads = threads;
      for (std::int8_t& priority : hello.priorities) priority = in.get<std::int8_t>();
      hello.sandbox = in.get<Sandbox>();
      if (hello.sandbox > Sandbox::kLast) return not_a_message();
      hello.readable_paths = TROUPE_TRY(decode_paths(in));
      hello.writable_paths = TROUPE_TRY(decode_paths(in));
      message = std::move(hello);
      break;
    }
    case Tag::map_chunk: message = MapChunk{TROUPE_TRY(decode_chunk(in))}; break;
    case Tag::drop_chunk: message = DropChunk{in.get<std::uint32_t>()}; break;
    case Tag::make_memory: message = MakeMemory{TROUPE_TRY(decode_chunk(in))}; break;
    case Tag::protect_chunk: message = TROUPE_TRY(decode_protection<ProtectChunk>(in)); break;
    case Tag::begin_generation: message = BeginGeneration{in.get<std::int64_t>()}; break;
    case Tag::prepare_op: {
      const std::span<const std::byte> op = std::as_bytes(std::span(in.get_text()));
      if (op.size() > kMaxPreparedBytes) return not_a_message();
      message = PrepareOp{{op.begin(), op.end()}};
      break;
    }
    default: return not_a_message();
  }
  if (!in.finished()) return not_a_message();
  return message;
}

Result<ToApp> decode_to_app(std::span<const std::byte> bytes) {
  Reader in(bytes);
  ToApp message;
  const auto error = [&]<class M>(std::type_identity<M>) -> Result<M> {
    const auto kind = in.get<std::uint8_t>();
    if (kind >= kErrorKinds) return not_a_message();
    M m;
    m.kind = static_cast<ErrorKind>(kind);
    m.message = std::string(in.get_text());
    return m;
  };
  switch (in.get<Tag>()) {
    case Tag::ready: message = Ready{std::string(in.get_text())}; break;
    case Tag::refused: message = TROUPE_TRY(error(std::type_identity<Refused>{})); break;
    case Tag::memory_made: message = MemoryMade{}; break;
    case Tag::chunk_protected: message = TROUPE_TRY(decode_protection<ChunkProtected>(in)); break;
    case Tag::no_memory: message = TROUPE_TRY(error(std::type_identity<NoMemory>{})); break;
    case Tag::poisoned: {
      Poisoned poisoned = TROUPE_TRY(error(std::type_identity<Poisoned>{}));
      poisoned.native_code = in.get<std::int64_t>();
      poisoned.noticed = in.get<TimePoint::rep>();
      message = std::move(poisoned);
      break;
    }
    default: return not_a_message();
  }
  if (!in.finished()) return not_a_message();
  return message;
}

}  // namespace troupe::inline v0::wire
