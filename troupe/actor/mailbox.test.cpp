#include "troupe/actor/mailbox.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace troupe {
namespace {

struct Numbered final : detail::Node {
  Numbered() = default;
  Numbered(int p, int n) : producer(p), number(n) {}
  void run(detail::Cell&) noexcept override {}
  void drop(detail::Cell&, const Error&) noexcept override {}
  int producer = 0;
  int number = 0;
};

int number_of(detail::Node* node) { return static_cast<Numbered*>(node)->number; }

detail::Mailbox::Push push(detail::Mailbox& mailbox, detail::Node& node, bool is_ask = false) {
  detail::Node* dropped = nullptr;
  return mailbox.push_message(node, is_ask, dropped);
}

/// A mailbox whose first turn has been run, so that it is idle.
struct Idle {
  explicit Idle(std::uint32_t capacity = 8, Overflow overflow = Overflow::refuse) : mailbox(capacity, overflow) {
    EXPECT_FALSE(mailbox.finish_turn(false));
  }
  detail::Mailbox mailbox;
  Numbered nodes[16] = {{0, 0}, {0, 1}, {0, 2},  {0, 3},  {0, 4},  {0, 5},  {0, 6},  {0, 7},
                        {0, 8}, {0, 9}, {0, 10}, {0, 11}, {0, 12}, {0, 13}, {0, 14}, {0, 15}};
};

}  // namespace

TEST(Mailbox, exactly_the_first_push_schedules) {
  Idle idle;
  EXPECT_EQ(push(idle.mailbox, idle.nodes[0]), detail::Mailbox::Push::schedule);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[1]), detail::Mailbox::Push::taken);
  EXPECT_EQ(idle.mailbox.push_control(idle.nodes[2]), detail::Mailbox::Push::taken);
  EXPECT_FALSE(idle.mailbox.raise(detail::Signal::stop));
}

TEST(Mailbox, keeps_the_order_of_each_lane) {
  Idle idle;
  for (int i = 0; i < 4; ++i) push(idle.mailbox, idle.nodes[i]);
  for (int i = 8; i < 12; ++i) (void)idle.mailbox.push_control(idle.nodes[i]);
  for (int i = 8; i < 12; ++i) EXPECT_EQ(number_of(idle.mailbox.pop_control()), i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(number_of(idle.mailbox.pop_message()), i);
  push(idle.mailbox, idle.nodes[4]);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(number_of(idle.mailbox.pop_message()), i);
  EXPECT_EQ(idle.mailbox.pop_message(), nullptr);
}

TEST(Mailbox, falls_idle_only_when_nothing_is_left) {
  Idle idle;
  push(idle.mailbox, idle.nodes[0]);
  EXPECT_TRUE(idle.mailbox.finish_turn(false));
  (void)idle.mailbox.pop_message();
  EXPECT_FALSE(idle.mailbox.finish_turn(false));
  EXPECT_EQ(push(idle.mailbox, idle.nodes[1]), detail::Mailbox::Push::schedule);
  EXPECT_FALSE(idle.mailbox.finish_turn(true)) << "messages of an actor that takes none do not keep it busy";
  EXPECT_TRUE(idle.mailbox.raise(detail::Signal::drain));
  EXPECT_TRUE(idle.mailbox.finish_turn(true)) << "a signal does";
  EXPECT_EQ(idle.mailbox.take_signals(), static_cast<std::uint64_t>(detail::Signal::drain));
  EXPECT_EQ(idle.mailbox.take_signals(), 0u);
}

TEST(Mailbox, refuses_messages_at_its_capacity_and_never_control) {
  Idle idle(2);
  push(idle.mailbox, idle.nodes[0]);
  push(idle.mailbox, idle.nodes[1]);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[2]), detail::Mailbox::Push::full);
  EXPECT_EQ(idle.mailbox.push_control(idle.nodes[3]), detail::Mailbox::Push::taken);
  (void)idle.mailbox.pop_message();
  EXPECT_EQ(push(idle.mailbox, idle.nodes[2]), detail::Mailbox::Push::full) << "being handled, it keeps its place";
  idle.mailbox.count_out();
  EXPECT_EQ(push(idle.mailbox, idle.nodes[2]), detail::Mailbox::Push::taken);
}

TEST(Mailbox, drop_oldest_gives_the_oldest_to_whoever_pushed_it_out) {
  Idle idle(2, Overflow::drop_oldest);
  push(idle.mailbox, idle.nodes[0]);
  push(idle.mailbox, idle.nodes[1]);
  detail::Node* dropped = nullptr;
  EXPECT_EQ(idle.mailbox.push_message(idle.nodes[2], false, dropped), detail::Mailbox::Push::taken);
  EXPECT_EQ(number_of(dropped), 0);
  EXPECT_EQ(number_of(idle.mailbox.pop_message()), 1);
  EXPECT_EQ(number_of(idle.mailbox.pop_message()), 2);
  EXPECT_EQ(idle.mailbox.size(), 0u);
}

TEST(Mailbox, suspend_asker_keeps_asks_outside_in_order_and_refuses_tells) {
  Idle idle(1, Overflow::suspend_asker);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[0], true), detail::Mailbox::Push::schedule);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[1], true), detail::Mailbox::Push::outside);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[2], true), detail::Mailbox::Push::outside);
  EXPECT_EQ(push(idle.mailbox, idle.nodes[3], false), detail::Mailbox::Push::full);
  EXPECT_EQ(idle.mailbox.size(), 1u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(number_of(idle.mailbox.pop_message()), i);
    idle.mailbox.count_out();
  }
  EXPECT_EQ(push(idle.mailbox, idle.nodes[4], false), detail::Mailbox::Push::taken);
}

TEST(Mailbox, suspended_asks_have_a_limit) {
  Idle idle(1, Overflow::suspend_asker);
  std::vector<Numbered> nodes(kMaxSuspendedAsks + 2);
  for (std::uint32_t i = 0; i < kMaxSuspendedAsks + 1; ++i)
    EXPECT_NE(push(idle.mailbox, nodes[i], true), detail::Mailbox::Push::full) << i;
  EXPECT_EQ(push(idle.mailbox, nodes.back(), true), detail::Mailbox::Push::full);
}

TEST(Mailbox, closed_takes_nothing_and_gives_back_everything) {
  for (const Overflow overflow : {Overflow::refuse, Overflow::drop_oldest, Overflow::suspend_asker}) {
    Idle idle(2, overflow);
    for (int i = 0; i < 2; ++i) push(idle.mailbox, idle.nodes[i], true);
    if (overflow == Overflow::suspend_asker) push(idle.mailbox, idle.nodes[2], true);
    (void)idle.mailbox.push_control(idle.nodes[3]);
    idle.mailbox.close();
    EXPECT_EQ(push(idle.mailbox, idle.nodes[4], true), detail::Mailbox::Push::closed);
    EXPECT_EQ(idle.mailbox.push_control(idle.nodes[5]), detail::Mailbox::Push::closed);
    int given_back = 0;
    while (idle.mailbox.pop_leftover()) ++given_back;
    EXPECT_EQ(given_back, overflow == Overflow::suspend_asker ? 4 : 3);
  }
}

TEST(Mailbox, hears_signals_when_closed_and_none_when_retired) {
  Idle idle;
  idle.mailbox.close();
  EXPECT_TRUE(idle.mailbox.raise(detail::Signal::child_gone));
  idle.mailbox.retire();
  EXPECT_FALSE(idle.mailbox.raise(detail::Signal::stop));
}

// Producers and the consumer race for real: every node that was taken comes out once, in the order of its producer, and
// exactly one side runs the consumer at any time.
class MailboxRace : public testing::TestWithParam<Overflow> {};

TEST_P(MailboxRace, loses_nothing_and_keeps_the_order_of_each_producer) {
  constexpr int kProducers = 3;
  constexpr int kEach = 20'000;
  const Overflow overflow = GetParam();
  detail::Mailbox mailbox(64, overflow);
  EXPECT_FALSE(mailbox.finish_turn(false));
  std::vector<std::unique_ptr<Numbered[]>> nodes;
  for (int p = 0; p < kProducers; ++p) nodes.push_back(std::make_unique<Numbered[]>(kEach));
  std::atomic<int> taken = 0, dropped_count = 0, refused = 0, received = 0;
  std::atomic<bool> running = false;
  std::vector<int> last(kProducers, -1);
  // Whoever is told to schedule runs the turn right away, on its own thread.
  const auto run_turns = [&] {
    do {
      EXPECT_FALSE(running.exchange(true)) << "two turns at a time";
      for (int i = 0; i < 16; ++i) {
        detail::Node* node = mailbox.pop_message();
        if (!node) break;
        auto& numbered = static_cast<Numbered&>(*node);
        EXPECT_GT(numbered.number, last[static_cast<std::size_t>(numbered.producer)]);
        last[static_cast<std::size_t>(numbered.producer)] = numbered.number;
        ++received;
      }
      running = false;
    } while (mailbox.finish_turn(false));
  };
  std::vector<std::thread> threads;
  for (int p = 0; p < kProducers; ++p)
    threads.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        Numbered& node = nodes[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)];
        node.producer = p;
        node.number = i;
        detail::Node* dropped = nullptr;
        const detail::Mailbox::Push outcome = mailbox.push_message(node, true, dropped);
        if (dropped) ++dropped_count;
        if (outcome == detail::Mailbox::Push::full)
          ++refused;
        else
          ++taken;
        if (outcome == detail::Mailbox::Push::schedule) run_turns();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken + refused, kProducers * kEach);
  EXPECT_EQ(received + dropped_count, taken);
  EXPECT_EQ(mailbox.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, MailboxRace,
                         testing::Values(Overflow::refuse, Overflow::drop_oldest, Overflow::suspend_asker));

TEST(Mailbox, closing_under_a_race_answers_every_push_once) {
  for (int round = 0; round < 200; ++round) {
    detail::Mailbox mailbox(1024, Overflow::refuse);
    std::vector<Numbered> nodes(2000);
    std::atomic<int> taken = 0, refused = 0;
    std::thread producer([&] {
      for (Numbered& node : nodes) {
        detail::Node* dropped = nullptr;
        const detail::Mailbox::Push outcome = mailbox.push_message(node, false, dropped);
        const bool kept = outcome == detail::Mailbox::Push::taken || outcome == detail::Mailbox::Push::schedule;
        ++(kept ? taken : refused);
      }
    });
    int received = 0;
    while (received < round) {
      if (mailbox.pop_message()) ++received;
      mailbox.count_out();
    }
    mailbox.close();
    while (mailbox.pop_leftover()) ++received;
    producer.join();
    EXPECT_EQ(received, taken);
    EXPECT_EQ(taken + refused, 2000);
  }
}

}  // namespace troupe
