// What a system refuses when an actor or the system itself is started with options that cannot be, side by side.
#include <gtest/gtest.h>

#include "troupe/actor/system.hpp"

namespace troupe {
namespace {

struct Idle {
  struct Poke {};
  void on(Poke) {}
};

TEST(ActorRefusals, of_options) {
  System system{{.log = log_nothing()}};
  const auto refused = [&](const SpawnOptions& options) {
    const Result<Ref<Idle>> ref = system.spawn<Idle>(options);
    return ref ? "(it is not refused)" : std::string(ref.error().message());
  };
  EXPECT_EQ(refused({.name = "a/b"}),
            "the name of an actor is 'a/b'; it must have letters, digits, '-', '_' and '.' only, and at most 128");
  EXPECT_EQ(refused({.supervision = {.max_restarts = -1}}), "supervision.max_restarts is -1; it must not be negative");
  EXPECT_EQ(refused({.supervision = {.window = Duration(0)}}), "supervision.window is 0 s; it must be positive");
  EXPECT_EQ(refused({.mailbox_capacity = 0}), "mailbox_capacity is 0; it must be 1 to 134217727");
  EXPECT_EQ(refused({.max_handlers = 0}), "max_handlers is 0; it must be positive");
}

}  // namespace
}  // namespace troupe
