// Ask and tell: a message says what its reply is. `tell` sends and forgets, `ask` gives a Result; a reply of `void`
// asks for the completion only. Messages and replies may be move-only.
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

using Block = std::unique_ptr<std::vector<int>>;

struct Append {  // tell it, or ask for its completion
  int number = 0;
  using Reply = void;
};
struct Swap {  // move-only both ways
  Block block;
  using Reply = Block;
};
struct Sum {
  using Reply = int;
};

class Store {
 public:
  void on(Append message) { block_->push_back(message.number); }
  Block on(Swap message) { return std::exchange(block_, std::move(message.block)); }
  int on(Sum) { return std::accumulate(block_->begin(), block_->end(), 0); }

 private:
  Block block_ = std::make_unique<std::vector<int>>();
};

Task<Result<int>> swap_and_sum(Ref<Store> store) {
  CO_TRY(co_await store.ask<Swap>(std::make_unique<std::vector<int>>(3, 7)));
  co_return co_await store.ask<Sum>();
}

int main() {
  System system;
  Ref<Store> store = value(system.spawn<Store>());

  value(store.tell(Append{1}));  // the same as store.tell<Append>(1)
  value(store.ask<Append>(2).get());
  const int before = value(store.ask<Sum>().get());          // from a plain thread
  const int after = value(system.run(swap_and_sum(store)));  // from a task
  std::printf("sum before the swap: %d, after it: %d\n", before, after);

  const Result<int> nobody = Ref<Store>().ask<Sum>().get();
  std::printf("an empty ref: %s\n", nobody.error().to_string().c_str());
  return before == 3 && after == 21 && nobody.error().kind() == ErrorKind::invalid_argument ? 0 : 1;
}
