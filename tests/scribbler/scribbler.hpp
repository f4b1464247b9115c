// Owns every byte that a worker can write and the app looks at: the words of its lanes, its replies, its last words,
// its heartbeat, the bells. Changes some of them, as a stray pointer would. For `./dev adversary` and `./dev chaos`.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace troupe::scribbling {

class Scribbler {
 public:
  explicit Scribbler(std::uint64_t seed) noexcept : random_(seed) {}

  /// Changes something in the memory of one of this program's workers. False when there is none just now.
  bool scribble() {
    return scribble_on_memory_of("self", [] { return true; });
  }
  /// In that of this one, or in the bells that it shares with the others, if at the last moment `is_wanted`.
  bool scribble_on(int worker, const std::function<bool()>& is_wanted) {
    return scribble_on_memory_of(std::to_string(worker), is_wanted);
  }
  /// Bytes that are no message, or one that nobody asked for.
  std::vector<std::byte> garbage();

 private:
  bool scribble_on_memory_of(const std::string& process, const std::function<bool()>& is_wanted);
  /// A few bytes: others, none, one more, one bit, as they are somewhere else.
  void change(std::span<std::byte> memory, std::size_t at);
  /// Where something is that matters; most of the memory is never looked at.
  std::size_t place_in(std::span<const std::byte> memory);
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::mt19937_64 random_;
};

}  // namespace troupe::scribbling
