#include "troupe/worker/serve.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/table.hpp"
#include "troupe/wire/child.hpp"

namespace troupe::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kUnits = 64;
constexpr std::uint64_t kChunkBytes = 4096;
constexpr auto kPatience = 60s;

template <class Done>
void wait_until(const Done& done) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "waited in vain";
    sched_yield();
  }
}

std::filesystem::path folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

/// The app's side: what it shares with a worker, and its end of their socket.
struct App {
  App() : App(value(wire::Socket::make_pair())) {}
  explicit App(std::pair<wire::Socket, wire::Descriptor> ends)
      : socket(std::move(ends.first)), their_end(std::move(ends.second)) {}

  wire::Hello hello() const {
    return {.version = wire::protocol_version(),
            .backend = "host",
            .ring_units = kUnits,
            .doorbell = 2,
            .mark_secret = channel.key().secret(),
            .memory_limit_bytes = 0,
            .device = {}};
  }
  void greet(const wire::Hello& greeting) {
    const std::array<int, 3> descriptors{channel.ring_descriptor().get(), channel.status_descriptor().get(),
                                         bells.descriptor().get()};
    value(send(*socket, wire::ToWorker(greeting), descriptors));
  }
  wire::ToApp answer() { return value(wire::decode_to_app(value(socket->receive()).bytes)); }
  void be_ready() {
    greet(hello());
    ASSERT_TRUE(std::holds_alternative<wire::Ready>(answer()));
  }
  void map_chunk(std::uint32_t id, const wire::SharedMemory& memory) {
    const int descriptor = memory.descriptor().get();
    value(send(*socket, wire::ToWorker(wire::MapChunk{{.id = id, .size_bytes = memory.size_bytes()}}),
               std::span(&descriptor, 1)));
  }
  void hang_up() { socket.reset(); }

  template <class Op>
  wire::RingSlot submit(const Op& op) {
    wire::Writer out;
    op::encode(op, out);
    const auto slot = tail.reserve(channel.ring(), out.bytes().size(), 0);
    EXPECT_TRUE(slot);
    channel.ring().commit(*slot, 0, out.bytes());
    bells.doorbell(2).ring();
    ++issued;
    return *slot;
  }
  /// The answer to what was submitted last.
  Result<void> end_of(const wire::RingSlot& slot) {
    wait_until([&] { return channel.timeline(0).done(issued); });
    const std::unique_ptr<wire::Channel::Failure> failure = channel.take_failure(slot.record(), slot.units);
    return failure ? fail(failure->error) : Result<void>();
  }

  std::optional<wire::Socket> socket;
  wire::Descriptor their_end;
  wire::Channel channel = value(wire::Channel::create(kUnits));
  wire::SharedBells bells = value(wire::SharedBells::create());
  wire::RingTail tail;
  wire::Ticket issued = 0;
};

op::Fill fill_of(std::uint32_t chunk, std::uint8_t value) {
  return {.out = {.address = op::address_of(chunk, 0), .dtype = DType::u8, .shape = {kChunkBytes}, .strides = {1}},
          .value = op::Scalar(value)};
}

/// A worker in a thread of the test.
class WorkerThread {
 public:
  explicit WorkerThread(App& app)
      : app_(app), thread_([this, end = std::move(app.their_end)]() mutable {
          end_ = serve(wire::Socket(std::move(end)), {.owns_process = false, .log = {}});
        }) {}
  ~WorkerThread() { (void)join(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Waits until it has ended by itself, and gives the result of `serve`.
  Result<void> end() {
    thread_.join();
    return end_;
  }
  /// Hangs up, and does the same.
  Result<void> join() {
    app_.hang_up();
    if (thread_.joinable()) thread_.join();
    return end_;
  }

 private:
  App& app_;
  Result<void> end_ = fail(ErrorKind::internal, "it has not ended");
  std::thread thread_;
};

/// What a worker answers to a greeting that it refuses; its `serve` gives the same error.
wire::Refused refusal_of(const wire::Hello& hello) {
  App app;
  WorkerThread worker(app);
  app.greet(hello);
  const wire::ToApp answer = app.answer();
  const Result<void> end = worker.end();
  EXPECT_TRUE(std::holds_alternative<wire::Refused>(answer));
  if (!std::holds_alternative<wire::Refused>(answer)) return {};
  EXPECT_FALSE(end);
  EXPECT_EQ(end.error().kind(), std::get<wire::Refused>(answer).kind);
  EXPECT_EQ(end.error().message(), std::get<wire::Refused>(answer).message);
  return std::get<wire::Refused>(answer);
}

TEST(Serve, answers_a_greeting_with_its_version) {
  App app;
  WorkerThread worker(app);
  app.greet(app.hello());
  const wire::ToApp answer = app.answer();
  ASSERT_TRUE(std::holds_alternative<wire::Ready>(answer));
  EXPECT_EQ(std::get<wire::Ready>(answer).version, wire::protocol_version());
  EXPECT_TRUE(worker.join());
}

TEST(Serve, refuses_an_app_of_another_version_and_names_both) {
  wire::Hello hello = App().hello();
  hello.version = "troupe 99";
  const wire::Refused refused = refusal_of(hello);
  EXPECT_EQ(refused.kind, ErrorKind::unsupported);
  EXPECT_NE(refused.message.find("troupe 99"), std::string::npos) << refused.message;
  EXPECT_NE(refused.message.find(wire::protocol_version()), std::string::npos) << refused.message;
}

TEST(Serve, refuses_a_backend_that_it_does_not_have_and_names_it) {
  wire::Hello hello = App().hello();
  hello.backend = "abacus";
  const wire::Refused refused = refusal_of(hello);
  EXPECT_EQ(refused.kind, ErrorKind::unsupported);
  EXPECT_NE(refused.message.find("abacus"), std::string::npos) << refused.message;
}

TEST(Serve, refuses_a_ring_that_cannot_be) {
  for (const std::uint64_t units : {std::uint64_t{0}, std::uint64_t{3}, 2 * kUnits, ~std::uint64_t{0}}) {
    wire::Hello hello = App().hello();
    hello.ring_units = units;
    EXPECT_EQ(refusal_of(hello).kind, ErrorKind::invalid_argument) << units;
  }
}

TEST(Serve, refuses_a_greeting_without_its_memory) {
  App app;
  WorkerThread worker(app);
  value(send(*app.socket, wire::ToWorker(app.hello())));
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(worker.end());
}

TEST(Serve, refuses_to_begin_with_anything_but_a_greeting) {
  App app;
  WorkerThread worker(app);
  value(send(*app.socket, wire::ToWorker(wire::DropChunk{})));
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(worker.end());
}

TEST(Serve, refuses_bytes_that_are_no_message) {
  App app;
  WorkerThread worker(app);
  value(app.socket->send(std::vector<std::byte>(40, std::byte{0xee})));
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(worker.end());
}

TEST(Serve, ends_when_the_app_hangs_up) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  EXPECT_TRUE(app.end_of(app.submit(op::Nop{})));
  EXPECT_TRUE(worker.join());
}

TEST(Serve, ends_when_the_app_hangs_up_before_it_has_greeted) {
  App app;
  WorkerThread worker(app);
  EXPECT_EQ(worker.join().error().kind(), ErrorKind::stopped);
}

TEST(Serve, runs_ops_on_announced_chunks) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  wire::SharedMemory chunk = value(wire::SharedMemory::create("chunk", kChunkBytes));
  app.map_chunk(7, chunk);
  EXPECT_TRUE(app.end_of(app.submit(fill_of(7, 42))));
  EXPECT_EQ(chunk.data()[kChunkBytes - 1], std::byte{42});
}

TEST(Serve, takes_ops_that_were_in_the_ring_before_it_came) {
  App app;
  const wire::RingSlot slot = app.submit(op::Nop{});
  WorkerThread worker(app);
  app.be_ready();
  EXPECT_TRUE(app.end_of(slot));
}

TEST(Serve, waits_for_a_chunk_whose_op_came_first) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  wire::SharedMemory chunk = value(wire::SharedMemory::create("chunk", kChunkBytes));
  wait_until([&] { return app.bells.doorbell(2).listening(); });
  const wire::RingSlot slot = app.submit(fill_of(7, 42));
  // The worker is awake now, and the announcement is not even sent.
  EXPECT_FALSE(app.bells.doorbell(2).listening());
  app.map_chunk(7, chunk);
  EXPECT_TRUE(app.end_of(slot));
  EXPECT_EQ(chunk.data()[0], std::byte{42});
}

TEST(Serve, maps_other_memory_under_a_number_that_was_dropped) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  wire::SharedMemory first = value(wire::SharedMemory::create("first", kChunkBytes));
  wire::SharedMemory second = value(wire::SharedMemory::create("second", kChunkBytes));
  app.map_chunk(1, first);
  EXPECT_TRUE(app.end_of(app.submit(fill_of(1, 1))));
  value(send(*app.socket, wire::ToWorker(wire::DropChunk{1})));
  app.map_chunk(1, second);
  app.map_chunk(2, first);  // once an op has found this one, the two messages before it were read
  EXPECT_TRUE(app.end_of(app.submit(fill_of(2, 2))));
  EXPECT_TRUE(app.end_of(app.submit(fill_of(1, 3))));
  EXPECT_EQ(first.data()[0], std::byte{2});
  EXPECT_EQ(second.data()[0], std::byte{3});
}

TEST(Serve, ends_with_an_error_when_a_chunk_comes_without_its_memory) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  value(send(*app.socket, wire::ToWorker(wire::MapChunk{{.id = 1, .size_bytes = 10}})));
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(worker.end().error().kind(), ErrorKind::invalid_argument);
}

TEST(Serve, ends_with_an_error_when_a_chunk_is_smaller_than_said) {
  App app;
  WorkerThread worker(app);
  app.be_ready();
  const wire::SharedMemory chunk = value(wire::SharedMemory::create("chunk", kChunkBytes));
  const int descriptor = chunk.descriptor().get();
  value(send(*app.socket, wire::ToWorker(wire::MapChunk{{.id = 1, .size_bytes = 2 * kChunkBytes}}),
             std::span(&descriptor, 1)));
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(worker.end());
}

// ---- the executable ----

struct Printed {
  std::string output;
  std::string end;
};

/// The executable's output, both kinds, and how it ended.
Printed run(std::vector<std::string> arguments) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const wire::Descriptor read_end(ends[0]);
  wire::Descriptor write_end(ends[1]);
  wire::Child child = value(wire::Child::spawn({.executable = folder() / "troupe-worker",
                                                .arguments = std::move(arguments),
                                                .descriptors = {{1, write_end.get()}, {2, write_end.get()}},
                                                .environment = {}}));
  write_end.reset();
  Printed result;
  std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = read(read_end.get(), buffer.data(), buffer.size())) > 0;)
    result.output.append(buffer.data(), static_cast<std::size_t>(size));
  result.end = child.reap().to_string();
  return result;
}

/// The executable, at the other end of the app's socket.
wire::Child start_worker(App& app) {
  wire::Child child = value(wire::Child::spawn({.executable = folder() / "troupe-worker",
                                                .arguments = {"--socket", "3"},
                                                .descriptors = {{3, app.their_end.get()}},
                                                .environment = {}}));
  app.their_end.reset();
  return child;
}

TEST(WorkerExecutable, says_its_version) {
  const Printed said = run({"--version"});
  EXPECT_EQ(said.output, wire::protocol_version() + "\n");
  EXPECT_EQ(said.end, "exited with code 0");
}

TEST(WorkerExecutable, says_how_it_is_used) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {}, {"--socket"}, {"3"}, {"--version", "now"}}) {
    const Printed said = run(arguments);
    EXPECT_TRUE(said.output.starts_with("usage: troupe-worker")) << said.output;
    EXPECT_EQ(said.end, arguments == std::vector<std::string>{"--help"} ? "exited with code 0" : "exited with code 2");
  }
}

TEST(WorkerExecutable, ends_at_once_when_it_is_given_no_socket) {
  EXPECT_EQ(run({"--socket", "3"}).end, "exited with code 1");
  EXPECT_EQ(run({"--socket", "nonsense"}).end, "exited with code 1");
}

TEST(WorkerExecutable, serves_until_the_app_hangs_up) {
  App app;
  wire::Child worker = start_worker(app);
  app.be_ready();
  wire::SharedMemory chunk = value(wire::SharedMemory::create("chunk", kChunkBytes));
  app.map_chunk(7, chunk);
  EXPECT_TRUE(app.end_of(app.submit(fill_of(7, 42))));
  EXPECT_EQ(chunk.data()[0], std::byte{42});
  EXPECT_FALSE(worker.try_reap());
  app.hang_up();
  EXPECT_EQ(worker.reap().to_string(), "exited with code 0");
}

TEST(WorkerExecutable, ends_when_the_app_hangs_up_whatever_its_ops_do) {
  App app;
  wire::Child worker = start_worker(app);
  app.be_ready();
  op::PluginCall forever;
  forever.path = folder() / "libbad_plugin.so";
  forever.function = "loop";
  app.submit(forever);
  wait_until([&] { return app.channel.begun(0) == 1U; });
  app.hang_up();
  EXPECT_EQ(worker.reap().to_string(), "exited with code 0");
}

TEST(WorkerExecutable, refuses_an_app_of_another_version) {
  App app;
  wire::Child worker = start_worker(app);
  wire::Hello hello = app.hello();
  hello.version = "troupe 99";
  app.greet(hello);
  EXPECT_EQ(std::get<wire::Refused>(app.answer()).kind, ErrorKind::unsupported);
  EXPECT_EQ(worker.reap().to_string(), "exited with code 1");
}

}  // namespace
}  // namespace troupe::worker
