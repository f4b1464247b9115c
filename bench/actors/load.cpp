#include "bench/actors/load.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors {
namespace {

/// Pieces of work per microsecond: the fastest of several tries, for whatever else runs here only slows it down.
double measure_pieces_per_us() {
  constexpr int kTries = 50;
  constexpr int kPieces = 100;
  double best_ns = std::numeric_limits<double>::infinity();
  volatile std::uint64_t sink = 0;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point begin = Clock::now();
    for (int piece = 0; piece < kPieces; ++piece) sink = sink + piece_of_work(static_cast<std::uint64_t>(piece));
    best_ns = std::min(best_ns, ns_between(begin, Clock::now()));
  }
  return kPieces / (best_ns / 1000);
}

}  // namespace

void work_us(int us) {
  static const double pieces_per_us = measure_pieces_per_us();
  const int pieces = static_cast<int>(std::lround(pieces_per_us * us));
  std::uint64_t sum = 0;
  for (int piece = 0; piece < pieces; ++piece) sum += piece_of_work(sum);
  [[maybe_unused]] const volatile std::uint64_t kept = sum;  // so that it is computed
}

double quantile(std::vector<double> samples, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(samples.size())));
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(samples, place);
  return *place;
}

std::vector<double> room_for(int samples) {
  std::vector<double> room(static_cast<std::size_t>(samples), 0.0);
  room.clear();
  return room;
}

Figures quantiles(const std::vector<double>& samples, std::initializer_list<double> parts) {
  Figures figures;
  for (const double part : parts) figures.push_back(quantile(samples, part));
  return figures;
}

void WorkDone::settle() {
  ending = true;
  const Clock::time_point begin = Clock::now();
  while (handled.load() < sent.load()) {
    if (Clock::now() - begin > kPatience)
      give_up("hangs: of " + std::to_string(sent.load()) + " messages of work " + std::to_string(handled.load()) +
              " were handled");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  check_count("messages of work", sent.load(), handled.load());
}

HalfLoad::HalfLoad(int threads, WorkDone& done, SendWork send)
    : thread_([threads, &done, send = std::move(send)](const std::stop_token& token) {
        std::mt19937 random(7);
        std::exponential_distribution<double> gap_ns(0.5 * threads / (kHalfLoadWorkUs * 1000.0));
        const Clock::time_point begin = Clock::now();
        double due_ns = 0;
        for (int next = 0; !token.stop_requested(); ++next) {
          due_ns += gap_ns(random);
          std::this_thread::sleep_until(begin + std::chrono::nanoseconds(static_cast<std::int64_t>(due_ns)));
          done.sent.fetch_add(1);
          send(next % kHalfLoadActors);
        }
      }) {}

std::vector<double> ask_one_by_one_us(int count, std::chrono::milliseconds pause, const AskOnce& ask) {
  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < count && Clock::now() - begin < kLoadTrial; ++i) {
    const Clock::time_point sent = Clock::now();
    ask();
    samples.push_back(ns_between(sent, Clock::now()) / 1000);
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
  return samples;
}

std::vector<double> ask_when_due_us(int count, const AskOnce& ask) {
  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point too_late = begin + count * kAskPeriod + kLoadTrial;
  for (int i = 0; i < count; ++i) {
    Clock::time_point counts_from = begin + i * kAskPeriod;
    if (Clock::now() > too_late) {
      samples.push_back(ns_between(counts_from, Clock::now()) / 1000);  // so long at least
      continue;
    }
    if (Clock::now() < counts_from) {
      std::this_thread::sleep_until(counts_from);
      counts_from = Clock::now();  // that the kernel wakes this thread late is no side's doing
    }
    ask();
    samples.push_back(ns_between(counts_from, Clock::now()) / 1000);
  }
  return samples;
}

void go_when_due(int count, const std::function<void()>& go) {
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_until(begin + i * kAskPeriod);
    go();
  }
}

Figures bursts(int count, const std::vector<Clock::time_point>& began,
               const std::function<void(int actor, Finish& finish)>& send) {
  std::vector<double> lasted_ms;
  std::vector<double> last_began_ms;
  for (int i = 0; i < count; ++i) {
    Finish finish(kBurst);
    const Clock::time_point begin = Clock::now();
    for (int actor = 0; actor < kBurst; ++actor) send(actor, finish);
    lasted_ms.push_back(ns_between(begin, finish.wait()) / 1e6);
    last_began_ms.push_back(ns_between(begin, std::ranges::max(began)) / 1e6);
    finish.check();
  }
  return {quantile(lasted_ms, 0.5), quantile(lasted_ms, 1), quantile(last_began_ms, 0.5), quantile(last_began_ms, 1)};
}

}  // namespace troupe::bench::actors
