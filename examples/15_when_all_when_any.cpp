// when_all and when_any: wait for several tasks and asks side by side, or for the first of them. What loses is cut off:
// its coroutine is destroyed where it stands.
#include <cstdio>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Price {
  using Reply = int;
};
struct Currency {
  using Reply = std::string;
};

class Shop {
 public:
  explicit Shop(int price) : price_(price) {}
  int on(Price) { return price_; }
  std::string on(Currency) { return "EUR"; }

 private:
  int price_;
};

class Closed {
 public:
  Task<int> on(Price) {
    co_await stop_requested(std::stop_token());  // for ever
    co_return 0;
  }
};

Task<Result<std::string>> price_tag(Ref<Shop> shop) {
  const auto [price, currency] = co_await when_all(shop.ask<Price>(), shop.ask<Currency>());
  co_return std::to_string(CO_TRY(price)) + " " + CO_TRY(currency);
}

Task<Result<int>> total(std::vector<Ref<Shop>> shops) {
  std::vector<Task<Result<int>>> asks;
  for (const Ref<Shop>& shop : shops) asks.push_back(shop.ask<Price>());
  int sum = 0;
  for (Result<int>& price : co_await when_all(std::move(asks))) sum += CO_TRY(price);
  co_return sum;
}

Task<AnyOf<Result<int>>> fastest(Ref<Closed> closed, Ref<Shop> shop) {
  co_return co_await when_any(closed.ask<Price>(), shop.ask<Price>());
}

int main() {
  System system;
  Ref<Shop> cheap = value(system.spawn<Shop>({.name = "cheap"}, 3));
  Ref<Shop> dear = value(system.spawn<Shop>({.name = "dear"}, 30));
  Ref<Closed> closed = value(system.spawn<Closed>({.name = "closed"}));

  const std::string tag = value(system.run(price_tag(cheap)));
  const int sum = value(system.run(total({cheap, dear})));
  const AnyOf<Result<int>> first = value(system.run(fastest(closed, dear)));
  std::printf("price tag: %s\ntotal: %d\nfirst: number %zu with %d\n", tag.c_str(), sum, first.index, *first.value);

  closed.stop();  // its handler did not end with its asker; this cuts it off
  return tag == "3 EUR" && sum == 33 && first.index == 1 && *first.value == 30 ? 0 : 1;
}
