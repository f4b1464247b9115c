#include "bench/process_reference.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <new>
#include <system_error>

#include "bench/batches.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/table.hpp"
#include "troupe/wire/ring.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::bench {
namespace {

constexpr std::uint64_t kRingUnits = 4096;

/// A process like this one that runs one function; ends with this object, or with us.
class Twin {
 public:
  template <class Run>
  explicit Twin(const Run& run) : pid_(::fork()) {
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    run();
    ::_exit(0);
  }
  ~Twin() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

 private:
  const pid_t pid_;
};

/// Spins; after a while it lets others run, which only happens when the other side has no core to run on.
template <class Done>
void spin(const Done& done) noexcept {
  constexpr int kLooksPerYield = 10'000;
  for (int looks = 1; !done(); ++looks)
    if (looks % kLooksPerYield == 0) ::sched_yield();
}

struct alignas(128) Line {
  std::atomic<std::uint64_t> value{0};
  void wait_for(std::uint64_t wanted) const noexcept {
    spin([&] { return value.load(std::memory_order_acquire) == wanted; });
  }
};

struct PingPong {
  Line there;
  Line back;
};

wire::SharedMemory shared(std::uint64_t size_bytes) {
  wire::SharedMemory memory = value(wire::SharedMemory::create("troupe-bench", size_bytes));
  value(memory.commit(0, size_bytes));
  return memory;
}

/// Reads the records in order, for ever.
void consume(const wire::Ring& ring, Line& consumed) {
  for (wire::Position position = 0;;) {
    std::optional<wire::Record> record;
    spin([&] { return (record = ring.at(position)).has_value(); });
    position += record->units;
    consumed.value.store(position, std::memory_order_release);
  }
}

}  // namespace

double ping_pong_ns(int count) {
  wire::SharedMemory memory = shared(sizeof(PingPong));
  auto* const lines = new (memory.data()) PingPong;
  const Twin twin([lines] {
    for (std::uint64_t turn = 1;; ++turn) {
      lines->there.wait_for(turn);
      lines->back.value.store(turn, std::memory_order_release);
    }
  });
  constexpr int kPerBatch = 100;
  std::uint64_t turn = 0;
  return median_ns(count / kPerBatch, kPerBatch, [&] {
    lines->there.value.store(++turn, std::memory_order_release);
    lines->back.wait_for(turn);
  });
}

double ring_records_per_s(int count) {
  wire::SharedMemory memory = shared(sizeof(Line) + kRingUnits * wire::kUnitBytes);
  auto& consumed = *new (memory.data()) Line;
  wire::Ring ring(memory.data() + sizeof(Line), kRingUnits);
  wire::Writer record;
  op::encode(op::Nop{}, record);

  const Twin twin([&] { consume(ring, consumed); });
  wire::RingTail tail;
  wire::Position freed = 0;
  const auto push = [&](int records) {
    wire::Position end = 0;
    for (int i = 0; i < records; ++i) {
      std::optional<wire::RingSlot> slot;
      spin([&] {
        slot = tail.reserve(ring, record.bytes().size(), freed);
        if (slot) return true;
        const wire::Position free_to = consumed.value.load(std::memory_order_acquire);
        ring.free(freed, free_to - freed);
        freed = free_to;
        return false;
      });
      ring.commit(*slot, 0, record.bytes());
      end = slot->end();
    }
    consumed.wait_for(end);
  };
  push(count / 10);  // the twin is up and both have seen the memory
  const Stopwatch stopwatch;
  push(count);
  return 1e9 / stopwatch.ns_per(count);
}

}  // namespace troupe::bench
