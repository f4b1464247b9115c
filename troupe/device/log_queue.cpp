#include "troupe/device/log_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

namespace troupe::inline v0 {
namespace {

struct Line {
  LogLevel level = LogLevel::info;
  TimePoint time{};
  std::string source;
  std::string message;
};

}  // namespace

class LogQueue::Speaker {
 public:
  explicit Speaker(std::string name) : name_(std::move(name)) {}

  bool is_silent() const noexcept { return lines_.empty() && dropped_ == 0; }
  /// When its next line was said; the line about dropped ones comes before all.
  TimePoint since() const noexcept { return lines_.empty() ? TimePoint::min() : lines_.front().time; }

  /// When it is full, drops the older half: many at once, so that one line tells of all. May throw `std::bad_alloc`.
  void add(Line line) {
    bytes_ += line.message.size();
    lines_.push_back(std::move(line));
    if (lines_.size() <= kMaxQueuedLines && bytes_ <= kMaxQueuedBytes) return;
    while (lines_.size() > kMaxQueuedLines / 2 || bytes_ > kMaxQueuedBytes / 2) {
      drop_first();
      count_dropped(1);
    }
  }
  void count_dropped(std::uint64_t lines) noexcept { dropped_ += lines; }
  std::uint64_t take_dropped() noexcept { return std::exchange(dropped_, 0); }
  /// The next line, if there is one.
  Line take_line() noexcept {
    if (lines_.empty()) return {};
    Line line = std::move(lines_.front());
    bytes_ -= line.message.size();
    lines_.pop_front();
    return line;
  }
  /// Drops all that it has said and nobody has read; gives how many lines.
  std::uint64_t forget() noexcept {
    const std::uint64_t lines = lines_.size() + dropped_;
    lines_.clear();
    bytes_ = dropped_ = 0;
    return lines;
  }
  const std::string& name() const noexcept { return name_; }

 private:
  void drop_first() noexcept {
    bytes_ -= lines_.front().message.size();
    lines_.pop_front();
  }

  const std::string name_;
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;  // before the first of the lines
};

struct LogQueue::State {
  explicit State(LogSink to) : sink(std::move(to)) {}

  const LogSink sink;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::vector<std::shared_ptr<Speaker>> speakers;  // shared with whoever speaks
  /// Stands for speakers whose lines were all dropped.
  const std::shared_ptr<Speaker> gone = std::make_shared<Speaker>("workers that have ended");
  bool closing = false;
  bool abandoned = false;
  bool ended = false;

  /// The speaker whose line is next: the one that was said first.
  std::shared_ptr<Speaker> next() const noexcept {
    std::shared_ptr<Speaker> first = gone->is_silent() ? nullptr : gone;
    for (const auto& speaker : speakers)
      if (!speaker->is_silent() && (!first || speaker->since() < first->since())) first = speaker;
    return first;
  }

  static bool is_gone(const std::shared_ptr<Speaker>& speaker) noexcept { return speaker.use_count() == 1; }

  void forget_gone() noexcept {
    std::erase_if(speakers, [](const auto& speaker) { return is_gone(speaker) && speaker->is_silent(); });
    auto too_many = std::ranges::count_if(speakers, is_gone) - static_cast<std::ptrdiff_t>(kMaxGoneSpeakers);
    std::erase_if(speakers, [&](const auto& speaker) {  // the oldest speaker comes first
      if (!is_gone(speaker) || too_many-- <= 0) return false;
      gone->count_dropped(speaker->forget());
      return true;
    });
  }

  void tell_dropped(const std::string& name, std::uint64_t lines) const noexcept {
    std::string message;
    try {
      message = name + " printed faster than the log takes it: " + std::to_string(lines) + " lines were dropped";
    } catch (const std::bad_alloc&) {
      message = "lines lost";  // short enough to need no memory
    }
    sink({.level = LogLevel::warning, .time = std::chrono::steady_clock::now(), .source = name, .message = message});
  }
};

Result<std::unique_ptr<LogQueue>> LogQueue::start(LogSink sink) {
  std::unique_ptr<LogQueue> queue(new LogQueue(std::make_shared<State>(std::move(sink))));
  try {
    queue->thread_ = std::thread([state = queue->state_] { run(*state); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for the log of the workers: ") + error.what());
  }
  pthread_setname_np(queue->thread_.native_handle(), "troupe-log");
  return queue;
}

std::shared_ptr<LogQueue::Speaker> LogQueue::add_speaker(std::string name) {
  auto speaker = std::make_shared<Speaker>(std::move(name));
  const std::lock_guard lock(state_->mutex);
  state_->forget_gone();
  state_->speakers.push_back(speaker);
  return speaker;
}

void LogQueue::say(Speaker& speaker, LogLevel level, std::string_view source, std::string_view message) noexcept {
  const TimePoint now = std::chrono::steady_clock::now();
  const std::lock_guard lock(state_->mutex);
  try {
    speaker.add({.level = level, .time = now, .source = std::string(source), .message = std::string(message)});
  } catch (const std::bad_alloc&) {
    speaker.count_dropped(1);
  }
  state_->changed.notify_all();
}

void LogQueue::run(State& state) noexcept {
  std::unique_lock lock(state.mutex);
  while (!state.abandoned) {
    std::shared_ptr<Speaker> next = state.next();
    if (!next) {
      if (state.closing) break;
      state.changed.wait(lock);
      continue;
    }
    const std::uint64_t dropped = next->take_dropped();
    const Line line = next->take_line();
    lock.unlock();  // the sink is the user's code
    if (dropped > 0) state.tell_dropped(next->name(), dropped);
    if (!line.message.empty())
      state.sink({.level = line.level, .time = line.time, .source = line.source, .message = line.message});
    lock.lock();
    next = nullptr;
    state.forget_gone();
  }
  state.ended = true;
  state.changed.notify_all();
}

void LogQueue::close() noexcept {
  if (!thread_.joinable()) return;
  std::unique_lock lock(state_->mutex);
  const auto ended = [&] { return state_->ended; };
  state_->closing = true;
  state_->changed.notify_all();
  if (!state_->changed.wait_for(lock, kLogPatience, ended)) {
    state_->abandoned = true;
    state_->changed.wait_for(lock, kLastCallPatience, ended);
  }
  const bool is_left_behind = !state_->ended;
  lock.unlock();
  is_left_behind ? thread_.detach() : thread_.join();
}

}  // namespace troupe::inline v0
