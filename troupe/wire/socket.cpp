#include "troupe/wire/socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace troupe::inline v0::wire {
namespace {

struct alignas(cmsghdr) ControlBuffer {
  std::byte bytes[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
};
static_assert(sizeof(ControlBuffer) == CMSG_LEN(kMaxDescriptors * sizeof(int)), "there is room for not one too many");

/// Owns the received descriptors from the first moment, whatever becomes of their message.
struct ReceivedDescriptors {
  std::array<Descriptor, kMaxDescriptors> owned;
  std::size_t count = 0;
};

ReceivedDescriptors take_descriptors(msghdr& header) noexcept {
  ReceivedDescriptors received;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      received.owned[received.count++] = Descriptor(number);
    }
  }
  return received;
}

Result<void> check_whole(const msghdr& header, std::size_t descriptors) {
  if (header.msg_flags & MSG_TRUNC) {
    return fail(ErrorKind::invalid_argument,
                "socket: dropped a message of more than " + std::to_string(kMaxMessageBytes) + " bytes");
  }
  if ((header.msg_flags & MSG_CTRUNC) == 0) return {};
  if (descriptors == kMaxDescriptors) {
    return fail(ErrorKind::invalid_argument,
                "socket: dropped a message with more than " + std::to_string(kMaxDescriptors) + " descriptors");
  }
  // The kernel does not say why it delivered only some of them; the only known cause is that no number was free.
  return fail(errno_error(ErrorKind::out_of_memory, "socket: dropped a message with descriptors", EMFILE));
}

Unexpected peer_is_gone() { return fail(ErrorKind::stopped, "socket: the peer is gone"); }

/// Waits for `events`; false when `until` came first.
bool wait_for(int descriptor, short events, TimePoint until) noexcept {
  using std::chrono::milliseconds;
  for (;;) {
    int timeout_ms = -1;
    if (until != TimePoint::max()) {
      const Duration left = std::max(Duration{0}, until - TimePoint(std::chrono::steady_clock::now()));
      timeout_ms = static_cast<int>(std::min(std::chrono::ceil<milliseconds>(left), milliseconds(60'000)).count());
    }
    pollfd entry{.fd = descriptor, .events = events, .revents = 0};
    if (poll(&entry, 1, timeout_ms) > 0) return true;
    if (timeout_ms == 0) return false;
  }
}

}  // namespace

Result<std::pair<Socket, Descriptor>> Socket::make_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(errno_error("creating a socket", errno));
  }
  return std::pair(Socket(Descriptor(ends[0])), Descriptor(ends[1]));
}

Result<void> Socket::send(std::span<const std::byte> message, std::span<const int> descriptors, Duration patience) {
  if (message.empty() || message.size() > kMaxMessageBytes || descriptors.size() > kMaxDescriptors) {
    return fail(ErrorKind::invalid_argument, "socket: a message has 1 to " + std::to_string(kMaxMessageBytes) +
                                                 " bytes and at most " + std::to_string(kMaxDescriptors) +
                                                 " descriptors; this one has " + std::to_string(message.size()) +
                                                 " and " + std::to_string(descriptors.size()));
  }
  iovec bytes{.iov_base = const_cast<std::byte*>(message.data()), .iov_len = message.size()};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  ControlBuffer control{};
  if (!descriptors.empty()) {
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }

  const TimePoint now = std::chrono::steady_clock::now();
  const TimePoint until = patience < TimePoint::max() - now ? now + patience : TimePoint::max();
  for (;;) {
    if (sendmsg(descriptor(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EBADF && descriptor_) {
      return fail(errno_error(ErrorKind::invalid_argument, "sending descriptors", EBADF));
    }
    if (errno != EAGAIN && kind_of_errno(errno) == ErrorKind::stopped) return peer_is_gone();
    if (errno != EAGAIN) return fail(errno_error("sending a message", errno));
    if (!wait_for(descriptor(), POLLOUT, until)) {
      return fail(ErrorKind::queue_full, "socket: the peer has not read for " + to_string(patience));
    }
  }
}

Result<Message> Socket::receive() {
  for (;;) {
    auto message = TROUPE_TRY(try_receive());
    if (message) return std::move(*message);
    wait_for(descriptor(), POLLIN, TimePoint::max());
  }
}

Result<std::optional<Message>> Socket::try_receive() {
  Message message;  // gets its memory before there is a message to lose
  message.bytes.resize(kMaxMessageBytes);
  message.descriptors.reserve(kMaxDescriptors);
  ControlBuffer control;
  for (;;) {
    iovec bytes{.iov_base = message.bytes.data(), .iov_len = message.bytes.size()};
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    const ssize_t size = recvmsg(descriptor(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EAGAIN) return std::nullopt;
      // A peer that died before it had read everything causes one ECONNRESET, ahead of what it had sent: go on to that.
      if (errno == EINTR || errno == ECONNRESET) continue;
      if (kind_of_errno(errno) == ErrorKind::stopped) return peer_is_gone();
      return fail(errno_error("receiving a message", errno));
    }
    ReceivedDescriptors received = take_descriptors(header);
    TROUPE_TRY(check_whole(header, received.count));
    if (size == 0) return peer_is_gone();
    message.bytes.resize(static_cast<std::size_t>(size));
    message.descriptors.assign(std::make_move_iterator(received.owned.begin()),
                               std::make_move_iterator(received.owned.begin() + received.count));
    return message;
  }
}

}  // namespace troupe::inline v0::wire
