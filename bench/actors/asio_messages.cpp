#include "bench/actors/asio.hpp"

#if TROUPE_HAS_ASIO

#include <future>
#include <memory>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors::with_asio {
namespace {

struct Player {
  Strand strand;
  Finish* finish;
  Player* next = nullptr;

  void ball(int left) {
    if (left == 0) return finish->arrive();
    asio::defer(next->strand, [to = next, left] { to->ball(left - 1); });
  }
};

Figures play(const Setting& setting, int players) {
  Finish finish(1);
  double ns = 0;
  {
    Pool pool(setting.threads);
    std::vector<std::unique_ptr<Player>> all;
    for (int i = 0; i < players; ++i) all.push_back(std::make_unique<Player>(pool.strand(), &finish));
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->next = all[(i + 1) % all.size()].get();
    ns = ns_each(finish, setting.count, [&] {
      asio::post(all[0]->strand, [first = all[0].get(), count = setting.count] { first->ball(count); });
    });
    pool.join();
  }
  finish.check();
  return {ns};
}

struct Consumer {
  Strand strand;
  Finish* finish;
  Count* count;
  int total;
  int next[kProducers] = {};

  void item(int producer, int number) {
    if (number != next[producer]++) ++count->out_of_order;
    if (++count->came == total) finish->arrive();
  }
};

struct Producer {
  Strand strand;
  Consumer* to;
  int number, items;

  void go() {
    for (int i = 0; i < items; ++i) asio::post(to->strand, [this, i] { to->item(number, i); });
  }
};

Figures produce(const Setting& setting, int producers) {
  const int items = setting.count / producers;
  const int total = items * producers;
  Finish finish(1);
  Count count;
  double ns = 0;
  {
    Pool pool(setting.threads);
    Consumer consumer{.strand = pool.strand(), .finish = &finish, .count = &count, .total = total};
    std::vector<Producer> all;
    for (int i = 0; i < producers; ++i) all.push_back({pool.strand(), &consumer, i, items});
    ns = ns_each(finish, total, [&] {
      for (Producer& producer : all) asio::post(producer.strand, [&producer] { producer.go(); });
    });
    pool.join();
  }
  check_count("items", total, count.came);
  check_count("items in order", total, total - count.out_of_order);
  return {ns};
}

struct Everyone {
  Strand strand;
  std::vector<std::unique_ptr<Everyone>>* all;
  int number, left;
  Finish* finish;
  Count* count;
  Dice dice;

  void ping() {
    Everyone& other = *(*all)[static_cast<std::size_t>((number + 1 + dice.below(kBigActors - 1)) % kBigActors)];
    asio::defer(other.strand, [this, &other] { other.pinged(*this); });
  }
  void pinged(Everyone& from) {
    asio::defer(from.strand, [&from] { from.pong(); });
  }
  void pong() {
    ++count->came;
    if (--left == 0) return finish->arrive();
    ping();
  }
};

struct PairWorker {
  Strand strand;
  std::vector<std::unique_ptr<PairWorker>>* all;
  int number, rounds;
  Finish* finish;
  std::uint64_t sum = 0;
  int round = 0;
  int done[2] = {};

  void send_round() {
    for (const auto& other : *all)
      if (other.get() != this)
        asio::post(other->strand,
                   [to = other.get(), in = round, seed = pair_seed(number, round)] { to->piece(in, seed); });
  }
  void piece(int in, std::uint64_t seed) {
    sum += piece_of_work(seed);
    ++done[in % 2];
    while (done[round % 2] == kPairWorkers - 1) {
      done[round % 2] = 0;
      if (++round == rounds) return finish->arrive();
      send_round();
    }
  }
};

struct Joined {
  Strand strand;
  Finish* finish;
  Count* count;
  int total;
  double sum = 0;

  void item(double number) {
    sum += number * number;
    if (++count->came == total) finish->arrive();
  }
};

struct Counter {
  Strand strand;
  int count = 0;
};

struct Asker {
  Strand strand;
  Counter* to;
  Finish* finish;
  Count* count;

  void ask(int left) {
    if (left == 0) return finish->arrive();
    asio::defer(to->strand, [this, left] {
      const int answer = ++to->count;
      asio::defer(strand, [this, answer, left] {
        count->came = answer;
        ask(left - 1);
      });
    });
  }
};

}  // namespace

Figures ping_pong(const Setting& setting) { return play(setting, 2); }
Figures ring(const Setting& setting) { return play(setting, kRingActors); }
Figures counting(const Setting& setting) { return produce(setting, 1); }
Figures many_to_one(const Setting& setting) { return produce(setting, kProducers); }

Figures big(const Setting& setting) {
  Finish finish(kBigActors);
  std::vector<Count> counts(kBigActors);
  double ns = 0;
  {
    Pool pool(setting.threads);
    std::vector<std::unique_ptr<Everyone>> all;
    for (int i = 0; i < kBigActors; ++i)
      all.push_back(std::make_unique<Everyone>(pool.strand(), &all, i, setting.count, &finish,
                                               &counts[static_cast<std::size_t>(i)],
                                               Dice(static_cast<std::uint32_t>(i))));
    ns = ns_each(finish, 2LL * kBigActors * setting.count, [&] {
      for (const auto& one : all) asio::post(one->strand, [from = one.get()] { from->ping(); });
    });
    pool.join();
  }
  for (const Count& count : counts) check_count("pongs", setting.count, count.came);
  return {ns};
}

Figures all_pairs(const Setting& setting) {
  Finish finish(kPairWorkers);
  std::uint64_t sum = 0;
  double ns = 0;
  {
    Pool pool(setting.threads);
    std::vector<std::unique_ptr<PairWorker>> all;
    for (int i = 0; i < kPairWorkers; ++i)
      all.push_back(std::make_unique<PairWorker>(pool.strand(), &all, i, setting.count, &finish));
    ns = ns_each(finish, 1LL * kPairWorkers * (kPairWorkers - 1) * setting.count, [&] {
      for (const auto& one : all) asio::post(one->strand, [from = one.get()] { from->send_round(); });
    });
    pool.join();
    for (const auto& one : all) sum += one->sum;
  }
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
    Pool pool(setting.threads);
    std::vector<std::unique_ptr<Joined>> all;
    for (Count& count : counts) all.push_back(std::make_unique<Joined>(pool.strand(), &finish, &count, each));
    ns = ns_each(finish, 1LL * each * kForkJoinActors, [&] {
      for (int i = 0; i < each; ++i)
        for (const auto& one : all) asio::post(one->strand, [to = one.get(), i] { to->item(i); });
    });
    pool.join();
  }
  for (const Count& count : counts) check_count("messages", each, count.came);
  return {ns};
}

Figures ask_in_actor(const Setting& setting) {
  Finish finish(1);
  Count count;
  double ns = 0;
  {
    Pool pool(setting.threads);
    Counter counter{.strand = pool.strand()};
    Asker asker{pool.strand(), &counter, &finish, &count};
    ns = ns_each(finish, setting.count, [&] { asio::post(asker.strand, [&] { asker.ask(setting.count); }); });
    pool.join();
  }
  check_count("answers", setting.count, count.came);
  return {ns};
}

Figures ask_from_thread(const Setting& setting) {
  Pool pool(setting.threads);
  Counter counter{.strand = pool.strand()};
  int last = 0;
  const std::vector<double> samples = ask_one_by_one_us(setting.count, {}, [&] {
    std::promise<int> promise;
    std::future<int> answer = promise.get_future();
    asio::post(counter.strand, [&, promise = std::move(promise)]() mutable { promise.set_value(++counter.count); });
    last = answer.get();
  });
  pool.join();
  check_count("answers", static_cast<std::int64_t>(samples.size()), last);
  return quantiles(samples, {0.5, 0.99, 0.999});
}

}  // namespace troupe::bench::actors::with_asio

#endif  // TROUPE_HAS_ASIO
