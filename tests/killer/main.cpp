// A killer a second: callers do small work on a device while one op a second kills its worker. The others are to notice
// next to nothing of it: none of their ops fails, the device is not lost, and 99 of 100 ops take less than twice as
// long.
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/killer/times.hpp"
#include "troupe/troupe.hpp"

namespace troupe::killer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "host";  // or "cuda"
  std::uint32_t seconds = 60;
  std::uint32_t callers = 4;
};

constexpr const char* kHelp =
    "troupe_killer: callers do small work on a device while one op a second kills its worker.\n"
    "\n"
    "  --device D    host or cuda (host)\n"
    "  --seconds T   how long; the first quarter of it, and at most 30 s, is without the killer (60)\n"
    "  --callers C   how many do the work (4)\n"
    "  --help        this\n"
    "\n"
    "Ends in 0 when the device was not lost, no op of the callers failed, and their p99 with the killer is less than\n"
    "twice their p99 without.\n";

/// What 99 of 100 ops may take with the killer, over what they take without.
constexpr double kMaxTimes = 2;
/// Longer than any op of the callers may take.
constexpr auto kPatience = 60s;
constexpr auto kBetweenKills = 1s;

// ---- the callers ----

enum class Phase : std::uint8_t { without_killer, with_killer, over };

struct Ends {
  std::uint64_t failed = 0;
  std::uint64_t device_lost = 0;
  std::string first_error;

  void add(const Result<void>& end) {
    if (end) return;
    ++failed;
    if (end.error().kind() == ErrorKind::device_lost) ++device_lost;
    if (first_error.empty()) first_error = end.error().to_string();
  }
  void add(const Ends& others) {
    failed += others.failed;
    device_lost += others.device_lost;
    if (first_error.empty()) first_error = others.first_error;
  }
};

struct Seen {
  Times without_killer, with_killer;
  Ends ends;
};

/// One op after another, of several lanes and none of them in place, until all is over or the device is lost.
Task<Result<void>> work(Device device, const std::atomic<Phase>* phase, Seen* seen) {
  const Array<float> from = CO_TRY(device.array<float>({32, 32}));
  const Array<float> to = CO_TRY(device.array<float>({32, 32}));
  CO_TRY(co_await device.fill(from, 1.0F));
  for (int turn = 0; seen->ends.device_lost == 0; ++turn) {
    const Phase now = phase->load();
    if (now == Phase::over) break;
    Times& times = now == Phase::without_killer ? seen->without_killer : seen->with_killer;
    const Clock::time_point begin = Clock::now();
    Result<void> end;
    if (turn % 3 == 0)
      end = co_await device.fill(to, 2.0F).wait_at_most(kPatience);
    else if (turn % 3 == 1)
      end = co_await device.copy(from, to).wait_at_most(kPatience);
    else
      end = co_await device.blas().gemm(from, from, to).wait_at_most(kPatience);
    times.add(Clock::now() - begin);
    seen->ends.add(end);
  }
  co_return {};
}

// ---- the killer ----

/// An op that costs the worker it runs in: a plugin's on the host, a kernel's on a GPU.
class DeadlyOp {
 public:
  explicit DeadlyOp(const Device& device)
      : device_(device),
        plugin_((std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbad_plugin.so").string()) {
    if (device.info().backend == "cuda") program_ = value(device.jit().compile(kSource).get());
  }
  Call<void> call(const ArrayUse& array) const {
    if (program_) return device_.jit().launch(*program_, "illegal", {}, array);
    return device_.call_plugin(plugin_, "null", {array});
  }

 private:
  static constexpr char kSource[] =
      R"(extern "C" __global__ void illegal(float* array) { *(volatile float*)16 = array[0]; })";

  Device device_;
  std::string plugin_;
  std::optional<Program> program_;
};

struct Kills {
  std::uint64_t submitted = 0;
  Ends refused;  // at their submission, or because the killer may not even write its array
};

/// By turns it writes its array without reading it, so that it can be tried a second time, and works in place.
Task<Result<void>> kill_until(Clock::time_point end_of_all, Device device, const DeadlyOp* deadly, Kills* kills) {
  const Array<float> array = CO_TRY(device.array<float>({16}));
  Clock::time_point next = Clock::now();
  for (int turn = 0; next < end_of_all && kills->refused.device_lost == 0; ++turn) {
    co_await sleep_for(next - Clock::now());
    const ArrayUse use = turn % 2 == 0 ? writes(array) : updates(array);
    Result<void> taken =
        co_await device.fill(array, 1.0F).wait_at_most(kPatience);  // what is tainted becomes good again
    if (taken) taken = co_await deadly->call(use).submit();
    kills->refused.add(taken);
    if (taken) {
      ++kills->submitted;
      (void)co_await device.wait_for(array).wait_at_most(kPatience);  // its end
    }
    next = std::max(next + kBetweenKills, Clock::now());
  }
  co_return {};
}

// ---- the run ----

void print(const char* what, const Times& times) {
  std::printf("%-28s %10" PRIu64 " ops: p50 %.1f us, p99 %.1f us, longest %.2f ms\n", what, times.count(),
              times.quantile_us(0.5), times.quantile_us(0.99), times.longest_us() / 1000);
}

void print(const char* what, std::uint64_t count) { std::printf("%-28s %10" PRIu64 "\n", what, count); }

void print(const char* what, const Ends& ends) {
  print(what, ends.failed);
  if (!ends.first_error.empty()) std::printf("  the first: %s\n", ends.first_error.c_str());
}

int report(const Seen& seen, const Kills& kills, std::int64_t workers_lost) {
  const std::uint64_t device_lost = seen.ends.device_lost + kills.refused.device_lost;
  const double times = seen.with_killer.quantile_us(0.99) / seen.without_killer.quantile_us(0.99);
  print("without the killer", seen.without_killer);
  print("with it", seen.with_killer);
  std::printf("p99 with it, over without    %10.2f\n", times);
  print("deadly ops submitted", kills.submitted);
  print("  refused", kills.refused);
  print("workers lost as they served", static_cast<std::uint64_t>(workers_lost));
  print("device_lost", device_lost);
  print("ops of others that failed", seen.ends);
  const bool good = device_lost == 0 && seen.ends.failed == 0 && times < kMaxTimes && kills.submitted > 0;
  std::puts(good ? "all as it must be" : "NOT as it must be");
  return good ? 0 : 1;
}

int run(const Options& options) {
  const rlimit no_core_files{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core_files);
  System system({.log = log_nothing()});
  const Device device = value(system.device(options.device));
  const DeadlyOp deadly(device);
  std::printf("%s, %u callers, %u s\n", device.info().name.c_str(), options.callers, options.seconds);

  std::atomic<Phase> phase = Phase::without_killer;
  std::vector<Seen> all(options.callers);
  std::vector<Result<void>> ends(options.callers);
  std::vector<std::jthread> callers;  // each is an actor of its own
  for (std::uint32_t i = 0; i < options.callers; ++i)
    callers.emplace_back([&, i] { ends[i] = system.run(work(device, &phase, &all[i])); });

  const Clock::time_point end_of_all = Clock::now() + std::chrono::seconds(options.seconds);
  std::this_thread::sleep_for(std::min<Clock::duration>(std::chrono::milliseconds(options.seconds * 250), 30s));
  const std::int64_t generation = device.generation();
  phase = Phase::with_killer;
  Kills kills;
  const Result<void> killed = system.run(kill_until(end_of_all, device, &deadly, &kills));
  std::this_thread::sleep_until(end_of_all);
  phase = Phase::over;
  callers.clear();  // waits for them

  Seen seen;
  seen.ends.add(killed);
  for (std::uint32_t i = 0; i < options.callers; ++i) {
    seen.without_killer.add(all[i].without_killer);
    seen.with_killer.add(all[i].with_killer);
    seen.ends.add(all[i].ends);
    seen.ends.add(ends[i]);
  }
  return report(seen, kills, device.generation() - generation);
}

// ---- the command line ----

bool read_number(std::string_view text, std::uint32_t most, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && 1 <= number && number <= most;
}

bool read_option(std::string_view name, std::string_view text, Options& options) {
  if (name == "--device") return text == "host" || text == "cuda" ? (options.device = text, true) : false;
  if (name == "--seconds") return read_number(text, 1'000'000, options.seconds);
  if (name == "--callers") return read_number(text, 64, options.callers);
  return false;
}

}  // namespace
}  // namespace troupe::killer

int main(int count, char** words) {
  namespace killer = troupe::killer;
  killer::Options options;
  for (int i = 1; i < count; i += 2) {
    if (std::string_view(words[i]) == "--help") {
      std::fputs(killer::kHelp, stdout);
      return 0;
    }
    if (i + 1 >= count || !killer::read_option(words[i], words[i + 1], options)) {
      std::fprintf(stderr, "troupe_killer: %s: what is wanted there? See --help.\n", words[i]);
      return 2;
    }
  }
  try {
    return killer::run(options);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "troupe_killer: %s\n", exception.what());
    return 1;
  }
}
