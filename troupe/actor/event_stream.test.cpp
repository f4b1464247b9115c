#include <gtest/gtest.h>

#include "troupe/actor/ref.hpp"
#include "troupe/actor/testkit.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Tick {};
struct Ticked {
  void on(Tick) {}
};

System virtual_time() { return System({.log = log_nothing(), .deterministic_seed = 1}); }

struct News {
  std::string text;
};

}  // namespace

TEST(Events, reach_everybody_who_subscribed_until_they_unsubscribe_or_stop) {
  System system = virtual_time();
  Probe<News> a(system), b(system);
  system.events().subscribe<News>(a.ref());
  system.events().subscribe<News>(a.ref());
  system.events().subscribe<News>(b.ref());
  system.events().publish(News{"one"});
  EXPECT_EQ(value(a.expect<News>()).text, "one");
  EXPECT_TRUE(a.expect_nothing(1s)) << "subscribing twice is subscribing once";
  EXPECT_EQ(value(b.expect<News>()).text, "one");
  system.events().unsubscribe<News>(a.ref());
  b.ref().stop();
  system.run_until_idle();
  system.events().publish(News{"two"});
  EXPECT_TRUE(a.expect_nothing(1s));
  EXPECT_TRUE(system.events().empty());
}

TEST(Events, an_empty_ref_has_nobody_to_tell) {
  System system = virtual_time();
  system.events().subscribe<News>(Ref<Probe<News>::Actor>());
  system.events().unsubscribe<News>(Ref<Probe<News>::Actor>());
  EXPECT_TRUE(system.events().empty());
}

TEST(Events, a_tell_that_reaches_nobody_becomes_a_dead_letter) {
  System system = virtual_time();
  Probe<DeadLetter> letters(system);
  system.events().subscribe<DeadLetter>(letters.ref());
  const auto ticker = value(system.spawn<Ticked>({.name = "ticker"}));
  ticker.stop();
  system.run_until_idle();
  EXPECT_FALSE(ticker.tell<Tick>());
  const DeadLetter letter = value(letters.expect<DeadLetter>());
  EXPECT_EQ(letter.path, "/user/ticker");
  EXPECT_NE(letter.message_type.find("Tick"), std::string::npos);
  EXPECT_EQ(letter.reason.kind(), ErrorKind::stopped);
}

}  // namespace troupe
