#include "tests/chaos/plan.hpp"

#include <algorithm>
#include <span>

#include "tests/chaos/random.hpp"

namespace troupe::chaos {
namespace {

constexpr std::array<std::string_view, kDeeds> kDeedNames = {
    "fill",   "copy",        "transpose", "stripes",  "reverse",    "broadcast",    "cast_out", "cast_in",    "axpy",
    "scale",  "plugin_copy", "gemm",      "gemm_add", "write_host", "write_vector", "read",     "read_fresh", "sum",
    "renew",  "big",         "nop",       "give_up",  "keep",       "check_kept",   "layer",    "blend",      "solve",
    "sparse", "einsum",      "random",    "spectrum", "sort",       "greatest",     "gather",   "convolve"};

/// How many of a thousand steps.
constexpr std::array<std::uint32_t, kDeeds> kDeedShares = {60, 70, 40, 40, 30,  30, 40, 40, 50, 30, 50, 50,
                                                           30, 50, 40, 90, 100, 50, 40, 3,  20, 30, 30, 30,
                                                           40, 40, 30, 40, 40,  40, 40, 40, 30, 40, 40};

constexpr std::array<std::string_view, kFaultKinds> kFaultNames = {
    "null",           "abort",         "divide",        "exit",
    "stack",          "wild",          "memory_null",   "memory",
    "error",          "throw",         "loop",          "spin",
    "kill active",    "kill spare",    "kill starting", "illegal_address",
    "misaligned",     "trap",          "device_assert", "hang",
    "stop active",    "stop spare",    "pause active",  "scribble active",
    "scribble spare", "leave_process", "print",         "print_for_ever",
    "no descriptors", "write_sealed"};

/// On a GPU no plugin touches data, and most of what goes wrong goes wrong in kernels. Nobody scribbles there: its
/// streams wait for words in the memory that workers write, and would begin too early.
constexpr std::array<std::array<std::uint32_t, kFaultKinds>, 2> kFaultShares = {
    {{8, 7, 6, 7, 6, 7, 5, 5, 5, 5, 8, 8, 12, 12, 6, 0, 0, 0, 0, 0, 4, 4, 4, 7, 7, 6, 4, 4, 6, 6},
     {4, 4, 0, 4, 0, 0, 6, 7, 4, 4, 0, 0, 10, 6, 4, 10, 10, 9, 9, 9, 4, 3, 4, 0, 0, 4, 2, 3, 4, 7}}};
constexpr std::span<const std::uint32_t> shares(Target target) noexcept {
  return kFaultShares[static_cast<std::size_t>(target)];
}

template <class E>
E pick(Random& random, std::span<const std::uint32_t> shares) {
  std::uint32_t total = 0;
  for (const std::uint32_t share : shares) total += share;
  std::uint32_t left = random.below(total);
  std::size_t index = 0;
  while (left >= shares[index]) left -= shares[index++];
  return static_cast<E>(index);
}

/// Steps are faster on a GPU, and a worker takes not ten milliseconds to start but half a second.
void make_slower(Fault& fault, bool follows) noexcept {
  fault.after_steps *= 10;
  fault.delay_us *= 16;
  fault.waits_for_calm = !follows;
}

Fault make_fault(Random& random, Target target) {
  Fault fault;
  fault.kind = pick<FaultKind>(random, shares(target));
  // A third come right after another one, into the take-over: at once, or within the time that a worker starts in.
  const bool follows = random.in(35);
  fault.after_steps = follows ? 0 : static_cast<std::uint32_t>(random.between(5, 150));
  fault.delay_us = follows ? random.below(random.in(50) ? 1000 : 25'000) : random.below(500);
  fault.culprit = random.below(kCulprits);
  fault.touches = static_cast<Touches>(random.below(4));
  fault.edge = kEdges[random.below(kEdges.size() - 1)];
  fault.deadline_ms = static_cast<std::uint32_t>(random.between(15, 45));
  fault.pick = static_cast<std::uint32_t>(random.next() >> 40);
  if (target == Target::gpu) make_slower(fault, follows);
  return fault;
}

class Hash {
 public:
  void add(std::uint64_t value) noexcept { state_ = Random::mix(state_ ^ value) + 1; }
  std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

std::string_view name(Deed deed) noexcept { return kDeedNames[static_cast<std::size_t>(deed)]; }
std::string_view name(Touches touches) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"touches nothing", "reads", "writes", "updates"};
  return kNames[static_cast<std::size_t>(touches)];
}
std::string_view name(FaultKind kind) noexcept { return kFaultNames[static_cast<std::size_t>(kind)]; }
bool can_happen(FaultKind kind, Target target) noexcept { return shares(target)[static_cast<std::size_t>(kind)] != 0; }

Plan::Plan(std::uint64_t seed, std::uint32_t faults, std::uint32_t callers, Target target)
    : seed_(seed), callers_(callers) {
  Random random(Random::mix(seed) ^ 0xfa17);
  for (std::uint32_t i = 0; i < faults; ++i) faults_.push_back(make_fault(random, target));
}

std::uint32_t Plan::edge(std::uint32_t caller) const noexcept {
  return kEdges[(Random::mix(seed_) + caller) % kEdges.size()];
}

Step Plan::step(std::uint32_t caller, std::uint64_t index) const noexcept {
  Random random(Random::mix(seed_ ^ (std::uint64_t{caller} << 48)) ^ Random::mix(index));
  Step step{.deed = pick<Deed>(random, kDeedShares)};
  step.from = random.between(0, kSlots - 1);
  step.to = (step.from + random.between(1, kSlots - 1)) % kSlots;
  if (random.in(20)) step.from = kFirstShared + random.between(0, kShared - 1);
  step.value = random.between(-9, 9);
  step.waits = random.in(45);
  if (step.deed == Deed::cast_out || step.deed == Deed::random) step.to = kIntegers;
  if (step.deed == Deed::cast_in) step.from = kIntegers;
  if (step.deed == Deed::keep) step.from = step.to;
  return step;
}

std::uint64_t Plan::fingerprint() const noexcept {
  constexpr std::uint64_t kSteps = 1000;
  Hash hash;
  for (const Fault& fault : faults_) {
    hash.add(static_cast<std::uint64_t>(fault.kind) << 32 | fault.after_steps);
    hash.add(std::uint64_t{fault.delay_us} << 32 | fault.culprit);
    hash.add(static_cast<std::uint64_t>(fault.touches) << 32 | fault.edge);
    hash.add(std::uint64_t{fault.deadline_ms} << 32 | fault.pick);
  }
  for (std::uint32_t caller = 0; caller < callers_; ++caller) {
    hash.add(edge(caller));
    for (std::uint64_t i = 0; i < kSteps; ++i) {
      const Step next = step(caller, i);
      hash.add(static_cast<std::uint64_t>(next.deed) << 40 | static_cast<std::uint64_t>(next.from) << 32 |
               static_cast<std::uint64_t>(next.to) << 24 | static_cast<std::uint64_t>(next.value + 128) << 8 |
               static_cast<std::uint64_t>(next.waits));
    }
  }
  return hash.value();
}

}  // namespace troupe::chaos
