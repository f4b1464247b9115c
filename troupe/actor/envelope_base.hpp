// A message on its way, as the cell sees it: it can be run, dropped, finished when its coroutine ends, or cut off.
// The typed half is in envelope.hpp.
#pragma once

#include <memory>
#include <string>

#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/task.hpp"

namespace troupe::inline v0 {

class EnvelopeBase : public Node, public Completion {
 public:
  /// Its coroutine has ended: reply, and be gone. On the cell's turn.
  virtual void finished(Cell& cell) noexcept = 0;
  /// Destroys its coroutine; the ask ends in `why`. On the cell's turn.
  virtual void cut(Cell& cell, const Error& why) noexcept = 0;
  /// The message's type, for people.
  virtual std::string message_type() const = 0;

  std::coroutine_handle<> completed() noexcept final;

  bool stashed = false;

 protected:
  ~EnvelopeBase() = default;

  Cell* cell_ = nullptr;  // whose handler runs it; set when a coroutine begins

 private:
  friend class Cell;
  EnvelopeBase* previous_running_ = nullptr;
  EnvelopeBase* next_running_ = nullptr;
};

/// Makes the message of a timer, each time it fires.
class TimerMessage {
 public:
  virtual ~TimerMessage() = default;
  virtual EnvelopeBase* make() = 0;
};

/// A readable name of a type.
std::string type_name(const std::type_info& type);

}  // namespace troupe::inline v0
