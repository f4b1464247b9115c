// The fake's streams: a thread each, which does one thing after another. Events are marks on them. A process that is
// poisoned does nothing more: its streams stand still for good, as those of a GPU do after a fault.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "tests/fake_cuda/control.hpp"

namespace fake_cuda {

Page& page();

/// 0, or the code that every call of this process answers from now on.
int poison_code() noexcept;
void poison(int code) noexcept;

class Stream {
 public:
  Stream();
  /// Does what is on it first, but waits for nothing any more: what is behind a wait is dropped.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add(std::function<void()> work) { add({std::move(work), {}, false}); }
  /// What is added from now on begins when the word has reached the value.
  void add_wait(const std::uint32_t* word, std::uint32_t value);
  /// The same as work that is done even if all else is dropped: to free something.
  void add_cleanup(std::function<void()> work) { add({std::move(work), {}, true}); }
  bool is_idle();

 private:
  friend void wait_for_all_streams();
  struct Step {
    std::function<void()> work;
    std::function<bool()> ready;  // none: at once
    bool is_cleanup = false;
  };
  void add(Step step);
  void run();

  std::deque<Step> steps_;  // the first one is being done
  bool closing_ = false;
  std::thread thread_;
};

/// A mark on a stream. Shared with the streams that it is on.
class Event {
 public:
  void add_to(Stream& stream, std::shared_ptr<Event> self);
  bool is_done();
  /// Returns when it is done, or nothing will be any more.
  void wait();

 private:
  std::uint64_t recorded_ = 0;
  std::uint64_t done_ = 0;
};

/// Returns when all streams are idle, or nothing will move any more.
void wait_for_all_streams();

}  // namespace fake_cuda
