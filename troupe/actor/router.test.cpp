#include "troupe/actor/router.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "troupe/actor/testkit.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Who {
  using Reply = std::uint64_t;
};
struct Hold {};

struct Worker {
  explicit Worker(Context<Worker> context) : self(context) {}
  std::uint64_t on(Who) { return self.ref().id(); }
  Task<> on(Hold) { co_await sleep_for(1h); }
  Context<Worker> self;
};

class Routed : public testing::Test {
 protected:
  ~Routed() override {
    for (const auto& worker : workers) worker.stop();
  }
  System system{SystemOptions{.log = log_nothing(), .deterministic_seed = 2}};
  std::vector<Ref<Worker>> workers = value(spawn_many<Worker>(system, 4, {.name = "worker"}));
};

}  // namespace

TEST_F(Routed, spawn_many_numbers_its_actors_and_cleans_up_after_an_error) {
  EXPECT_EQ(workers[0].path(), "/user/worker-1");
  EXPECT_EQ(workers[3].path(), "/user/worker-4");
  ASSERT_TRUE(system.spawn<Worker>({.name = "other-2"}));
  EXPECT_FALSE(spawn_many<Worker>(system, 3, {.name = "other"}));
  system.run_until_idle();
  EXPECT_FALSE(system.find<Worker>("/user/other-1"));
}

TEST_F(Routed, round_robin_takes_each_in_turn_and_passes_over_the_stopped) {
  const RoundRobin<Worker> router(workers);
  std::vector<std::uint64_t> first, second;
  for (int i = 0; i < 4; ++i) first.push_back(value(router.ask<Who>().get()));
  for (int i = 0; i < 4; ++i) second.push_back(value(router.ask<Who>().get()));
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 4u);
  workers[1].stop();
  system.run_until_idle();
  for (int i = 0; i < 12; ++i) EXPECT_NE(value(router.ask<Who>().get()), workers[1].id());
}

TEST_F(Routed, least_loaded_takes_whoever_has_least_to_do) {
  const LeastLoaded<Worker> router(workers);
  for (const std::size_t busy : {0u, 1u, 3u}) value(workers[busy].tell<Hold>());
  system.run_until_idle();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(router.ask<Who>().get(), workers[2].id());
  workers[2].stop();
  system.run_until_idle();
  EXPECT_NE(value(router.ask<Who>().get()), workers[2].id());
}

TEST_F(Routed, consistent_hash_keeps_keys_and_moves_only_those_of_a_stopped_actor) {
  const ConsistentHash<Worker> router(workers);
  std::map<int, std::uint64_t> home;
  std::map<std::uint64_t, int> share;
  for (int key = 0; key < 2000; ++key) ++share[home[key] = router.pick(key).id()];
  for (const auto& [id, keys] : share) EXPECT_NEAR(keys, 500, 200) << id;
  EXPECT_EQ(value(router.ask<Who>(7).get()), home[7]);
  workers[2].stop();
  system.run_until_idle();
  for (int key = 0; key < 2000; ++key) {
    const std::uint64_t now = router.pick(key).id();
    EXPECT_NE(now, workers[2].id());
    if (home[key] != workers[2].id()) {
      EXPECT_EQ(now, home[key]) << key;
    }
  }
}

TEST_F(Routed, broadcast_reaches_everybody) {
  const Broadcast<Worker> router(workers);
  EXPECT_EQ(router.tell(Hold{}), 4u);
  const std::vector<Result<std::uint64_t>> all = value(system.run(router.ask<Who>()));
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i], workers[i].id());
  workers[0].stop();
  system.run_until_idle();
  EXPECT_EQ(router.tell(Hold{}), 3u);
}

TEST_F(Routed, a_router_without_living_actors_answers_with_an_error) {
  EXPECT_EQ(RoundRobin<Worker>({}).ask<Who>().get().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(LeastLoaded<Worker>({}).ask<Who>().get().error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(ConsistentHash<Worker>({}).ask<Who>(1).get().error().kind(), ErrorKind::invalid_argument);
  for (const auto& worker : workers) worker.stop();
  system.run_until_idle();
  EXPECT_EQ(RoundRobin<Worker>(workers).ask<Who>().get().error().kind(), ErrorKind::stopped);
  EXPECT_EQ(ConsistentHash<Worker>(workers).ask<Who>(1).get().error().kind(), ErrorKind::stopped);
}

}  // namespace troupe
