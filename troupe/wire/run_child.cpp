#include "troupe/wire/run_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe::inline v0::wire {
namespace {

/// Our ends of the child's input and output. Its input is a socket, because writing to a socket that nobody reads can
/// be told to raise no signal.
struct Ends {
  Descriptor to_child;
  Descriptor from_child;
};

class Conversation {
 public:
  Conversation(Ends ends, std::span<const std::byte> input) noexcept : ends_(std::move(ends)), input_(input) {}

  /// Reads until the child has closed its output; false when `until` came first.
  Result<bool> hear(TimePoint until, std::string& printed) {
    for (;;) {
      if (input_.empty()) ends_.to_child = Descriptor();
      std::array<pollfd, 2> both{pollfd{ends_.from_child.get(), POLLIN, 0}, pollfd{ends_.to_child.get(), POLLOUT, 0}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0) return false;
      const nfds_t count = input_.empty() ? 1 : 2;
      if (poll(both.data(), count, static_cast<int>(std::min<std::int64_t>(left, 1000))) < 0 && errno != EINTR)
        return fail(errno_error("cannot wait for a child's output", errno));
      if (both[0].revents != 0 && !read_some(printed)) return true;
      if (printed.size() > kMaxAnswerBytes) return fail(ErrorKind::invalid_argument, "a child printed without end");
      if (count == 2 && both[1].revents != 0) write_some();
    }
  }

 private:
  bool read_some(std::string& printed) {
    std::array<char, 65536> buffer;
    const ssize_t size = ::read(ends_.from_child.get(), buffer.data(), buffer.size());
    if (size > 0) printed.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
  }
  void write_some() {
    const ssize_t size = ::send(ends_.to_child.get(), input_.data(), input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size > 0)
      input_ = input_.subspan(static_cast<std::size_t>(size));
    else if (errno != EAGAIN && errno != EINTR)
      input_ = {};  // the child does not want the rest
  }

  Ends ends_;
  std::span<const std::byte> input_;
};

/// A child that has closed its output may still run.
bool ends_before(const Child& child, TimePoint until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd end{child.pidfd().get(), POLLIN, 0};
    if (poll(&end, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000))) > 0) return true;
    if (left <= 0) return false;
  }
}

}  // namespace

Result<ChildAnswer> run_child(const std::string& executable, const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, Duration limit) {
  const TimePoint now = std::chrono::steady_clock::now();
  const TimePoint until = limit < TimePoint::max() - now ? now + limit : TimePoint::max();
  std::array<int, 2> out{};
  std::array<int, 2> in{};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return fail(errno_error("no pipe for a child", errno));
  Ends ours{.to_child = {}, .from_child = Descriptor(out[0])};
  Descriptor their_output(out[1]);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0)
    return fail(errno_error("no socket for a child", errno));
  ours.to_child = Descriptor(in[0]);
  Descriptor their_input(in[1]);
  Child child = TROUPE_TRY(Child::spawn({.executable = executable,
                                         .arguments = arguments,
                                         .descriptors = {{0, their_input.get()}, {1, their_output.get()}},
                                         .environment = {}}));
  their_input = Descriptor();  // so that the child's end is the end of its output
  their_output = Descriptor();
  ChildAnswer answer;
  Conversation conversation(std::move(ours), input);
  if (TROUPE_TRY(conversation.hear(until, answer.printed)) && ends_before(child, until)) answer.end = child.reap();
  return answer;
}

}  // namespace troupe::inline v0::wire
