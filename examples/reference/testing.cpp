// The names for tests of actors, one by one. The reference shows what stands between `// example:` and `// end`.
#include "examples/reference/expect.hpp"
#include "troupe/actor/testkit.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Done {
  int job = 0;
};
struct Start {
  RefTo<Done> whom;
};
class Worker {
 public:
  Task<> on(Start start) {
    co_await sleep_for(1h);  // virtual time: no time at all
    (void)start.whom.tell<Done>(7);
  }
};

void a_probe() {
  // example: Probe, kProbePatience
  System system({.deterministic_seed = 1});
  Probe<Done> probe(system);
  Ref<Worker> worker = value(system.spawn<Worker>());
  value(worker.tell<Start>(probe.ref()));
  expect(probe.expect_nothing(59min));
  expect(value(probe.expect<Done>(2 * 1h)).job == 7);  // without a limit: kProbePatience
  // end
  static_assert(kProbePatience > Duration::zero());
}

void many_orders() {
  // example: explore, Exploration
  const Exploration explored = explore(1, 100, [](System& system, std::uint64_t seed) {
    Probe<Done> probe(system);
    for (int i = 0; i < 3; ++i) value(value(system.spawn<Worker>()).tell<Start>(probe.ref()));
    system.advance(2h);
    expect(probe.expect<Done>().has_value() && seed >= 1);  // the seed names the order that fails
  });
  expect(explored.runs == 100 && explored.distinct > 1);
  // end
}

int main() {
  a_probe();
  many_orders();
}
