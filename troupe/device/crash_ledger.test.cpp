#include "troupe/device/crash_ledger.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "troupe/op/memory.hpp"
#include "troupe/op/table.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using Charged = CrashLedger::Charged;

class Ledger : public ::testing::Test {
 protected:
  static detail::IntrusivePtr<detail::OpCall> fill(std::uint64_t account, std::int64_t elements,
                                                   op::Address address = 0) {
    auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
    call->kind = op::Fill::kKind;
    call->account = account;
    const op::View view{.address = address, .dtype = DType::f32, .shape = {elements}, .strides = {1}};
    op::encode(op::Fill{.out = view, .value = op::Scalar(1.0f)}, call->bytes);
    return call;
  }
  void charge(const detail::IntrusivePtr<detail::OpCall>& call, Charged what = Charged::account_and_content) {
    ledger.charge(*call, what, Error(ErrorKind::worker_crashed), now);
  }
  bool is_refused(const detail::IntrusivePtr<detail::OpCall>& call) {
    const Result<bool> found = ledger.must_run_alone(*call, now);
    return !found && found.error().kind() == ErrorKind::over_budget;
  }
  bool runs_alone(const detail::IntrusivePtr<detail::OpCall>& call) {
    return ledger.must_run_alone(*call, now).value_or(false);
  }

  TimePoint now = TimePoint(1000s);
  CrashLedger ledger{{.deaths = 3, .window = 60s, .first_refusal = 1s, .longest_refusal = 10s}};
  const std::uint64_t mine = ledger.account_of("mine");
  const std::uint64_t yours = ledger.account_of("yours");
};

TEST_F(Ledger, knows_nobody_at_first) {
  EXPECT_FALSE(ledger.may_know(*fill(mine, 4)));
  EXPECT_NE(mine, yours);
  EXPECT_EQ(mine, ledger.account_of("mine"));
}

TEST_F(Ledger, refuses_an_account_past_its_budget_and_nobody_else) {
  for (int i = 0; i < 3; ++i) charge(fill(mine, 4 + i));
  EXPECT_FALSE(is_refused(fill(mine, 4)));
  charge(fill(mine, 10));
  EXPECT_TRUE(is_refused(fill(mine, 100))) << "whatever it does";
  EXPECT_TRUE(ledger.may_know(*fill(mine, 100)));
  EXPECT_FALSE(is_refused(fill(yours, 100)));
  const Result<bool> why = ledger.must_run_alone(*fill(mine, 4), now);
  EXPECT_EQ(why.error().message(),
            "the account \"mine\" has cost 4 workers within 60 s, the last by memory.fill (the worker died); try again "
            "in 1 s");
  EXPECT_EQ(ledger.take_news().size(), 1U);
  EXPECT_TRUE(ledger.take_news().empty()) << "it is told once";
}

TEST_F(Ledger, refuses_what_kills_whoever_asks_for_it) {
  for (int i = 0; i < 4; ++i) charge(fill(ledger.account_of(std::to_string(i)), 4, 512));
  EXPECT_TRUE(is_refused(fill(yours, 4))) << "the same at another address";
  EXPECT_FALSE(is_refused(fill(yours, 5)));
}

TEST_F(Ledger, does_not_blame_the_op_for_a_deadline) {
  for (int i = 0; i < 4; ++i) charge(fill(mine, 4), Charged::account);
  EXPECT_TRUE(is_refused(fill(mine, 4)));
  EXPECT_FALSE(is_refused(fill(yours, 4)));
}

TEST_F(Ledger, refuses_for_longer_each_time_and_forgets_in_the_end) {
  for (int i = 0; i < 4; ++i) charge(fill(mine, 4));
  for (const auto length : {1s, 2s, 4s, 8s, 10s, 10s}) {
    now += length - 1ms;
    EXPECT_TRUE(is_refused(fill(mine, 4)));
    now += 2ms;
    EXPECT_FALSE(is_refused(fill(mine, 4)));
    charge(fill(mine, 4));  // one is enough now
  }
  now += 10s + 61s;
  EXPECT_FALSE(is_refused(fill(mine, 4)));
  charge(fill(mine, 4));
  EXPECT_FALSE(is_refused(fill(mine, 4))) << "it has begun anew";
}

TEST_F(Ledger, lets_deaths_that_are_long_ago_go) {
  for (int i = 0; i < 20; ++i) {
    charge(fill(mine, 4));
    EXPECT_FALSE(is_refused(fill(mine, 4)));
    now += 30s;
  }
}

TEST_F(Ledger, sends_suspects_alone_until_they_have_ended_well) {
  ledger.suspect(*fill(mine, 4, 512), now);
  EXPECT_TRUE(runs_alone(fill(mine, 4)));
  EXPECT_FALSE(runs_alone(fill(mine, 5)));
  EXPECT_FALSE(runs_alone(fill(yours, 4)));
  ledger.acquit(*fill(mine, 4));
  EXPECT_FALSE(runs_alone(fill(mine, 4)));

  charge(fill(mine, 4));
  for (int i = 0; i < kCleanRunsAfterCrash; ++i) {
    EXPECT_TRUE(runs_alone(fill(mine, 4))) << i;
    ledger.acquit(*fill(mine, 4));
  }
  EXPECT_FALSE(runs_alone(fill(mine, 4)));
  ledger.suspect(*fill(mine, 4), now);
  now += 61s;
  EXPECT_FALSE(runs_alone(fill(mine, 4))) << "not for ever";
  EXPECT_FALSE(ledger.may_know(*fill(mine, 4)));
}

TEST_F(Ledger, has_limits) {
  for (std::uint64_t i = 1; i < 3 * kMaxLedgerEntries; ++i) {
    now += 1us;
    charge(fill(i, static_cast<std::int64_t>(i)));
  }
  EXPECT_TRUE(runs_alone(fill(3 * kMaxLedgerEntries - 1, 3 * kMaxLedgerEntries - 1)));
  EXPECT_FALSE(runs_alone(fill(1, 1))) << "the oldest are forgotten";
}

TEST_F(Ledger, tells_threads_apart) {
  const std::uint64_t here = CrashLedger::account_of_caller();
  std::uint64_t there = 0;
  std::thread([&] { there = CrashLedger::account_of_caller(); }).join();
  EXPECT_EQ(here, CrashLedger::account_of_caller());
  EXPECT_NE(here, there);
}

}  // namespace
}  // namespace troupe
