// A bounded queue in front of the user's log sink, and one thread that calls the sink, for those who must never wait
// for it. However slow the sink is, whoever speaks goes on at once. When lines come faster than the sink takes them,
// the oldest are dropped (the last ones say why a worker died), and a line says how many.
//
//   const std::shared_ptr<LogQueue::Speaker> worker = queue->add_speaker("worker-123");
//   queue->say(*worker, LogLevel::info, "worker-123", "hello");
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// The most lines, and bytes of text, of one speaker that wait for the sink. One more, and the older half is dropped.
inline constexpr std::size_t kMaxQueuedLines = 16384;
inline constexpr std::size_t kMaxQueuedBytes = std::size_t{1} << 20;
/// When the sink hangs, the lines of this many speakers that are gone are kept; those of older ones are dropped.
inline constexpr std::size_t kMaxGoneSpeakers = 16;
/// How long `close` waits until the sink has taken what is queued, and after that for the call under way.
inline constexpr Duration kLogPatience = std::chrono::seconds(2);
inline constexpr Duration kLastCallPatience = std::chrono::seconds(1);

class LogQueue {
 public:
  /// A source of lines. Each has limits of its own: nobody's lines are dropped because somebody else says too much.
  class Speaker;

  /// `out_of_memory` when the machine gives no thread.
  static Result<std::unique_ptr<LogQueue>> start(LogSink sink);
  ~LogQueue() { close(); }

  /// The speaker is gone when the caller lets go of it; what it has said still comes out. Any thread. May throw
  /// `std::bad_alloc`.
  std::shared_ptr<Speaker> add_speaker(std::string name);
  /// Queues one line; never waits for the sink and never fails: without memory the line is dropped and counted. Lines
  /// of one speaker come out in order. Any thread.
  void say(Speaker& speaker, LogLevel level, std::string_view source, std::string_view message) noexcept;

  /// What is queued still comes out if the sink takes it within `kLogPatience`. A sink that does not return from a call
  /// within `kLastCallPatience` after that is left behind in it, and called no more.
  void close() noexcept;

 private:
  struct State;
  explicit LogQueue(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

  static void run(State& state) noexcept;

  const std::shared_ptr<State> state_;  // shared with the thread, which may be left behind
  std::thread thread_;
};

}  // namespace troupe::inline v0
