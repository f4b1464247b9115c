#include "troupe/device/chunk_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <variant>
#include <vector>

#include "troupe/device/low_limit.test.hpp"
#include "troupe/wire/protocol.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t kBytes = 4096;

// An op that names a new chunk may reach a worker before the announcement. The worker waits for a number that it does
// not know; it would not wait for a number that it knows from an older chunk.
TEST(ChunkTable, gives_a_number_again_only_after_all_others) {
  ChunkTable table;
  const std::uint32_t kept = value(table.add(kBytes, ChunkTable::Sight::hidden)).id;
  std::uint32_t last = kept;
  for (std::uint32_t i = 1; i < op::kMaxChunks; ++i) {
    const std::uint32_t id = value(table.add(kBytes, ChunkTable::Sight::hidden)).id;
    ASSERT_EQ(id, (last + 1) % op::kMaxChunks);
    table.drop(id);
    last = id;
  }
  const std::uint32_t again = value(table.add(kBytes, ChunkTable::Sight::hidden)).id;
  EXPECT_NE(again, kept);
  EXPECT_EQ(table.size(), 2U);
}

TEST(ChunkTable, tells_a_worker_of_every_drop_even_when_its_socket_was_full) {
  auto [app, other_end] = value(wire::Socket::make_pair());
  wire::Socket worker(std::move(other_end));
  ChunkTable table;
  ASSERT_TRUE(table.add_worker(app));
  constexpr int kChunks = 40;
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < kChunks; ++i) ids.push_back(value(table.add(kBytes, ChunkTable::Sight::hidden)).id);
  // Fill what is left of the socket, so that the drops cannot be told now.
  int others = 0;
  while (wire::send(app, wire::ToWorker(wire::DropChunk{op::kMaxChunks - 1}), {}, Duration(0))) ++others;
  for (const std::uint32_t id : ids) table.drop(id);
  const auto receive = [&] { return value(wire::decode_to_worker(value(worker.receive()).bytes)); };
  for (int i = 0; i < kChunks + others; ++i) (void)receive();
  (void)table.add(kBytes, ChunkTable::Sight::hidden);
  for (const std::uint32_t id : ids) EXPECT_EQ(std::get<wire::DropChunk>(receive()).id, id);
}

/// The far end of a worker's socket, played by the test.
struct FakeWorker {
  explicit FakeWorker(std::pair<wire::Socket, wire::Descriptor> ends)
      : app(std::move(ends.first)), end(std::move(ends.second)) {}
  FakeWorker() : FakeWorker(value(wire::Socket::make_pair())) {}
  wire::ToWorker receive() { return value(wire::decode_to_worker(value(end.receive()).bytes)); }
  wire::Socket app;
  wire::Socket end;
};

wire::Descriptor some_memory() {
  return value(value(wire::SharedMemory::create("made", kChunkStepBytes)).descriptor().duplicate());
}

TEST(ChunkTable, tells_every_worker_how_a_chunk_is_protected_and_later_ones_from_the_start) {
  ChunkTable table;
  FakeWorker worker;
  ASSERT_TRUE(table.add_worker(worker.app));
  const std::uint32_t id = value(table.add(kBytes, ChunkTable::Sight::hidden)).id;
  EXPECT_FALSE(std::get<wire::MapChunk>(worker.receive()).chunk.read_only);
  for (const bool read_only : {true, false, true}) {
    const auto told = value(table.protect(id, read_only));
    ASSERT_TRUE(told);
    EXPECT_EQ(*told, std::vector<const wire::Socket*>{&worker.app});
    EXPECT_FALSE(value(table.protect(id, read_only))) << "it is so already";
    const wire::Message message = value(worker.end.receive());
    const auto wanted = std::get<wire::ProtectChunk>(value(wire::decode_to_worker(message.bytes)));
    EXPECT_EQ(wanted.id, id);
    EXPECT_EQ(wanted.read_only, read_only);
    ASSERT_EQ(message.descriptors.size(), 1U);
    EXPECT_EQ(fcntl(message.descriptors[0].get(), F_GETFL) & O_ACCMODE, read_only ? O_RDONLY : O_RDWR);
  }
  FakeWorker later;
  ASSERT_TRUE(table.add_worker(later.app));
  const wire::Message message = value(later.end.receive());
  EXPECT_TRUE(std::get<wire::MapChunk>(value(wire::decode_to_worker(message.bytes))).chunk.read_only);
  EXPECT_EQ(fcntl(message.descriptors.at(0).get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(table.protect(id + 1, true).error().kind(), ErrorKind::internal);
}

TEST(ChunkTable, tells_workers_of_now_and_later_what_to_prepare_until_that_is_forgotten) {
  ChunkTable table;
  FakeWorker worker;
  ASSERT_TRUE(table.add_worker(worker.app));
  const std::vector<std::byte> first(5, std::byte{1}), second(6, std::byte{2});
  const std::uint64_t number = value(table.prepare(first));
  EXPECT_EQ(std::get<wire::PrepareOp>(worker.receive()).op, first);
  EXPECT_NE(value(table.prepare(second)), number);
  EXPECT_EQ(std::get<wire::PrepareOp>(worker.receive()).op, second);
  FakeWorker later;
  ASSERT_TRUE(table.add_worker(later.app));
  EXPECT_EQ(std::get<wire::PrepareOp>(later.receive()).op, first);
  EXPECT_EQ(std::get<wire::PrepareOp>(later.receive()).op, second);
  table.forget(number);
  FakeWorker last;
  ASSERT_TRUE(table.add_worker(last.app));
  EXPECT_EQ(std::get<wire::PrepareOp>(last.receive()).op, second);
}

TEST(ChunkTable, keeps_no_more_to_prepare_than_its_limit) {
  ChunkTable table;
  for (std::size_t i = 0; i < ChunkTable::kMaxPrepared; ++i) ASSERT_TRUE(table.prepare({}));
  EXPECT_EQ(table.prepare({}).error().kind(), ErrorKind::queue_full);
  EXPECT_EQ(table.prepare(std::vector<std::byte>(wire::kMaxPreparedBytes + 1)).error().kind(),
            ErrorKind::invalid_argument);
  table.forget(1);
  EXPECT_TRUE(table.prepare({}));
  table.close();
  EXPECT_EQ(table.prepare({}).error().kind(), ErrorKind::stopped);
}

TEST(ChunkTable, has_a_worker_make_what_only_a_worker_can_make) {
  ChunkTable table(ChunkTable::Maker::worker);
  FakeWorker maker;
  FakeWorker other;
  ASSERT_TRUE(table.add_worker(maker.app));
  ASSERT_TRUE(table.add_worker(other.app));
  std::jthread context([&] {
    EXPECT_EQ(std::get<wire::MakeMemory>(maker.receive()).chunk.size_bytes, kChunkStepBytes) << "in whole steps";
    table.made(other.app, fail(ErrorKind::internal, "nobody asked this one"));
    table.made(maker.app, some_memory());
  });
  const ChunkSource::Chunk chunk = value(table.add(kBytes, ChunkTable::Sight::hidden));
  EXPECT_EQ(chunk.data, nullptr);
  std::uint64_t address = 0;
  for (FakeWorker* worker : {&maker, &other}) {
    const wire::Chunk news = std::get<wire::MapChunk>(worker->receive()).chunk;
    EXPECT_EQ(news.id, chunk.id);
    EXPECT_EQ(news.memory, wire::ChunkMemory::device);
    EXPECT_EQ(news.size_bytes, kChunkStepBytes);
    EXPECT_NE(news.address, 0U);
    EXPECT_TRUE(worker == &maker || news.address == address) << "the same in every worker";
    address = news.address;
  }
  EXPECT_TRUE(table.commit(chunk.id, kBytes)) << "all of it is there already";
}

TEST(ChunkTable, gives_every_chunk_of_an_accelerator_a_place_of_its_own) {
  ChunkTable table(ChunkTable::Maker::worker);
  FakeWorker maker;
  ASSERT_TRUE(table.add_worker(maker.app));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (int i = 0; i < 4; ++i) {
    std::jthread context([&] {
      (void)maker.receive();
      table.made(maker.app, some_memory());
    });
    const std::uint32_t id = value(table.add((i + 1) * kChunkStepBytes, ChunkTable::Sight::hidden)).id;
    const wire::Chunk news = std::get<wire::MapChunk>(maker.receive()).chunk;
    for (const auto& [begin, end] : places) EXPECT_TRUE(news.address + news.size_bytes <= begin || end <= news.address);
    places.emplace_back(news.address, news.address + news.size_bytes);
    if (i == 1) table.drop(id), (void)maker.receive();
  }
}

TEST(ChunkTable, asks_the_next_worker_when_one_dies_over_it) {
  ChunkTable table(ChunkTable::Maker::worker);
  FakeWorker dies;
  FakeWorker lives;
  ASSERT_TRUE(table.add_worker(dies.app));
  ASSERT_TRUE(table.add_worker(lives.app));
  std::jthread context([&] {
    (void)dies.receive();
    table.remove_worker(dies.app);
    (void)lives.receive();
    table.made(lives.app, some_memory());
  });
  EXPECT_TRUE(table.add(kBytes, ChunkTable::Sight::hidden));
}

TEST(ChunkTable, does_not_wait_for_memory_that_came_when_no_descriptor_was_free) {
  ChunkTable table(ChunkTable::Maker::worker);
  FakeWorker maker;
  ASSERT_TRUE(table.add_worker(maker.app));
  const wire::Descriptor memory = some_memory();
  const std::array<int, 1> descriptor{memory.get()};
  {
    std::jthread context([&] {
      (void)maker.receive();
      EXPECT_TRUE(wire::send(maker.end, wire::ToApp(wire::MemoryMade{}), descriptor));
      const LowLimit none(RLIMIT_NOFILE, 0);
      const auto lost = maker.app.try_receive();
      ASSERT_FALSE(lost);
      table.answer_lost(maker.app, lost.error());
    });
    EXPECT_EQ(table.add(kBytes, ChunkTable::Sight::hidden).error().kind(), ErrorKind::out_of_memory);
  }
  std::jthread context([&] {  // and when there are some again
    (void)maker.receive();
    EXPECT_TRUE(wire::send(maker.end, wire::ToApp(wire::MemoryMade{}), descriptor));
    table.made(maker.app, std::move(value(maker.app.receive()).descriptors[0]));
  });
  EXPECT_TRUE(table.add(kBytes, ChunkTable::Sight::hidden));
}

TEST(ChunkTable, passes_on_why_there_is_no_memory_and_stops_waiting_when_it_is_closed) {
  ChunkTable table(ChunkTable::Maker::worker);
  FakeWorker maker;
  ASSERT_TRUE(table.add_worker(maker.app));
  {
    std::jthread context([&] {
      (void)maker.receive();
      table.made(maker.app, fail(ErrorKind::out_of_memory, "3 MiB are free"));
    });
    EXPECT_EQ(table.add(kBytes, ChunkTable::Sight::hidden).error().message(), "3 MiB are free");
  }
  std::jthread context([&] {
    (void)maker.receive();
    table.close();
  });
  EXPECT_EQ(table.add(kBytes, ChunkTable::Sight::hidden).error().kind(), ErrorKind::stopped);
}

}  // namespace
}  // namespace troupe
