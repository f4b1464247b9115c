#include "troupe/wire/socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

namespace troupe::wire {
namespace {

struct Line {
  Line() : Line(value(Socket::make_pair())) {}
  explicit Line(std::pair<Socket, Descriptor> ends)
      : here(std::move(ends.first)), there(Socket(std::move(ends.second))) {}
  Socket here;
  std::optional<Socket> there;
};

std::span<const std::byte> as_message(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
}

/// What our own `send` would refuse to send.
void send_raw(const Socket& socket, std::size_t bytes, std::size_t descriptors) {
  std::vector<std::byte> data(bytes);
  iovec part{.iov_base = data.data(), .iov_len = data.size()};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(64 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
  std::memset(CMSG_DATA(rights), 0, descriptors * sizeof(int));  // standard input, many times
  ASSERT_EQ(sendmsg(socket.descriptor(), &header, 0), static_cast<ssize_t>(bytes));
}

}  // namespace

TEST(Socket, delivers_whole_messages_in_order) {
  Line line;
  ASSERT_TRUE(line.here.send(as_message("one")));
  ASSERT_TRUE(line.here.send(as_message("two")));
  EXPECT_EQ(text_of(value(line.there->receive())), "one");
  EXPECT_EQ(text_of(value(line.there->receive())), "two");
  ASSERT_TRUE(line.there->send(as_message("back")));
  EXPECT_EQ(text_of(value(line.here.receive())), "back");
}

TEST(Socket, delivers_a_message_of_the_largest_size) {
  Line line;
  std::vector<std::byte> large(kMaxMessageBytes, std::byte{5});
  ASSERT_TRUE(line.here.send(large));
  EXPECT_EQ(value(line.there->receive()).bytes, large);
  large.push_back({});
  EXPECT_EQ(line.here.send(large).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(line.here.send({}).error().kind(), ErrorKind::invalid_argument);
}

TEST(Socket, delivers_descriptors_that_close_on_exec) {
  Line line;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const Descriptor read_end(pipe_ends[0]);
  Descriptor write_end(pipe_ends[1]);
  const std::vector<int> numbers(kMaxDescriptors, write_end.get());
  ASSERT_TRUE(line.here.send(as_message("take"), numbers));
  write_end.reset();
  const Message message = value(line.there->receive());
  ASSERT_EQ(message.descriptors.size(), kMaxDescriptors);
  EXPECT_EQ(fcntl(message.descriptors[0].get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(write(message.descriptors[7].get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(Socket, says_that_nothing_is_there) {
  Line line;
  EXPECT_FALSE(value(line.here.try_receive()));
  ASSERT_TRUE(line.there->send(as_message("now")));
  EXPECT_TRUE(value(line.here.try_receive()));
}

TEST(Socket, waits_for_the_next_message) {
  Line line;
  std::thread sender([&] { EXPECT_TRUE(line.there->send(as_message("late"))); });
  EXPECT_EQ(text_of(value(line.here.receive())), "late");
  sender.join();
}

TEST(Socket, ends_in_stopped_when_the_peer_has_closed) {
  Line line;
  ASSERT_TRUE(line.there->send(as_message("last words")));
  line.there.reset();
  EXPECT_EQ(text_of(value(line.here.receive())), "last words");
  EXPECT_EQ(line.here.receive().error().kind(), ErrorKind::stopped);
  EXPECT_EQ(line.here.try_receive().error().kind(), ErrorKind::stopped);
  EXPECT_EQ(line.here.send(as_message("hello?")).error().kind(), ErrorKind::stopped);
}

TEST(Socket, delivers_the_last_words_of_a_peer_that_did_not_read_everything) {
  Line line;
  ASSERT_TRUE(line.here.send(as_message("never read")));
  ASSERT_TRUE(line.there->send(as_message("last words")));
  line.there.reset();
  EXPECT_EQ(text_of(value(line.here.receive())), "last words");
  EXPECT_EQ(line.here.receive().error().kind(), ErrorKind::stopped);
}

TEST(Socket, gives_up_on_a_peer_that_does_not_read) {
  using namespace std::chrono_literals;
  Line line;
  const std::vector<std::byte> large(kMaxMessageBytes);
  Result<void> sent;
  for (int i = 0; i < 10'000 && sent; ++i) sent = line.here.send(large, {}, 1ms);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind(), ErrorKind::queue_full);
  EXPECT_TRUE(line.there->receive());
}

TEST(Socket, waits_while_the_peer_is_slow) {
  constexpr int kMessages = 1000;  // far more than the line holds
  Line line;
  std::thread reader([&] {
    for (int i = 0; i < kMessages; ++i) EXPECT_TRUE(line.there->receive());
  });
  const std::vector<std::byte> large(kMaxMessageBytes);
  for (int i = 0; i < kMessages; ++i) EXPECT_TRUE(line.here.send(large));
  reader.join();
}

TEST(Socket, refuses_what_is_no_descriptor) {
  Line line;
  const int numbers[] = {-1};
  EXPECT_EQ(line.here.send(as_message("x"), numbers).error().kind(), ErrorKind::invalid_argument);
  EXPECT_FALSE(value(line.there->try_receive()));
}

TEST(Socket, drops_messages_beyond_the_limits_without_leaking_descriptors) {
  Line line;
  const auto before = open_descriptors();
  send_raw(line.here, kMaxMessageBytes + 1, 3);
  send_raw(line.here, 1, kMaxDescriptors + 1);
  EXPECT_EQ(line.there->receive().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(line.there->receive().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(open_descriptors(), before);
  ASSERT_TRUE(line.here.send(as_message("next")));
  EXPECT_EQ(text_of(value(line.there->receive())), "next");
}

TEST(Socket, says_when_this_process_has_no_room_for_descriptors) {
  Line line;
  const int numbers[] = {0, 0};
  // The undefined behaviour sanitizer opens a pipe when it sees a type for the first time: show it an error before.
  send_raw(line.here, kMaxMessageBytes + 1, 1);
  ASSERT_FALSE(line.there->receive());
  ASSERT_TRUE(line.here.send(as_message("x"), numbers));
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit one{.rlim_cur = 1, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &one);
  const auto message = line.there->receive();
  setrlimit(RLIMIT_NOFILE, &limit);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().kind(), ErrorKind::out_of_memory);
}

}  // namespace troupe::wire
