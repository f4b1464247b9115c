// A worker is an adversary: while callers check their work, everything that workers write and the app reads is changed
// at random moments. The app does not crash, nothing waits for ever, no value is given for an op that did not run.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "tests/adversary/caller.hpp"
#include "tests/scribbler/scribbler.hpp"

namespace troupe::adversary {
namespace {

using namespace std::chrono_literals;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t rounds = 10'000;
  std::uint64_t seconds = 0;  // 0: no limit
  std::uint64_t callers = 3;
  bool verbose = false;
};

constexpr const char* kHelp =
    "usage: troupe_adversary [--rounds N] [--seconds N] [--seed N] [--callers N] [--verbose]\n"
    "Changes what workers write and the app reads, at random, while callers check their work.\n"
    "  --rounds N   how often (10000)\n"
    "  --seconds N  and no longer than that\n"
    "  --verbose    shows the system's log\n";

/// None when there is nothing to do.
std::optional<Options> read_options(int count, char** words, int& exit_code) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto number = [&](std::uint64_t& into) {
      char* end = nullptr;
      const char* const text = i + 1 < count ? words[++i] : "";
      into = std::strtoull(text, &end, 10);
      return *text != 0 && *end == 0;
    };
    const bool good = word == "--seed"      ? number(options.seed)
                      : word == "--rounds"  ? number(options.rounds)
                      : word == "--seconds" ? number(options.seconds)
                      : word == "--callers" ? number(options.callers)
                      : word == "--verbose" ? (options.verbose = true)
                                            : false;
    if (good) continue;
    exit_code = word == "--help" ? 0 : 2;
    std::fputs(kHelp, exit_code == 0 ? stdout : stderr);
    return std::nullopt;
  }
  return options;
}

/// Longer than any step may take: when none has ended for so long, something waits for ever.
constexpr auto kStalled = 120s;

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        plugin_((std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbad_plugin.so").string()),
        system_({.log = options.verbose ? log_to_stderr(LogLevel::info) : log_nothing()}),
        device_(value(system_.device("host", {.max_restarts = std::numeric_limits<int>::max()}))),
        scribbler_(options.seed) {}

  int run() {
    std::vector<std::thread> callers;
    for (std::uint64_t i = 0; i < options_.callers; ++i)
      callers.emplace_back([this, i] {
        Caller caller(device_, plugin_, options_.seed * 1000 + i, findings_);
        while (!stopping_.load()) caller.step();
        while (!is_quiet_.load()) std::this_thread::sleep_for(1ms);
        caller.last_step();
      });
    const std::uint64_t rounds = scribble_until_done();
    stopping_.store(true);
    settle();
    is_quiet_.store(true);
    for (std::thread& caller : callers) caller.join();
    return report(rounds);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t scribble_until_done() {
    std::uint64_t rounds = 0;
    std::mt19937_64 random(options_.seed);
    while (rounds < options_.rounds && (options_.seconds == 0 || Clock::now() - began_ < options_.seconds * 1s)) {
      const bool speaks = random() % 16 == 0;
      if (speaks) say_garbage(random() % 4 == 0);
      if (speaks || scribbler_.scribble()) ++rounds;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      watch(rounds);
    }
    return rounds;
  }
  /// The worker itself says something, or hangs up.
  void say_garbage(bool hangs_up) {
    const std::vector<std::byte> bytes = hangs_up ? std::vector<std::byte>() : scribbler_.garbage();
    (void)device_.call_plugin(plugin_, "say", {}, bytes).submit();
  }
  /// What was changed shows when it is looked at: a few ops, and the worker is another one.
  void settle() {
    Array<float> array = value(device_.array<float>({10}));
    for (int i = 0; i < 20; ++i) {
      (void)device_.fill(array, 1).deadline(30s).get();
      std::this_thread::sleep_for(50ms);
    }
  }
  void watch(std::uint64_t rounds) {
    const Clock::time_point now = Clock::now();
    if (std::exchange(steps_, findings_.steps.load()) != findings_.steps.load()) moved_ = now;
    if (now - moved_ > kStalled) {
      std::fprintf(stderr, "WRONG: nothing has ended for %lld s\n", static_cast<long long>(kStalled.count()));
      std::_Exit(1);
    }
    if (now - said_ < 1s || isatty(STDERR_FILENO) == 0) return;
    said_ = now;
    std::fprintf(stderr, "\r%" PRIu64 " changes, %" PRIu64 " steps, generation %" PRId64 "  ", rounds,
                 findings_.steps.load(), device_.generation());
  }
  int report(std::uint64_t rounds) {
    std::printf("seed %" PRIu64 ": %" PRIu64 " changes in %.0f s, %" PRId64 " workers served\n", options_.seed, rounds,
                std::chrono::duration<double>(Clock::now() - began_).count(), device_.generation());
    std::printf("%" PRIu64 " results were right, %" PRIu64 " ops ended in a typed error:", findings_.values.load(),
                findings_.errors.load());
    for (const auto& [kind, count] : findings_.by_kind()) std::printf(" %s %" PRIu64, kind.c_str(), count);
    std::printf("\n%" PRIu64 " things were wrong\n", findings_.wrong.load());
    if (findings_.values.load() == 0) std::printf("and nothing was ever right\n");
    const bool is_well = findings_.wrong.load() == 0 && findings_.values.load() > 0;
    std::puts(is_well ? "all as it must be" : "NOT as it must be");
    return is_well ? 0 : 1;
  }

  const Options options_;
  const std::string plugin_;
  System system_;
  Device device_;
  scribbling::Scribbler scribbler_;
  Findings findings_;
  std::atomic<bool> stopping_{false}, is_quiet_{false};
  const Clock::time_point began_ = Clock::now();
  Clock::time_point moved_ = began_, said_ = began_;
  std::uint64_t steps_ = 0;
};

}  // namespace
}  // namespace troupe::adversary

int main(int count, char** words) {
  int exit_code = 0;
  const std::optional<troupe::adversary::Options> options = troupe::adversary::read_options(count, words, exit_code);
  return options ? troupe::adversary::Run(*options).run() : exit_code;
}
