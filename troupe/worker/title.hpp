// How a worker's process looks in `ps` and `top`: which device it is for, and whether it serves or stands by. Without
// it an operator sees two equal lines, and cannot tell which of them to look at.
//
//   troupe-worker gpu0 standby                   comm: troupe:gpu0:sby
//   troupe-worker gpu0 serving generation 3      comm: troupe:gpu0:g3
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe::worker {

/// Writes over the arguments of this process, which is what `ps` shows; and names its main thread. Only the main thread
/// uses it.
class Title {
 public:
  /// Takes the memory of the arguments as they lie, one after another. Nobody may read them any more.
  Title(int argc, char** argv) noexcept;

  void starting(std::string_view device) noexcept;
  void standby() noexcept;
  void serving(std::int64_t generation) noexcept;

 private:
  void show(std::string_view role, std::string_view role_in_short) noexcept;

  std::span<char> place_;
  std::string device_;
};

/// The name of a thread, which has 15 characters at most: "troupe:gpu0:g3"; where that is too long, "tr:gpu0:g12345".
std::string thread_name(std::string_view device, std::string_view role_in_short);

}  // namespace troupe::worker
