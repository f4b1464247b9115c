#include "troupe/worker/title.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <cstring>
#include <thread>

namespace troupe::worker {
namespace {

/// Arguments as the kernel lays them: one after another, and the environment behind them.
struct Arguments {
  char memory[96] = "worker\0--socket\0003\0                                                  \0PATH=/bin";
  std::array<char*, 4> argv{memory, memory + 7, memory + 16, memory + 18};
  static constexpr std::size_t kBytes = 7 + 9 + 2 + 51;
};

void in_a_thread_of_its_own(void (*test)()) { std::thread(test).join(); }

TEST(Title, replaces_the_arguments_and_nothing_behind_them) {
  in_a_thread_of_its_own([] {
    Arguments arguments;
    Title title(4, arguments.argv.data());
    title.starting("gpu0");
    EXPECT_STREQ(arguments.memory, "troupe-worker gpu0 starting");
    title.serving(3);
    EXPECT_STREQ(arguments.memory, "troupe-worker gpu0 serving generation 3");
    title.standby();
    EXPECT_STREQ(arguments.memory, "troupe-worker gpu0 standby");
    for (std::size_t i = std::strlen(arguments.memory); i < Arguments::kBytes; ++i) ASSERT_EQ(arguments.memory[i], 0);
    EXPECT_STREQ(arguments.memory + Arguments::kBytes, "PATH=/bin");
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_STREQ(name.data(), "troupe:gpu0:sby");
  });
}

TEST(Title, is_cut_where_there_is_no_room) {
  in_a_thread_of_its_own([] {
    Arguments arguments;
    Title title(1, arguments.argv.data());
    title.starting("gpu0");
    EXPECT_STREQ(arguments.memory, "troupe");
    EXPECT_STREQ(arguments.argv[1], "--socket");
    Title(0, nullptr).standby();
  });
}

TEST(Title, of_a_thread_has_the_generation_also_when_it_is_long) {
  EXPECT_EQ(thread_name("host", "g7"), "troupe:host:g7");
  EXPECT_EQ(thread_name("gpu0", "g12"), "troupe:gpu0:g12");
  EXPECT_EQ(thread_name("gpu0", "g123"), "tr:gpu0:g123");
  EXPECT_EQ(thread_name("gpu15", "g12345"), "tr:gpu15:g12345");
  EXPECT_EQ(thread_name("a_long_name_of_a_device", "g1").size(), 15U);
}

}  // namespace
}  // namespace troupe::worker
