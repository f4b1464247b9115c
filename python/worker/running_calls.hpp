// The calls that this worker's threads are in, and the Python stacks that they leave in their boxes: when a thread
// crashes, when it ends the process, and shortly before a deadline, because whoever is killed says nothing any more.
// faulthandler writes the stacks, without the interpreter lock, from the thread's own signal handler.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace troupe::python {

/// A box begins with these, then the stack, then what the function gives back; see troupe/_travel.py.
struct BoxHead {
  std::uint32_t state;
  std::uint32_t answer_bytes;
  std::uint32_t stack_bytes;
  std::uint32_t unused;
};
inline constexpr std::int64_t kStackEnd = 4096;  // what is behind it is for the answer

/// The calling thread runs a call from here to the end of this object's life. The deadline is by CLOCK_MONOTONIC; 0 is
/// none.
class RunningCall {
 public:
  RunningCall(std::byte* box, std::int64_t deadline_ns);
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  std::byte* box() const noexcept { return box_; }
  pthread_t thread() const noexcept { return thread_; }
  /// When its stack is to be written; 0 is never.
  std::int64_t stack_due_ns() const noexcept { return stack_due_ns_; }
  void stack_is_written() noexcept { stack_due_ns_ = 0; }

 private:
  std::byte* const box_;
  const pthread_t thread_ = pthread_self();
  std::int64_t stack_due_ns_ = 0;
};

/// Writes the calling thread's Python stack into the box of its call; does nothing when it runs none. Safe in a signal
/// handler.
void write_stack() noexcept;

/// Tells how: faulthandler's handler of `signal` writes into `file`. False and `errno` when that cannot be.
bool write_stacks_by(int signal, int file) noexcept;

}  // namespace troupe::python
