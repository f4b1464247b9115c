#include "tools/troupe/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe::tool {
namespace {

/// True when the descriptor is readable, false when `until` has come.
bool wait_readable(int descriptor, TimePoint until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) > 0) return true;
  }
}

}  // namespace

Result<ProgramRun> run_program(const std::string& executable, const std::string& argument, Duration limit) {
  const TimePoint until = std::chrono::steady_clock::now() + limit;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(wire::errno_error("no pipe for a program's output", errno));
  const wire::Descriptor ours(ends[0]);
  wire::Descriptor theirs(ends[1]);
  wire::Child child = TROUPE_TRY(wire::Child::spawn(
      {.executable = executable, .arguments = {argument}, .descriptors = {{1, theirs.get()}}, .environment = {}}));
  theirs = wire::Descriptor();  // so that the program's end is the end of its output

  ProgramRun run;
  std::array<char, 4096> buffer;
  while (wait_readable(ours.get(), until)) {
    const ssize_t size = read(ours.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    run.printed.append(buffer.data(), static_cast<std::size_t>(size));
    if (run.printed.size() > kMaxPrintedBytes)
      return fail(ErrorKind::invalid_argument, executable + " prints without end");
  }
  if (wait_readable(child.pidfd().get(), until)) run.end = child.reap();
  return run;
}

}  // namespace troupe::tool
