#include "troupe/wire/protocol.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>
#include <vector>

#include "troupe/wire/encoding.hpp"

namespace troupe::wire {
namespace {

using Bytes = std::vector<std::byte>;

/// What arrives when the message is sent.
template <class AnyMessage>
Message sent(const AnyMessage& message, std::span<const int> descriptors = {}) {
  auto [here, there] = value(Socket::make_pair());
  Socket receiver(std::move(there));
  value(send(here, message, descriptors));
  return value(receiver.receive());
}

const ToWorker kHello = Hello{.version = protocol_version(),
                              .backend = "host",
                              .ring_units = std::uint64_t{1} << 40,
                              .doorbell = kMaxDoorbells - 1,
                              .mark_secret = 0x0123456789abcdef,
                              .memory_limit_bytes = ~std::uint64_t{0},
                              .device = "GPU-1234",
                              .device_name = "gpu0",
                              .completion = CompletionPolicy::polled,
                              .cpu_threads = 3,
                              .priorities = {1, -2},
                              .sandbox = Sandbox::strict,
                              .readable_paths = {"/opt/plugins", "/etc/model"},
                              .writable_paths = {"/tmp"}};
const ToWorker kMapChunk = MapChunk{{.id = 4095,
                                     .size_bytes = std::uint64_t{1} << 44,
                                     .memory = ChunkMemory::device,
                                     .address = std::uint64_t{1} << 45,
                                     .read_only = true}};
const ToWorker kMakeMemory = MakeMemory{.chunk = {.size_bytes = std::uint64_t{1} << 43}};
const ToWorker kDropChunk = DropChunk{.id = 7};
const ToWorker kProtectChunk = ProtectChunk{.id = 8, .read_only = true};
const ToWorker kBeginGeneration = BeginGeneration{.generation = std::int64_t{1} << 40};
const ToWorker kPrepareOp = PrepareOp{.op = std::vector<std::byte>(3, std::byte{7})};
const ToApp kReady = Ready{.version = protocol_version()};
const ToApp kRefused = Refused{.kind = ErrorKind::unsupported, .message = "no such backend"};
const ToApp kMemoryMade = MemoryMade{};
const ToApp kChunkProtected = ChunkProtected{.id = 9, .read_only = true};
const ToApp kNoMemory = NoMemory{.kind = ErrorKind::out_of_memory, .message = "3 MiB are free"};

const ToApp kPoisoned =
    Poisoned{.kind = ErrorKind::context_poisoned, .message = "illegal", .native_code = 700, .noticed = -5};

TEST(Protocol, a_greeting_comes_as_it_was_sent) {
  const ToWorker message = value(decode_to_worker(sent(kHello).bytes));
  const Hello& hello = std::get<Hello>(message);
  EXPECT_EQ(hello.version, protocol_version());
  EXPECT_EQ(hello.backend, "host");
  EXPECT_EQ(hello.ring_units, std::uint64_t{1} << 40);
  EXPECT_EQ(hello.doorbell, kMaxDoorbells - 1);
  EXPECT_EQ(hello.mark_secret, 0x0123456789abcdefU);
  EXPECT_EQ(hello.memory_limit_bytes, ~std::uint64_t{0});
  EXPECT_EQ(hello.device, "GPU-1234");
  EXPECT_EQ(hello.device_name, "gpu0");
  EXPECT_EQ(hello.completion, CompletionPolicy::polled);
  EXPECT_EQ(hello.cpu_threads, 3);
  EXPECT_EQ(hello.priorities, (std::array<std::int8_t, kMaxLanes>{1, -2}));
  EXPECT_EQ(hello.sandbox, Sandbox::strict);
  EXPECT_EQ(hello.readable_paths, (std::vector<std::string>{"/opt/plugins", "/etc/model"}));
  EXPECT_EQ(hello.writable_paths, (std::vector<std::string>{"/tmp"}));
}

TEST(Protocol, the_end_of_a_poisoned_worker_comes_as_it_was_sent) {
  const ToApp message = value(decode_to_app(sent(kPoisoned).bytes));
  EXPECT_EQ(std::get<Poisoned>(message).kind, ErrorKind::context_poisoned);
  EXPECT_EQ(std::get<Poisoned>(message).message, "illegal");
  EXPECT_EQ(std::get<Poisoned>(message).noticed, -5);
}

TEST(Protocol, chunks_come_as_they_were_sent) {
  const ToWorker map = value(decode_to_worker(sent(kMapChunk).bytes));
  const Chunk& chunk = std::get<MapChunk>(map).chunk;
  EXPECT_EQ(chunk.id, 4095U);
  EXPECT_EQ(chunk.size_bytes, std::uint64_t{1} << 44);
  EXPECT_EQ(chunk.memory, ChunkMemory::device);
  EXPECT_EQ(chunk.address, std::uint64_t{1} << 45);
  EXPECT_TRUE(chunk.read_only);
  EXPECT_EQ(std::get<DropChunk>(value(decode_to_worker(sent(kDropChunk).bytes))).id, 7U);
}

TEST(Protocol, a_chunks_protection_and_its_answer_come_as_they_were_sent) {
  for (const bool read_only : {true, false}) {
    const ToWorker asked = value(decode_to_worker(sent(ToWorker(ProtectChunk{8, read_only})).bytes));
    EXPECT_EQ(std::get<ProtectChunk>(asked).id, 8U);
    EXPECT_EQ(std::get<ProtectChunk>(asked).read_only, read_only);
    const ToApp done = value(decode_to_app(sent(ToApp(ChunkProtected{9, read_only})).bytes));
    EXPECT_EQ(std::get<ChunkProtected>(done).id, 9U);
    EXPECT_EQ(std::get<ChunkProtected>(done).read_only, read_only);
  }
}

TEST(Protocol, a_generation_comes_as_it_was_sent) {
  const ToWorker message = value(decode_to_worker(sent(kBeginGeneration).bytes));
  EXPECT_EQ(std::get<BeginGeneration>(message).generation, std::int64_t{1} << 40);
}

TEST(Protocol, an_op_to_prepare_comes_as_it_was_sent_and_is_never_larger_than_its_limit) {
  EXPECT_EQ(std::get<PrepareOp>(value(decode_to_worker(sent(kPrepareOp).bytes))).op,
            std::vector<std::byte>(3, std::byte{7}));
  const ToWorker most = PrepareOp{.op = std::vector<std::byte>(kMaxPreparedBytes)};
  EXPECT_EQ(std::get<PrepareOp>(value(decode_to_worker(sent(most).bytes))).op.size(), kMaxPreparedBytes);
  const ToWorker more = PrepareOp{.op = std::vector<std::byte>(kMaxPreparedBytes + 1)};
  EXPECT_FALSE(decode_to_worker(sent(more).bytes));
}

TEST(Protocol, wishes_for_memory_and_their_answers_come_as_they_were_sent) {
  EXPECT_EQ(std::get<MakeMemory>(value(decode_to_worker(sent(kMakeMemory).bytes))).chunk.size_bytes,
            std::uint64_t{1} << 43);
  EXPECT_TRUE(std::holds_alternative<MemoryMade>(value(decode_to_app(sent(kMemoryMade).bytes))));
  const ToApp none = value(decode_to_app(sent(kNoMemory).bytes));
  EXPECT_EQ(std::get<NoMemory>(none).kind, ErrorKind::out_of_memory);
  EXPECT_EQ(std::get<NoMemory>(none).message, "3 MiB are free");
}

TEST(Protocol, descriptors_come_beside_the_message) {
  const SharedMemory memory = value(SharedMemory::create("chunk", 12345));
  const int descriptor = memory.descriptor().get();
  const Message message = sent(kMapChunk, std::span(&descriptor, 1));
  ASSERT_EQ(message.descriptors.size(), 1U);
  struct stat file{};
  ASSERT_EQ(fstat(message.descriptors[0].get(), &file), 0);
  EXPECT_EQ(file.st_size, 12345);
}

TEST(Protocol, answers_come_as_they_were_sent) {
  EXPECT_EQ(std::get<Ready>(value(decode_to_app(sent(kReady).bytes))).version, protocol_version());
  for (int kind = 0; kind < kErrorKinds; ++kind) {
    const ToApp message = Refused{.kind = static_cast<ErrorKind>(kind), .message = "because"};
    const ToApp back = value(decode_to_app(sent(message).bytes));
    EXPECT_EQ(std::get<Refused>(back).kind, static_cast<ErrorKind>(kind));
    EXPECT_EQ(std::get<Refused>(back).message, "because");
  }
}

TEST(Protocol, of_a_greeting_in_another_version_only_the_version_is_read) {
  Hello old;
  old.version = "troupe 0.0";
  Message message = sent(ToWorker(old));
  message.bytes.resize(message.bytes.size() - 3);  // an older greeting had other fields
  EXPECT_EQ(std::get<Hello>(value(decode_to_worker(message.bytes))).version, "troupe 0.0");
}

TEST(Protocol, empty_texts_are_texts) {
  const ToWorker message = value(decode_to_worker(sent(ToWorker(Hello{})).bytes));
  EXPECT_EQ(std::get<Hello>(message).version, "");
  EXPECT_EQ(std::get<Hello>(message).cpu_threads, std::nullopt);
  EXPECT_EQ(std::get<Ready>(value(decode_to_app(sent(ToApp(Ready{})).bytes))).version, "");
}

TEST(Protocol, the_version_names_everything_that_must_agree) {
  EXPECT_NE(protocol_version().find("protocol " + std::to_string(kProtocolVersion)), std::string::npos);
  EXPECT_NE(protocol_version().find("ops " + std::to_string(kOpVersion)), std::string::npos);
}

TEST(Protocol, every_truncation_and_every_longer_message_is_refused) {
  for (const ToWorker& message :
       {kHello, kMapChunk, kDropChunk, kMakeMemory, kProtectChunk, kBeginGeneration, kPrepareOp}) {
    Bytes bytes = sent(message).bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(decode_to_worker(cut).error().kind(), ErrorKind::invalid_argument);
    }
    bytes.push_back(std::byte{0});
    EXPECT_EQ(decode_to_worker(bytes).error().kind(), ErrorKind::invalid_argument);
  }
  for (const ToApp& message : {kReady, kRefused, kMemoryMade, kNoMemory, kPoisoned, kChunkProtected}) {
    Bytes bytes = sent(message).bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(decode_to_app(cut).error().kind(), ErrorKind::invalid_argument);
    }
    bytes.push_back(std::byte{0});
    EXPECT_EQ(decode_to_app(bytes).error().kind(), ErrorKind::invalid_argument);
  }
}

TEST(Protocol, messages_of_one_direction_are_none_of_the_other) {
  for (const ToWorker& message :
       {kHello, kMapChunk, kDropChunk, kMakeMemory, kProtectChunk, kBeginGeneration, kPrepareOp})
    EXPECT_FALSE(decode_to_app(sent(message).bytes));
  for (const ToApp& message : {kReady, kRefused, kMemoryMade, kNoMemory, kPoisoned, kChunkProtected})
    EXPECT_FALSE(decode_to_worker(sent(message).bytes));
}

TEST(Protocol, a_doorbell_that_does_not_exist_is_refused) {
  Hello hello;
  hello.version = protocol_version();
  for (const std::uint32_t doorbell : {kMaxDoorbells, ~std::uint32_t{0}}) {
    hello.doorbell = doorbell;
    EXPECT_EQ(decode_to_worker(sent(ToWorker(hello)).bytes).error().kind(), ErrorKind::invalid_argument);
  }
}

TEST(Protocol, an_error_kind_that_does_not_exist_is_refused) {
  for (const int kind : {kErrorKinds, 255})
    EXPECT_EQ(
        decode_to_app(sent(ToApp(Refused{.kind = static_cast<ErrorKind>(kind), .message = ""})).bytes).error().kind(),
        ErrorKind::invalid_argument);
}

TEST(Protocol, every_corruption_is_another_message_or_none) {
  for (const ToWorker& message :
       {kHello, kMapChunk, kDropChunk, kMakeMemory, kProtectChunk, kBeginGeneration, kPrepareOp}) {
    Bytes bytes = sent(message).bytes;
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      for (int value = 0; value < 256; ++value) {
        byte = static_cast<std::byte>(value);
        (void)decode_to_worker(bytes);
        (void)decode_to_app(bytes);
      }
      byte = before;
    }
  }
}

TEST(Protocol, bytes_at_random_are_decoded_or_refused) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random() % 60);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> (random() % 64));
    if (const auto message = decode_to_worker(bytes); !message) {
      EXPECT_EQ(message.error().kind(), ErrorKind::invalid_argument);
    }
    if (const auto message = decode_to_app(bytes); !message) {
      EXPECT_EQ(message.error().kind(), ErrorKind::invalid_argument);
    }
  }
}

TEST(Protocol, sending_to_who_is_gone_says_so) {
  auto [here, there] = value(Socket::make_pair());
  there.reset();
  EXPECT_EQ(send(here, kDropChunk).error().kind(), ErrorKind::stopped);
  EXPECT_EQ(send(here, kReady).error().kind(), ErrorKind::stopped);
}

}  // namespace
}  // namespace troupe::wire
