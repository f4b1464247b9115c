#include "bench/actors/caf.hpp"

#if TROUPE_HAS_CAF

#include "bench/actors/load.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors::with_caf {
namespace {

class Player : public caf::event_based_actor {
 public:
  Player(caf::actor_config& config, Finish* finish) : caf::event_based_actor(config), finish_(finish) {}
  caf::behavior make_behavior() override {
    return {[this](const caf::actor& next) { next_ = next; },
            [this](int left) {
              if (left == 0) return finish_->arrive();
              send(next_, left - 1);
            }};
  }
  void on_exit() override { next_ = nullptr; }

 private:
  Finish* finish_;
  caf::actor next_;
};

Figures play(const Setting& setting, int players) {
  Finish finish(1);
  double ns = 0;
  {
    System system(setting.threads);
    std::vector<caf::actor> all;
    for (int i = 0; i < players; ++i) all.push_back(system.spawn<Player>(&finish));
    for (std::size_t i = 0; i < all.size(); ++i) caf::anon_send(all[i], all[(i + 1) % all.size()]);
    ns = ns_each(finish, setting.count, [&] { caf::anon_send(all[0], setting.count); });
  }
  finish.check();
  return {ns};
}

class Consumer : public caf::event_based_actor {
 public:
  Consumer(caf::actor_config& config, Finish* finish, Count* count, int total)
      : caf::event_based_actor(config), finish_(finish), count_(count), total_(total) {}
  caf::behavior make_behavior() override {
    return {[this](int producer, int number) {
      if (number != next_[producer]++) ++count_->out_of_order;
      if (++count_->came == total_) finish_->arrive();
    }};
  }

 private:
  Finish* finish_;
  Count* count_;
  int total_;
  int next_[kProducers] = {};
};

class Producer : public caf::event_based_actor {
 public:
  Producer(caf::actor_config& config, caf::actor to, int number, int items)
      : caf::event_based_actor(config), to_(std::move(to)), number_(number), items_(items) {}
  caf::behavior make_behavior() override {
    return {[this](Go) {
      for (int i = 0; i < items_; ++i) send(to_, number_, i);
    }};
  }

 private:
  caf::actor to_;
  int number_, items_;
};

Figures produce(const Setting& setting, int producers) {
  const int items = setting.count / producers;
  const int total = items * producers;
  Finish finish(1);
  Count count;
  double ns = 0;
  {
    System system(setting.threads);
    const caf::actor consumer = system.spawn<Consumer>(&finish, &count, total);
    std::vector<caf::actor> all;
    for (int i = 0; i < producers; ++i) all.push_back(system.spawn<Producer>(consumer, i, items));
    ns = ns_each(finish, total, [&] {
      for (const caf::actor& producer : all) caf::anon_send(producer, Go::value);
    });
  }
  check_count("items", total, count.came);
  check_count("items in order", total, total - count.out_of_order);
  return {ns};
}

using Pong = caf::atom_constant<caf::atom("pong")>;

class Everyone : public caf::event_based_actor {
 public:
  Everyone(caf::actor_config& config, const std::vector<caf::actor>* all, int number, int pings, Finish* finish,
           Count* count)
      : caf::event_based_actor(config),
        all_(all),
        number_(number),
        left_(pings),
        finish_(finish),
        count_(count),
        dice_(static_cast<std::uint32_t>(number)) {}
  caf::behavior make_behavior() override {
    return {[this](Go) { ping(); }, [this](int from) { send((*all_)[static_cast<std::size_t>(from)], Pong::value); },
            [this](Pong) {
              ++count_->came;
              if (--left_ == 0) return finish_->arrive();
              ping();
            }};
  }

 private:
  void ping() {
    const int other = (number_ + 1 + dice_.below(kBigActors - 1)) % kBigActors;
    send((*all_)[static_cast<std::size_t>(other)], number_);
  }
  const std::vector<caf::actor>* all_;
  int number_, left_;
  Finish* finish_;
  Count* count_;
  Dice dice_;
};

class PairWorker : public caf::event_based_actor {
 public:
  PairWorker(caf::actor_config& config, const std::vector<caf::actor>* all, int number, int rounds, Finish* finish,
             std::uint64_t* sum)
      : caf::event_based_actor(config), all_(all), number_(number), rounds_(rounds), finish_(finish), sum_(sum) {}
  caf::behavior make_behavior() override {
    return {[this](Go) { send_round(); },
            [this](int round, std::uint64_t seed) {
              *sum_ += piece_of_work(seed);
              ++done_[round % 2];
              while (done_[round_ % 2] == kPairWorkers - 1) {
                done_[round_ % 2] = 0;
                if (++round_ == rounds_) return finish_->arrive();
                send_round();
              }
            }};
  }

 private:
  void send_round() {
    for (int other = 0; other < kPairWorkers; ++other)
      if (other != number_) send((*all_)[static_cast<std::size_t>(other)], round_, pair_seed(number_, round_));
  }
  const std::vector<caf::actor>* all_;
  int number_, rounds_;
  Finish* finish_;
  std::uint64_t* sum_;
  int round_ = 0;
  int done_[2] = {};
};

class Joined : public caf::event_based_actor {
 public:
  Joined(caf::actor_config& config, Finish* finish, Count* count, int total)
      : caf::event_based_actor(config), finish_(finish), count_(count), total_(total) {}
  caf::behavior make_behavior() override {
    return {[this](double number) {
      sum_ += number * number;
      if (++count_->came == total_) finish_->arrive();
    }};
  }

 private:
  Finish* finish_;
  Count* count_;
  int total_;
  double sum_ = 0;
};

class Counter : public caf::event_based_actor {
 public:
  explicit Counter(caf::actor_config& config) : caf::event_based_actor(config) {}
  caf::behavior make_behavior() override {
    return {[this](Get) { return ++count_; }};
  }

 private:
  int count_ = 0;
};

class Asker : public caf::event_based_actor {
 public:
  Asker(caf::actor_config& config, caf::actor to, Finish* finish, Count* count)
      : caf::event_based_actor(config), to_(std::move(to)), finish_(finish), count_(count) {}
  caf::behavior make_behavior() override {
    return {[this](int left) { ask(left); }};
  }

 private:
  void ask(int left) {
    if (left == 0) return finish_->arrive();
    request(to_, caf::infinite, Get::value).then([this, left](int answer) {
      count_->came = answer;
      ask(left - 1);
    });
  }
  caf::actor to_;
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
  std::vector<caf::actor> all;
  double ns = 0;
  {
    System system(setting.threads);
    for (int i = 0; i < kBigActors; ++i)
      all.push_back(system.spawn<Everyone>(&all, i, setting.count, &finish, &counts[static_cast<std::size_t>(i)]));
    ns = ns_each(finish, 2LL * kBigActors * setting.count, [&] {
      for (const caf::actor& one : all) caf::anon_send(one, Go::value);
    });
    all.clear();  // before the system goes
  }
  for (const Count& count : counts) check_count("pongs", setting.count, count.came);
  return {ns};
}

Figures all_pairs(const Setting& setting) {
  Finish finish(kPairWorkers);
  std::vector<std::uint64_t> sums(kPairWorkers * 8);
  std::vector<caf::actor> all;
  double ns = 0;
  {
    System system(setting.threads);
    for (int i = 0; i < kPairWorkers; ++i)
      all.push_back(system.spawn<PairWorker>(&all, i, setting.count, &finish, &sums[8 * static_cast<std::size_t>(i)]));
    ns = ns_each(finish, 1LL * kPairWorkers * (kPairWorkers - 1) * setting.count, [&] {
      for (const caf::actor& one : all) caf::anon_send(one, Go::value);
    });
    all.clear();  // before the system goes
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
    System system(setting.threads);
    std::vector<caf::actor> all;
    for (Count& count : counts) all.push_back(system.spawn<Joined>(&finish, &count, each));
    ns = ns_each(finish, 1LL * each * kForkJoinActors, [&] {
      for (int i = 0; i < each; ++i)
        for (const caf::actor& one : all) caf::anon_send(one, static_cast<double>(i));
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
    System system(setting.threads);
    const caf::actor asker = system.spawn<Asker>(system.spawn<Counter>(), &finish, &count);
    ns = ns_each(finish, setting.count, [&] { caf::anon_send(asker, setting.count); });
  }
  check_count("answers", setting.count, count.came);
  return {ns};
}

Figures ask_from_thread(const Setting& setting) {
  System system(setting.threads);
  const caf::actor counter = system.spawn<Counter>();
  caf::scoped_actor self(system.itself());
  int last = 0;
  const std::vector<double> samples = ask_one_by_one_us(setting.count, {}, [&] {
    self->request(counter, caf::infinite, Get::value)
        .receive([&](int answer) { last = answer; }, [](const caf::error&) { give_up("CAF: an ask has failed"); });
  });
  check_count("answers", static_cast<std::int64_t>(samples.size()), last);
  return quantiles(samples, {0.5, 0.99, 0.999});
}

}  // namespace troupe::bench::actors::with_caf

#endif  // TROUPE_HAS_CAF
