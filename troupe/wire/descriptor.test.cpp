#include "troupe/wire/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace troupe::wire {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

Descriptor open_null() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

TEST(Descriptor, closes_what_it_owns) {
  int number = -1;
  {
    const Descriptor null = open_null();
    number = null.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, is_empty_after_it_was_moved_from) {
  Descriptor from = open_null();
  const int number = from.get();
  Descriptor to = open_null();
  const int replaced = to.get();
  to = std::move(from);
  EXPECT_FALSE(from);  // NOLINT: that it is empty is the promise
  EXPECT_EQ(to.get(), number);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(number));
}

TEST(Descriptor, leaves_open_what_was_released) {
  Descriptor null = open_null();
  const Descriptor taken(null.release());
  null.reset();
  EXPECT_FALSE(null);
  EXPECT_TRUE(is_open(taken.get()));
}

TEST(Descriptor, is_duplicated_with_close_on_exec) {
  Descriptor null = open_null();
  const Descriptor copy = value(null.duplicate());
  null.reset();
  EXPECT_EQ(fcntl(copy.get(), F_GETFD), FD_CLOEXEC);
}

TEST(Descriptor, is_not_duplicated_when_there_is_none) {
  EXPECT_EQ(Descriptor().duplicate().error().kind(), ErrorKind::internal);
}

TEST(ErrnoError, says_what_failed_and_the_kernels_answer) {
  const Error error = errno_error(ErrorKind::invalid_argument, "opening \"x\"", ENOENT);
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(error.message(), "opening \"x\": No such file or directory (ENOENT)");
  EXPECT_EQ(error.origin().library, "linux");
  EXPECT_EQ(error.origin().native_code, ENOENT);
}

TEST(ErrnoError, names_the_limit_when_there_are_too_few_descriptors) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const Error error = errno_error("opening", EMFILE);
  EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  EXPECT_EQ(error.message(),
            "opening: Too many open files (EMFILE); this process has too few descriptors: its limit RLIMIT_NOFILE is " +
                std::to_string(limit.rlim_cur));
}

TEST(ErrnoError, has_a_sentence_for_numbers_nobody_knows) {
  EXPECT_EQ(errno_error("asking", 4000).message(), "asking: unknown error (4000)");
}

TEST(ErrnoError, sorts_numbers_into_kinds) {
  for (const int shortage : {EMFILE, ENFILE, ENOMEM, ENOSPC, EAGAIN}) {
    EXPECT_EQ(kind_of_errno(shortage), ErrorKind::out_of_memory);
  }
  EXPECT_EQ(kind_of_errno(ENOENT), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_errno(EPIPE), ErrorKind::stopped);
  EXPECT_EQ(kind_of_errno(ENOSYS), ErrorKind::unsupported);
  EXPECT_EQ(kind_of_errno(EINVAL), ErrorKind::internal);
}

}  // namespace troupe::wire
