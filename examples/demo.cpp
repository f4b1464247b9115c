// The tour that `./dev demo` runs: what a device promises, shown and checked, then what it costs. It runs on whatever
// device this machine has, and exits non-zero when something it shows does not hold.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Writes the tour to standard output, and remembers whether all of it held.
class Narrator {
 public:
  explicit Narrator(bool colours) : colours_(colours) {}

  void title(std::string_view text) { print("\n" + painted("1", text)); }
  void says(const std::string& text) { print("   " + text); }
  void check(bool holds, const std::string& text) {
    print("   " + (holds ? painted("32", "ok  ") : painted("31", "FAIL")) + " " + text);
    all_hold_ &= holds;
  }
  bool all_hold() const { return all_hold_; }

 private:
  static void print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
  std::string painted(const char* code, std::string_view text) const {
    return colours_ ? "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m" : std::string(text);
  }

  const bool colours_;
  bool all_hold_ = true;
};

template <class... Args>
std::string format(const char* pattern, Args... args) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, args...);
  return text.data();
}

TimePoint now() { return std::chrono::steady_clock::now(); }
double ms_of(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
double ms_since(TimePoint began) { return ms_of(now() - began); }

std::string first_words(const Error& error) {
  std::string text = error.to_string();
  if (const std::size_t backtrace = text.find('\n'); backtrace != std::string::npos) text.resize(backtrace);
  return text;
}

/// The ops that no library has: examples/plugins/demo_plugin.cpp, beside this program.
class DemoPlugin {
 public:
  Call<void> crash(const Device& device, std::vector<ArrayUse> arrays = {}) const {
    // Of a new caller each time: one whose op has crashed before runs it alone, where it costs nobody a worker.
    const Device caller = device.as("caller " + std::to_string(++callers_));
    return caller.call_plugin(path_, "crash", std::move(arrays));
  }
  Call<void> hang(const Device& device, std::vector<ArrayUse> arrays = {}) const {
    return device.call_plugin(path_, "hang", std::move(arrays));
  }
  Call<void> spin(const Device& device, std::int32_t ms, std::vector<ArrayUse> arrays) const {
    return device.call_plugin(path_, "spin_ms", std::move(arrays), std::as_bytes(std::span(&ms, 1)));
  }
  Call<void> scale(const Device& device, const Array<float>& vector, float factor) const {
    return device.call_plugin(path_, "scale", {updates(vector)}, std::as_bytes(std::span(&factor, 1)));
  }

 private:
  std::string path_ = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  mutable std::atomic<int> callers_{0};
};

struct Tour {
  Narrator& narrator;
  System& system;
  Device device;
  DemoPlugin plugin = {};
};

// ---- 1: a multiplication ----

void show_a_multiplication(Tour& tour) {
  constexpr std::int64_t kRows = 500, kInner = 400, kColumns = 300;
  tour.narrator.title("1. Multiply two matrices");
  const Device& device = tour.device;
  Array<float> a = value(device.array<float>({kRows, kInner}));
  Array<float> b = value(device.array<float>({kInner, kColumns}));
  Array<float> c = value(device.array<float>({kRows, kColumns}));
  HostArray<float> host_a = value(device.host_array<float>(a.shape()));
  HostArray<float> host_b = value(device.host_array<float>(b.shape()));
  for (std::int64_t i = 0; i < host_a.size(); ++i) host_a[i] = static_cast<float>(i * 7 % 13) - 6.0f;
  for (std::int64_t i = 0; i < host_b.size(); ++i) host_b[i] = static_cast<float>(i * 5 % 11) - 5.0f;
  value(device.write(a, host_a).get());
  value(device.write(b, host_b).get());
  value(device.blas().gemm(a, b, c).get());  // the first one opens the library

  const TimePoint began = now();
  value(device.blas().gemm(a, b, c).get());
  const double took_ms = ms_since(began);
  const HostArray<float> product = value(device.read(c).get());

  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      float sum = 0;  // of small whole numbers: every order of adding them gives the same
      for (std::int64_t k = 0; k < kInner; ++k) sum += host_a[i * kInner + k] * host_b[k * kColumns + j];
      wrong += sum != product[i * kColumns + j];
    }
  tour.narrator.says(format("[%ld, %ld] times [%ld, %ld] in f32: %.2f ms, %.1f GFLOP/s", kRows, kInner, kInner,
                            kColumns, took_ms, 2.0 * kRows * kInner * kColumns / took_ms / 1e6));
  tour.narrator.check(wrong == 0,
                      format("%ld of %ld elements differ from a loop in this process", wrong, product.size()));
  const Result<void> refused = device.blas().gemm(a, a, c).get();
  tour.narrator.check(!refused, "what does not fit is refused here, before anything is sent: " +
                                    (refused ? "it was not" : refused.error().to_string()));
}

// ---- 2: lanes ----

/// How long it takes until all of them have ended, in milliseconds.
Task<Result<double>> time_all(std::vector<Task<Result<void>>> calls) {
  const TimePoint began = now();
  for (Result<void>& result : co_await when_all(std::move(calls))) CO_TRY(std::move(result));
  co_return ms_since(began);
}

void show_lanes(Tour& tour) {
  constexpr std::int32_t kMs = 80;
  tour.narrator.title("2. Two lanes overlap, unless they touch the same memory");
  Device device = value(tour.system.device("host", {.lanes = Lanes::pool(2)}));
  Array<float> a = value(device.array<float>({1000}));
  Array<float> b = value(device.array<float>({1000}));
  const auto spin = [&](const Array<float>& array) { return tour.plugin.spin(device, kMs, {writes(array)}); };
  value(device.fill(a, 0.0f).get());

  double in_turn = 0, together = 0;
  for (int tries = 0; tries < 5 && together >= 0.8 * in_turn; ++tries) {  // a busy machine may come between
    const TimePoint began = now();
    value(spin(a).get());
    value(spin(b).get());
    in_turn = ms_since(began);
    std::vector<Task<Result<void>>> pair;
    pair.push_back(spin(a));
    pair.push_back(spin(b));
    together = value(tour.system.run(time_all(std::move(pair))));
  }
  tour.narrator.says(format("Two ops of %d ms each that write different arrays:", kMs));
  tour.narrator.check(together < 0.8 * in_turn,
                      format("one after the other %.0f ms, submitted together %.0f ms", in_turn, together));

  // Each step goes to the other lane, and waits for the one before because of what both touch.
  constexpr int kSteps = 10;
  value(device.fill(a, 1.0f).submit());
  for (int i = 0; i < kSteps; ++i) {
    value(tour.plugin.spin(device, 2, {updates(a)}).submit());
    value(tour.plugin.scale(device, a, 2.0f).submit());
  }
  const float last = value(device.read(a).get())[999];
  tour.narrator.check(last == 1024.0f,
                      format("%d dependent steps across the lanes, nobody waits but the read: 2^%d = %g", 2 * kSteps,
                             kSteps, static_cast<double>(last)));
}

// ---- 3: crashes ----

/// The longest time in which none of several callers had an op done. Beaten by one thread, asked by another.
class Pulse {
 public:
  void beat() {
    const std::int64_t at = now().time_since_epoch().count();
    const std::int64_t pause = at - std::exchange(last_, at);
    if (pause > longest_.load()) longest_ = pause;
  }
  double longest_ms_since_last_asked() { return ms_of(Duration(longest_.exchange(0))); }

 private:
  std::int64_t last_ = now().time_since_epoch().count();
  std::atomic<std::int64_t> longest_ = 0;
};

/// One caller of several. Its matrix goes round: a multiplication by the matrix of a cyclic shift moves every column to
/// the right by one, exactly. Every step reads what the step before wrote, across every crash.
struct Caller {
  static constexpr std::int64_t kSize = 48;

  int done = 0;
  int failed = 0;
  bool whole = false;  // at the end it has exactly what it must have

  Task<Result<void>> work(Device device, float seed, Pulse* pulse, const std::atomic<bool>* enough) {
    std::vector<float> first(kSize * kSize), shift(kSize * kSize, 0.0f);
    std::iota(first.begin(), first.end(), seed);
    for (std::int64_t k = 0; k < kSize; ++k) shift[static_cast<std::size_t>(k * kSize + (k + 1) % kSize)] = 1.0f;
    Array<float> now_at = CO_TRY(device.array<float>({kSize, kSize}));
    Array<float> next = CO_TRY(device.array<float>({kSize, kSize}));
    Array<float> by = CO_TRY(device.array<float>({kSize, kSize}));
    CO_TRY(co_await device.write(now_at, first));
    CO_TRY(co_await device.write(by, shift));
    while (!enough->load() || done % kSize != 0) {
      const Result<void> step = co_await device.blas().gemm(now_at, by, next);
      pulse->beat();
      step ? ++done : ++failed;
      if (!step) break;
      std::swap(now_at, next);
    }
    const HostArray<float> last = CO_TRY(co_await device.read(now_at));  // after full turns it is the first again
    whole = std::equal(first.begin(), first.end(), last.begin(), last.end());
    co_return {};
  }
};

std::uint64_t checksum(const HostArray<std::uint32_t>& array) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::uint32_t element : array) hash = (hash ^ element) * 1099511628211U;
  return hash;
}

/// Arrays that nobody touches meanwhile.
class Treasure {
 public:
  explicit Treasure(const Device& device) : device_(device) {
    for (std::uint32_t i = 0; i < kArrays; ++i) {
      arrays_.push_back(value(device.array<std::uint32_t>({kElements})));
      HostArray<std::uint32_t> content = value(device.host_array<std::uint32_t>({kElements}));
      for (std::int64_t k = 0; k < kElements; ++k) content[k] = static_cast<std::uint32_t>(k) * 2654435761U + i;
      value(device.write(arrays_.back(), content).get());
    }
  }
  std::uint64_t checksum_now() const {
    std::uint64_t sum = 0;
    for (const auto& array : arrays_) sum = sum * 31 + checksum(value(device_.read(array).get()));
    return sum;
  }
  std::string size() const { return format("%d arrays, %ld MiB", kArrays, kArrays * kElements * 4 >> 20); }

 private:
  static constexpr std::uint32_t kArrays = 8;
  static constexpr std::int64_t kElements = 2 << 20;
  const Device& device_;
  std::vector<Array<std::uint32_t>> arrays_;
};

/// Tells what becomes of the device, when it happens.
class Reporter {
 public:
  explicit Reporter(Narrator* narrator) : narrator_(narrator) {}
  void on(const GenerationChanged& event) {
    narrator_->says(format("     ... generation %ld has taken over", static_cast<long>(event.generation)));
  }

 private:
  Narrator* narrator_;
};

Task<Result<void>> run_all(std::array<Caller, 4>* callers, Device device, Pulse* pulse,
                           const std::atomic<bool>* enough) {
  std::vector<Task<Result<void>>> tasks;
  for (std::size_t i = 0; i < callers->size(); ++i)
    tasks.push_back((*callers)[i].work(device, static_cast<float>(1000 * i), pulse, enough));
  for (Result<void>& result : co_await when_all(std::move(tasks))) CO_TRY(std::move(result));
  co_return {};
}

void show_crashes(Tour& tour) {
  constexpr int kCrashes = 3;
  Narrator& narrator = tour.narrator;
  const Device& device = tour.device;
  narrator.title("3. Crash workers under the work of others");
  const Treasure treasure(device);
  const std::uint64_t before = treasure.checksum_now();
  const std::int64_t generation = device.generation();
  Ref<Reporter> reporter = value(tour.system.spawn<Reporter>({}, &narrator));
  device.watch_generation(reporter);
  narrator.says("Four callers multiply, each step on what the step before wrote. A fifth calls a kernel that");
  narrator.says("dereferences null, " + std::to_string(kCrashes) +
                " times; then somebody kills the worker with kill -9.");

  std::array<Caller, 4> callers;
  std::atomic<bool> enough = false;
  Pulse pulse;
  Result<void> all;
  std::jthread others([&] { all = tour.system.run(run_all(&callers, device, &pulse, &enough)); });
  int told = 0;
  for (int i = 0; i < kCrashes; ++i) {
    std::this_thread::sleep_for(200ms);  // so that it is in the middle of their work
    (void)pulse.longest_ms_since_last_asked();
    const Result<void> crash = tour.plugin.crash(device).get();
    told += !crash && crash.error().kind() == ErrorKind::worker_crashed;
    narrator.says("the fifth caller got: " + (crash ? "a value" : first_words(crash.error())));
    narrator.says(format("     the next op of the others was done after %.1f ms", pulse.longest_ms_since_last_asked()));
  }
  std::this_thread::sleep_for(200ms);
  const int victim = device.worker_pid();
  (void)pulse.longest_ms_since_last_asked();
  while (!device.kill_worker()) std::this_thread::sleep_for(1ms);
  narrator.says("kill -9 " + std::to_string(victim));
  std::this_thread::sleep_for(200ms);
  narrator.says(format("     the next op of the others was done after %.1f ms", pulse.longest_ms_since_last_asked()));
  enough = true;
  others.join();
  reporter.stop();

  int done = 0, failed = 0, whole = 0;
  for (const Caller& caller : callers) {
    done += caller.done;
    failed += caller.failed;
    whole += caller.whole;
  }
  narrator.check(told == kCrashes, format("%d of %d crashes ended in worker_crashed for their caller", told, kCrashes));
  narrator.check(all && failed == 0 && whole == 4,
                 format("the others: %d ops done, %d failed; %d of 4 chains have exactly what they must have", done,
                        failed, whole));
  const std::uint64_t after = treasure.checksum_now();
  narrator.check(before == after,
                 treasure.size() + format(" beside it: checksum %016lx before, %016lx after", before, after));
  narrator.check(device.generation() == generation + kCrashes + 1,
                 format("generation %ld before, %ld after: one per death", static_cast<long>(generation),
                        static_cast<long>(device.generation())));
}

// ---- 4: a hang ----

void show_a_deadline(Tour& tour) {
  tour.narrator.title("4. Stop an op that hangs");
  const Device& device = tour.device;
  Array<float> kept = value(device.array<float>({1000}));
  Array<float> written = value(device.array<float>({1000}));
  value(device.fill(kept, 1.0f).get());
  value(device.fill(written, 2.0f).get());
  Result<void> hung;
  double took = 0;
  for (int tries = 0; tries < 10; ++tries) {
    const TimePoint began = now();
    hung = tour.plugin.hang(device, {reads(kept), updates(written)}).deadline(150ms).get();
    took = ms_since(began);
    // On a busy machine the deadline can pass before the op begins, which costs nobody anything.
    if (hung || hung.error().message().find("before the op began") == std::string_view::npos) break;
  }
  tour.narrator.says("An op that never returns, with a deadline of 150 ms, while it writes an array:");
  tour.narrator.check(!hung && hung.error().kind() == ErrorKind::deadline_exceeded,
                      format("after %.1f ms: ", took) + (hung ? "a value" : first_words(hung.error())));
  const Result<HostArray<float>> input = device.read(kept).get();
  tour.narrator.check(input && (*input)[0] == 1.0f, "what it only read is as it was");
  const Result<HostArray<float>> output = device.read(written).get();
  tour.narrator.check(!output && output.error().kind() == ErrorKind::buffer_tainted,
                      "what it was writing: " + (output ? "a value" : first_words(output.error())));
  value(device.fill(written, 3.0f).get());
  tour.narrator.check(value(device.read(written).get())[999] == 3.0f, "written whole, it is good again");
}

// ---- 5: latencies ----

/// How long each call took: `count` of them, or as many as fit into a second, after a tenth as many to warm up.
template <class F>
std::vector<Duration> time_each(int count, F call) {
  std::vector<Duration> samples;
  const TimePoint end = now() + 1s;
  for (int i = -count / 10; i < count && (samples.empty() || now() < end); ++i) {
    const TimePoint began = now();
    call();
    if (i >= 0) samples.push_back(now() - began);
  }
  return samples;
}

/// A new worker opens its libraries in a thread beside its work, and so does its standby; on two cores that would be
/// measured, too.
void settle(const Device& device) {
  for (const TimePoint end = now() + 300ms; now() < end;) value(device.nop().get());
}

/// From inside the kernel, just before it crashes, to the end of the next op, in a worker that was not there before.
std::vector<Duration> time_crashes(const Tour& tour, const Device& device, int count) {
  HostArray<std::int64_t> crashed_at = value(device.host_array<std::int64_t>({1}));
  std::vector<Duration> samples;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(100ms);  // the next standby is ready by then
    (void)tour.plugin.crash(device, {updates(crashed_at)}).get();
    value(device.nop().get());
    samples.push_back(now().time_since_epoch() - Duration(crashed_at[0]));
    value(device.fill(crashed_at, std::int64_t{0}).get());
  }
  return samples;
}

void row(Narrator& narrator, const char* what, std::vector<Duration> samples, const char* note) {
  std::ranges::sort(samples);
  const auto us = [&](std::size_t percent) {
    return static_cast<double>(samples[(samples.size() - 1) * percent / 100].count()) / 1e3;
  };
  narrator.says(format("%-36s %10.1f us %10.1f us   %s", what, us(50), us(95), note));
}

void show_latencies(Tour& tour) {
  Narrator& narrator = tour.narrator;
  narrator.title("5. What it costs, on this machine, now");
  narrator.says(format("%-36s %13s %13s", "", "median", "95 of 100"));
  Device device = value(tour.system.device("host", {.max_restarts = 1000}));
  Array<float> small = value(device.array<float>({256}));
  std::array<Array<float>, 3> matrices;
  for (Array<float>& matrix : matrices) {
    matrix = value(device.array<float>({64, 64}));
    value(device.fill(matrix, 1.0f).get());
  }
  settle(device);
  row(narrator, "no-op, there and back", time_each(5000, [&] { value(device.nop().get()); }),
      "into the worker and back");
  row(narrator, "fill of 256 f32", time_each(5000, [&] { value(device.fill(small, 1.0f).get()); }), "");
  row(narrator, "multiplication of 64 x 64 f32",
      time_each(1000, [&] { value(device.blas().gemm(matrices[0], matrices[1], matrices[2]).get()); }), "");
  row(narrator, "allocate and free 1 MiB", time_each(5000, [&] { value(device.array<float>({1 << 18})); }),
      "no system call");
  row(narrator, "crash to next op done", time_crashes(tour, device, 15), "from the faulting instruction");
  narrator.check(device.generation() == 16, format("%ld generations", static_cast<long>(device.generation())));
}

int usage(std::FILE* to, int status) {
  std::fputs(
      "usage: troupe_demo [--help]\n"
      "A tour of Troupe; it takes less than a minute. Exits with 1 when something it shows does not hold.\n"
      "Colours are used on a terminal, unless NO_COLOR is set.\n",
      to);
  return status;
}

void run_tour(Narrator& narrator) {
  narrator.title("Troupe: supervised accelerators for C++ services.");
  System system({.log = log_nothing()});  // by default a new generation is a warning on standard error
  for (const DeviceInfo& info : system.devices())
    narrator.says(format("device %d: %s (%s), %.1f GiB", info.index, info.name.c_str(), info.backend.c_str(),
                         static_cast<double>(info.memory_bytes) / (1 << 30)));
  const TimePoint began = now();
  Tour tour{.narrator = narrator, .system = system, .device = value(system.device("host"))};
  narrator.says(format("device 0 opened in %.1f ms: worker process %d, a standby beside it", ms_since(began),
                       tour.device.worker_pid()));
  show_a_multiplication(tour);
  show_lanes(tour);
  show_crashes(tour);
  show_a_deadline(tour);
  show_latencies(tour);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") return usage(stdout, 0);
  if (argc > 1) return usage(stderr, 2);
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): one thread so far
  Narrator narrator(isatty(STDOUT_FILENO) && !(no_color && *no_color));
  try {
    run_tour(narrator);
  } catch (const std::exception& exception) {
    narrator.check(false, std::string("an exception ended the tour: ") + exception.what());
  }
  std::printf("\n%s\n", narrator.all_hold() ? "All of it held." : "Something did not hold; see FAIL above.");
  return narrator.all_hold() ? 0 : 1;
}
