#include "troupe/wire/channel.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace troupe::wire {
namespace {

constexpr std::uint64_t kUnits = 16;

/// Both sides of a channel, as two processes would have them.
struct Ends {
  explicit Ends(std::uint64_t units = kUnits)
      : app(value(Channel::create(units))),
        worker(value(Channel::open(value(app.ring_descriptor().duplicate()), value(app.status_descriptor().duplicate()),
                                   units, app.key()))) {}
  Result<void> read_reply(Position position, std::uint64_t units) {
    const std::unique_ptr<Channel::Failure> failure = app.take_failure(position, units);
    return failure ? fail(failure->error) : Result<void>();
  }
  Channel app;
  Channel worker;
};

/// The app's view of the bytes beside a record.
std::byte* reply_bytes(Channel& channel, Position position) {
  return reinterpret_cast<std::byte*>(&channel.status()) + sizeof(Status) + channel.ring().index(position) * kUnitBytes;
}

TEST(Channel, carries_records_one_way_and_timelines_the_other) {
  Ends ends;
  const std::string text = "an op";
  ends.app.ring().commit({.begin = 0, .skip = 0, .units = 1}, 2, std::as_bytes(std::span(text)));
  const auto record = ends.worker.ring().at(0);
  ASSERT_TRUE(record);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(record->bytes.data()), record->bytes.size()), text);
  EXPECT_EQ(record->lane, 2U);
  ends.app.ring().cancel(0);
  EXPECT_EQ(record->cancelled->load(), 1U);

  ends.worker.begin(2, 1);
  ends.worker.timeline(2).raise_to(1);
  EXPECT_EQ(ends.app.begun(2), 1U);
  EXPECT_TRUE(ends.app.timeline(2).done(1));
  EXPECT_EQ(ends.app.timeline(1).now(), 0U);
  EXPECT_EQ(ends.app.begun(1), 0U);
}

TEST(Channel, starts_with_nothing_in_it) {
  Ends ends;
  for (Position position = 0; position < kUnits; ++position) {
    EXPECT_FALSE(ends.app.ring().at(position));
    EXPECT_TRUE(ends.read_reply(position, 1));
  }
  EXPECT_EQ(ends.app.status().last_words[0], std::byte{0});
}

TEST(Channel, brings_back_how_an_op_failed) {
  Ends ends;
  for (int kind = 0; kind < kErrorKinds; ++kind) {
    const auto position = static_cast<Position>(kind);
    const Error error(static_cast<ErrorKind>(kind), "it went wrong " + std::to_string(kind),
                      ErrorOrigin{.library = "cublas", .native_code = -7000000000 - kind, .op = "blas.gemm"});
    ends.worker.write_reply(position, 1, error);
    const Result<void> reply = ends.read_reply(position, 1);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind(), error.kind());
    EXPECT_EQ(reply.error().message(), error.message());
    EXPECT_EQ(reply.error().origin().library, "cublas");
    EXPECT_EQ(reply.error().origin().op, "blas.gemm");
    EXPECT_EQ(reply.error().origin().native_code, -7000000000 - kind);
    EXPECT_TRUE(ends.read_reply(position, 1));
  }
}

TEST(Channel, brings_back_an_error_without_a_text_of_its_own) {
  Ends ends;
  ends.worker.write_reply(3, 1, Error(ErrorKind::cancelled));
  const Result<void> reply = ends.read_reply(3, 1);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(reply.error().message(), Error(ErrorKind::cancelled).message());
}

TEST(Channel, cuts_a_text_to_the_units_of_its_record) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "sentence " + std::to_string(i) + ". ";
  for (std::uint64_t units = 1; units <= 4; ++units) {
    Ends ends;
    const std::size_t room = units * kUnitBytes - 16;
    const Position last = kUnits - units;  // at the very end of the status: one byte more would be outside of it
    ends.worker.write_reply(last - units, units, Error(ErrorKind::internal, "before"));
    ends.worker.write_reply(last, units, Error(ErrorKind::library_error, text));
    EXPECT_EQ(ends.read_reply(last, units).error().message(), text.substr(0, room - 3) + "...");
    EXPECT_EQ(ends.read_reply(last - units, units).error().message(), "before");

    const std::string exact(room, 'x');
    ends.worker.write_reply(0, units, Error(ErrorKind::library_error, exact));
    EXPECT_EQ(ends.read_reply(0, units).error().message(), exact);
    EXPECT_TRUE(ends.read_reply(units, 1)) << "a long text stays within its record's units";
    for (Position position = 0; position < units; ++position) EXPECT_TRUE(ends.read_reply(position, 1));
  }
}

TEST(Channel, keeps_the_message_rather_than_the_op_and_always_the_library) {
  Ends ends;
  const ErrorOrigin origin{.library = "cublas", .native_code = 7, .op = std::string(100, 'o')};
  const std::string message(kUnitBytes - 16 - 6, 'm');
  ends.worker.write_reply(0, 1, Error(ErrorKind::library_error, message, origin));
  const Error whole = ends.read_reply(0, 1).error();
  EXPECT_EQ(whole.message(), message);
  EXPECT_EQ(whole.origin().library, "cublas");
  EXPECT_EQ(whole.origin().op, "");
  ends.worker.write_reply(0, 1, Error(ErrorKind::library_error, message + "m", origin));
  const Error cut = ends.read_reply(0, 1).error();
  EXPECT_EQ(cut.message(), message.substr(3) + "...");
  EXPECT_EQ(cut.origin().library, "cublas");
}

TEST(Channel, says_whether_a_failed_op_had_begun) {
  Ends ends;
  ends.worker.write_reply(0, 1, Error(ErrorKind::library_error, "it stopped half-way"), true);
  ends.worker.write_reply(1, 1, Error(ErrorKind::library_error, "it was refused"));
  EXPECT_TRUE(ends.app.take_failure(0, 1)->had_begun);
  EXPECT_FALSE(ends.app.take_failure(1, 1)->had_begun);
}

TEST(Channel, does_not_take_another_word_for_what_has_begun) {
  Ends ends;
  ends.worker.begin(2, 7);
  std::atomic<std::uint64_t>& word = ends.worker.status().lanes[2].begun;
  const std::uint64_t good = word.load();
  for (const std::uint64_t other : {good + 1, good + (std::uint64_t{1} << 32), ~std::uint64_t{0}, std::uint64_t{7},
                                    ends.worker.status().lanes[2].timeline.load() | std::uint64_t{1}}) {
    word.store(other);
    EXPECT_EQ(ends.app.begun(2), std::nullopt);
  }
  word.store(good);
  ends.worker.status().lanes[3].begun.store(good);
  EXPECT_EQ(ends.app.begun(2), 7U);
  EXPECT_EQ(ends.app.begun(3), std::nullopt) << "it belongs to another lane";
}

TEST(Channel, proves_a_reply_as_it_was_written) {
  Ends ends;
  const Error error(ErrorKind::library_error, "it stopped half-way");
  const auto proof_after = [&](std::size_t offset, std::byte change) {
    const std::uint16_t written = ends.worker.write_reply(5, 1, error, true);
    reply_bytes(ends.worker, 5)[offset] ^= change;
    const std::unique_ptr<Channel::Failure> read = ends.app.take_failure(5, 1);
    return std::pair(written, read ? read->proof : std::uint16_t{0});
  };
  const auto [written, read] = proof_after(0, std::byte{0});
  EXPECT_EQ(read, written);
  EXPECT_NE(written, 0);
  for (std::size_t offset = 0; offset < 16 + error.message().size(); ++offset) {
    const auto [before, after] = proof_after(offset, std::byte{1});
    EXPECT_NE(after, before) << "byte " << offset;
  }
}

TEST(Channel, follows_the_ring_around) {
  Ends ends;
  ends.worker.write_reply(kUnits + 3, 1, Error(ErrorKind::timeout, "late"));
  EXPECT_EQ(ends.read_reply(5 * kUnits + 3, 1).error().kind(), ErrorKind::timeout);
}

TEST(Channel, reads_garbage_as_a_typed_error) {
  Ends ends;
  for (const int number : {kErrorKinds + 1, 1000, 0x8000, 0xffff}) {
    const auto kind = static_cast<std::uint16_t>(number);
    std::memcpy(reply_bytes(ends.worker, 0), &kind, sizeof kind);
    const Result<void> reply = ends.read_reply(0, 1);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind(), ErrorKind::internal);
    EXPECT_FALSE(reply.error().message().empty());
  }
}

TEST(Channel, reads_a_length_that_lies_up_to_the_record_s_end_and_no_further) {
  Ends ends;
  const auto write = [&] { ends.worker.write_reply(kUnits - 1, 1, Error(ErrorKind::internal, std::string(112, 'y'))); };
  for (const std::uint32_t size : {113U, 4096U, 0xffffU}) {
    write();
    std::memcpy(reply_bytes(ends.worker, kUnits - 1) + 4, &size, sizeof size);
    EXPECT_EQ(ends.read_reply(kUnits - 1, 1).error().message(), std::string(112, 'y'));
  }
  const std::uint32_t all_of_them = 0xffffffff;
  write();
  std::memcpy(reply_bytes(ends.worker, kUnits - 1) + 4, &all_of_them, sizeof all_of_them);
  EXPECT_EQ(ends.read_reply(kUnits - 1, 1).error().origin().library, std::string(112, 'y'));
}

TEST(Channel, gives_no_control_characters_to_a_reader_s_terminal) {
  Ends ends;
  ends.worker.write_reply(0, 1, Error(ErrorKind::internal, "red \x1b[31m, line\nend, \x7f, and umlauts \xc3\xbc"));
  EXPECT_EQ(ends.read_reply(0, 1).error().message(), "red  [31m, line end,  , and umlauts \xc3\xbc");
}

TEST(Channel, survives_any_bytes_beside_its_records) {
  std::mt19937_64 random(3);
  Ends ends;
  for (int round = 0; round < 500; ++round) {
    for (std::size_t i = 0; i < kUnits * kUnitBytes; i += 8) {
      const std::uint64_t word = random() >> (random() % 64);
      std::memcpy(reply_bytes(ends.worker, 0) + i, &word, sizeof word);
    }
    for (Position position = 0; position < kUnits; ++position) {
      const std::uint64_t units = 1 + random() % (kUnits - position);
      const Result<void> reply = ends.read_reply(position, units);
      if (!reply) {
        EXPECT_LE(reply.error().message().size(), units * kUnitBytes);
      }
    }
  }
}

TEST(Channel, gives_the_worker_no_way_to_write_the_ring) {
  Ends ends;
  const auto writable = SharedMemory::map(value(ends.app.ring_descriptor().duplicate()), kUnits * kUnitBytes, true);
  ASSERT_FALSE(writable);
  EXPECT_EQ(writable.error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(write(ends.app.ring_descriptor().get(), "x", 1), -1);
  EXPECT_EQ(ftruncate(ends.app.ring_descriptor().get(), 0), -1);

  const auto read_only = SharedMemory::map(value(ends.app.ring_descriptor().duplicate()), kUnits * kUnitBytes, false);
  ASSERT_TRUE(read_only);
  EXPECT_NE(mprotect(const_cast<std::byte*>(read_only->data()), kUnits * kUnitBytes, PROT_READ | PROT_WRITE), 0);
}

TEST(ChannelDeathTest, kills_a_worker_that_writes_to_the_ring) {
  Ends ends;
  EXPECT_DEATH(ends.worker.ring().cancel(0), "");
}

TEST(Channel, opens_only_what_is_as_large_as_was_said) {
  Ends ends;
  const auto open = [&](std::uint64_t units) {
    return Channel::open(value(ends.app.ring_descriptor().duplicate()), value(ends.app.status_descriptor().duplicate()),
                         units, ends.app.key());
  };
  EXPECT_TRUE(open(kUnits));
  EXPECT_TRUE(open(kUnits / 2)) << "less than there is does no harm";
  for (const std::uint64_t units : {kUnits * 2, std::uint64_t{1} << 40, std::uint64_t{1} << 56})
    EXPECT_EQ(open(units).error().kind(), ErrorKind::invalid_argument) << units;
  const auto swapped = Channel::open(value(ends.app.status_descriptor().duplicate()),
                                     value(ends.app.ring_descriptor().duplicate()), kUnits, ends.app.key());
  EXPECT_FALSE(swapped) << "the status must be writable";
}

TEST(Channel, refuses_sizes_that_no_ring_can_have) {
  Ends ends;
  const auto open = [&](std::uint64_t units) {
    return Channel::open(value(ends.app.ring_descriptor().duplicate()), value(ends.app.status_descriptor().duplicate()),
                         units, ends.app.key());
  };
  // The last two times a unit's bytes are 0 and 128 in 64 bits.
  for (const std::uint64_t units :
       {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 57, (std::uint64_t{1} << 57) + 1}) {
    EXPECT_EQ(open(units).error().kind(), ErrorKind::invalid_argument) << units;
    EXPECT_EQ(Channel::create(units).error().kind(), ErrorKind::invalid_argument) << units;
  }
}

TEST(SharedBells, ring_for_every_process_that_has_opened_them) {
  SharedBells app = value(SharedBells::create());
  SharedBells worker = value(SharedBells::open(value(app.descriptor().duplicate())));
  app.app().listen();
  EXPECT_TRUE(worker.app().listening());
  worker.app().ring();
  EXPECT_FALSE(app.app().listening());
  for (std::uint32_t number = 0; number < kMaxDoorbells; ++number) {
    worker.doorbell(number).listen();
    for (std::uint32_t other = 0; other < kMaxDoorbells; ++other)
      EXPECT_EQ(app.doorbell(other).listening(), other == number);
    app.doorbell(number).ring();
    EXPECT_FALSE(worker.doorbell(number).listening());
  }
}

TEST(SharedBells, are_not_opened_from_memory_that_is_too_small) {
  SharedMemory small = value(SharedMemory::create("small", 16));
  EXPECT_EQ(SharedBells::open(value(small.descriptor().duplicate())).error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::wire
