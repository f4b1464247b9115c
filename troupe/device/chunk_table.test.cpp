#include "troupe/device/chunk_table.hpp"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "troupe/worker/protocol.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t kBytes = 4096;

// An op that names a new chunk may reach a worker that has not heard of it yet. It waits there for a number that it
// does not know; for one that it knows from before it would not.
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
  while (worker::send(app, worker::ToWorker(worker::DropChunk{op::kMaxChunks - 1}), {}, Duration(0))) ++others;
  for (const std::uint32_t id : ids) table.drop(id);
  const auto receive = [&] { return value(worker::decode_to_worker(value(worker.receive()).bytes)); };
  for (int i = 0; i < kChunks + others; ++i) (void)receive();
  (void)table.add(kBytes, ChunkTable::Sight::hidden);
  for (const std::uint32_t id : ids) EXPECT_EQ(std::get<worker::DropChunk>(receive()).id, id);
}

}  // namespace
}  // namespace troupe
