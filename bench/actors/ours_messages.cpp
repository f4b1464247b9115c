#include <memory>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/ours.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors::ours {
namespace {

struct Go {};

/// Sends the ball to the next one until it has made its way; for ping-pong and for the ring.
class Player {
 public:
  struct Meet {
    Ref<Player> next;
  };
  struct Ball {
    int left = 0;
  };
  explicit Player(Finish* finish) : finish_(finish) {}
  void on(Meet meet) { next_ = std::move(meet.next); }
  void on(Ball ball) {
    if (ball.left == 0) return finish_->arrive();
    must(next_.tell<Ball>(ball.left - 1));
  }

 private:
  Finish* finish_;
  Ref<Player> next_;
};

Figures play(const Setting& setting, int players) {
  Finish finish(1);
  double ns = 0;
  {
    System system = make_system(setting.threads);
    std::vector<Ref<Player>> all;
    for (int i = 0; i < players; ++i) all.push_back(value(system.spawn<Player>({}, &finish)));
    for (std::size_t i = 0; i < all.size(); ++i) must(all[i].tell<Player::Meet>(all[(i + 1) % all.size()]));
    ns = ns_each(finish, setting.count, [&] { must(all[0].tell<Player::Ball>(setting.count)); });
  }
  finish.check();
  return {ns};
}

/// Counts what comes, and whether it comes in its sender's order.
class Consumer {
 public:
  struct Item {
    int producer = 0;
    int number = 0;
  };
  Consumer(Finish* finish, Count* count, int total) : finish_(finish), count_(count), total_(total) {}
  void on(Item item) {
    if (item.number != next_[item.producer]++) ++count_->out_of_order;
    if (++count_->came == total_) finish_->arrive();
  }

 private:
  Finish* finish_;
  Count* count_;
  int total_;
  int next_[kProducers] = {};
};

/// Sends all it has in one handler.
class Producer {
 public:
  Producer(Ref<Consumer> to, int number, int items) : to_(std::move(to)), number_(number), items_(items) {}
  void on(Go) {
    for (int i = 0; i < items_; ++i) must(to_.tell<Consumer::Item>(number_, i));
  }

 private:
  Ref<Consumer> to_;
  int number_, items_;
};

Figures produce(const Setting& setting, int producers) {
  const int items = setting.count / producers;
  const int total = items * producers;
  Finish finish(1);
  Count count;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    const auto consumer = value(system.spawn<Consumer>(kRoomy, &finish, &count, total));
    std::vector<Ref<Producer>> all;
    for (int i = 0; i < producers; ++i) all.push_back(value(system.spawn<Producer>({}, consumer, i, items)));
    ns = ns_each(finish, total, [&] {
      for (const Ref<Producer>& producer : all) must(producer.tell<Go>());
    });
  }
  check_count("items", total, count.came);
  check_count("items in order", total, total - count.out_of_order);
  return {ns};
}

/// Pings random others, one at a time, and answers their pings.
class Everyone {
 public:
  struct Ping {
    int from = 0;
  };
  struct Pong {};
  Everyone(const std::vector<Ref<Everyone>>* all, int number, int pings, Finish* finish, Count* count)
      : all_(all), number_(number), left_(pings), finish_(finish), count_(count), dice_(number) {}
  void on(Go) { ping(); }
  void on(Ping ping) { must((*all_)[static_cast<std::size_t>(ping.from)].tell<Pong>()); }
  void on(Pong) {
    ++count_->came;
    if (--left_ == 0) return finish_->arrive();
    ping();
  }

 private:
  void ping() {
    const int other = (number_ + 1 + dice_.below(kBigActors - 1)) % kBigActors;
    must((*all_)[static_cast<std::size_t>(other)].tell<Ping>(number_));
  }
  const std::vector<Ref<Everyone>>* all_;
  int number_, left_;
  Finish* finish_;
  Count* count_;
  Dice dice_;
};

/// Sends every other worker a piece of work, and does the pieces of all others before it goes to the next round.
class PairWorker {
 public:
  struct Piece {
    int round = 0;
    std::uint64_t seed = 0;
  };
  PairWorker(const std::vector<Ref<PairWorker>>* all, int number, int rounds, Finish* finish, std::uint64_t* sum)
      : all_(all), number_(number), rounds_(rounds), finish_(finish), sum_(sum) {}
  void on(Go) { send_round(); }
  void on(Piece piece) {
    *sum_ += piece_of_work(piece.seed);
    ++done_[piece.round % 2];
    while (done_[round_ % 2] == kPairWorkers - 1) {
      done_[round_ % 2] = 0;
      if (++round_ == rounds_) return finish_->arrive();
      send_round();
    }
  }

 private:
  void send_round() {
    for (int other = 0; other < kPairWorkers; ++other)
      if (other != number_)
        must((*all_)[static_cast<std::size_t>(other)].tell<Piece>(round_, pair_seed(number_, round_)));
  }
  const std::vector<Ref<PairWorker>>* all_;
  int number_, rounds_;
  Finish* finish_;
  std::uint64_t* sum_;
  int round_ = 0;
  int done_[2] = {};
};

/// Does a little for each message.
class Joined {
 public:
  struct Item {
    double number = 0;
  };
  Joined(Finish* finish, Count* count, int total) : finish_(finish), count_(count), total_(total) {}
  void on(Item item) {
    sum_ += item.number * item.number;
    if (++count_->came == total_) finish_->arrive();
  }

 private:
  Finish* finish_;
  Count* count_;
  int total_;
  double sum_ = 0;
};

class Counter {
 public:
  struct Get {
    using Reply = int;
  };
  int on(Get) { return ++count_; }

 private:
  int count_ = 0;
};

class Asker {
 public:
  struct Ask {
    int count = 0;
  };
  Asker(Ref<Counter> to, Finish* finish, Count* count) : to_(std::move(to)), finish_(finish), count_(count) {}
  Task<Result<void>> on(Ask ask) {
    for (int i = 0; i < ask.count; ++i) count_->came = CO_TRY(co_await to_.ask<Counter::Get>());
    finish_->arrive();
    co_return Result<void>();
  }

 private:
  Ref<Counter> to_;
  Finish* finish_;
  Count* count_;
};

}  // namespace

Figures ping_pong(const Setting& setting) { return play(setting, 2); }
Figures ring(const Setting& setting) { return play(setting, kRingActors); }
Figures counting(const Setting& setting) { return produce(setting, 1); }
Figures many_to_one(const Setting& setting) { return produce(setting, kProducers); }

Figures big(const Setting& setting) {
  Finish finish(kBigActors);
  std::vector<Count> counts(kBigActors);
  std::vector<Ref<Everyone>> all;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    for (int i = 0; i < kBigActors; ++i)
      all.push_back(value(system.spawn<Everyone>({}, &all, i, setting.count, &finish, &counts[i])));
    ns = ns_each(finish, 2LL * kBigActors * setting.count, [&] {
      for (const Ref<Everyone>& one : all) must(one.tell<Go>());
    });
  }
  for (const Count& count : counts) check_count("pongs", setting.count, count.came);
  return {ns};
}

Figures all_pairs(const Setting& setting) {
  Finish finish(kPairWorkers);
  std::vector<std::uint64_t> sums(kPairWorkers * 8);  // each on a cache line of its own
  std::vector<Ref<PairWorker>> all;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    for (int i = 0; i < kPairWorkers; ++i)
      all.push_back(value(system.spawn<PairWorker>({}, &all, i, setting.count, &finish, &sums[8 * i])));
    ns = ns_each(finish, 1LL * kPairWorkers * (kPairWorkers - 1) * setting.count, [&] {
      for (const Ref<PairWorker>& one : all) must(one.tell<Go>());
    });
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum += each;
  check_count("sum of all pieces", static_cast<std::int64_t>(pairs_sum(setting.count)), static_cast<std::int64_t>(sum));
  finish.check();
  return {ns};
}

Figures fork_join_messages(const Setting& setting) {
  const int each = setting.count / kForkJoinActors;
  Finish finish(kForkJoinActors);
  std::vector<Count> counts(kForkJoinActors);
  double ns = 0;
  {
    System system = make_system(setting.threads);
    std::vector<Ref<Joined>> all;
    for (Count& count : counts) all.push_back(value(system.spawn<Joined>(kRoomy, &finish, &count, each)));
    ns = ns_each(finish, 1LL * each * kForkJoinActors, [&] {
      for (int i = 0; i < each; ++i)
        for (const Ref<Joined>& one : all) must(one.tell<Joined::Item>(static_cast<double>(i)));
    });
  }
  for (const Count& count : counts) check_count("messages", each, count.came);
  return {ns};
}

Figures ask_in_actor(const Setting& setting) {
  Finish finish(1);
  Count count;
  double ns = 0;
  {
    System system = make_system(setting.threads);
    const auto counter = value(system.spawn<Counter>({}));
    const auto asker = value(system.spawn<Asker>({}, counter, &finish, &count));
    ns = ns_each(finish, setting.count, [&] { must(asker.tell<Asker::Ask>(setting.count)); });
  }
  check_count("answers", setting.count, count.came);
  return {ns};
}

Figures ask_from_thread(const Setting& setting) {
  System system = make_system(setting.threads);
  const auto counter = value(system.spawn<Counter>({}));
  int last = 0;
  const std::vector<double> samples =
      ask_one_by_one_us(setting.count, {}, [&] { last = value(counter.ask<Counter::Get>().get()); });
  check_count("answers", static_cast<std::int64_t>(samples.size()), last);
  return quantiles(samples, {0.5, 0.99, 0.999});
}

}  // namespace troupe::bench::actors::ours
