// Sort by key: who bought most? A million purchases, each of a customer and an amount, are grouped by customer on
// whatever device there is: sorted, counted, added up. The three best customers come back, and nothing else.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kPurchases = 1'000'000;
constexpr std::int64_t kCustomers = 5'000;
constexpr std::int64_t kBest = 3;

struct Best {
  std::vector<std::int32_t> customers;
  std::vector<std::int64_t> cents;
};

// example: Primitives, Combine, SortOrder, TopKOptions
Task<Result<Best>> best_customers(Device device, Array<std::int32_t> customers, Array<std::int64_t> cents) {
  const Primitives primitives = device.primitives();
  const std::int64_t n = customers.element_count();
  // The purchases of each customer side by side.
  Array<std::int32_t> by_customer = CO_TRY(device.array<std::int32_t>({n}));
  Array<std::int64_t> amounts = CO_TRY(device.array<std::int64_t>({n}));
  CO_TRY(co_await primitives.sort(customers, cents, by_customer, amounts));
  // Each customer once, and how many purchases that are. From here on there are `groups` of them.
  Array<std::int32_t> who = CO_TRY(device.array<std::int32_t>({n}));
  Array<std::int64_t> how_many = CO_TRY(device.array<std::int64_t>({n}));
  const std::int64_t groups = CO_TRY(co_await primitives.run_lengths(by_customer, who, how_many));
  // Where each group begins, and at last where all end: 0, then sums of the lengths.
  Array<std::int64_t> offsets = CO_TRY(device.array<std::int64_t>({groups + 1}));
  CO_TRY(co_await device.fill(offsets, std::int64_t{0}));
  CO_TRY(co_await primitives.scan(Combine::sum, CO_TRY(how_many.slice(0, 0, groups)),
                                  CO_TRY(offsets.slice(0, 1, groups + 1))));
  Array<std::int64_t> sums = CO_TRY(device.array<std::int64_t>({groups}));
  CO_TRY(co_await primitives.segmented_reduce(Combine::sum, offsets, amounts, sums));
  // The greatest sums, and to whom they belong.
  const std::int64_t k = std::min(kBest, groups);
  Array<std::int64_t> best = CO_TRY(device.array<std::int64_t>({k}));
  Array<std::int64_t> places = CO_TRY(device.array<std::int64_t>({k}));
  Array<std::int32_t> names = CO_TRY(device.array<std::int32_t>({k}));
  CO_TRY(co_await primitives.top_k(sums, best, places, {.greatest = true}));
  CO_TRY(co_await primitives.gather(CO_TRY(who.slice(0, 0, groups)), places, names));
  HostArray<std::int32_t> customer_list = CO_TRY(co_await device.read(names));
  HostArray<std::int64_t> sum_list = CO_TRY(co_await device.read(best));
  co_return Best{{customer_list.begin(), customer_list.end()}, {sum_list.begin(), sum_list.end()}};
}
// end

int main() {
  std::mt19937 random(7);
  std::vector<std::int32_t> customers;
  std::vector<std::int64_t> cents;
  std::map<std::int32_t, std::int64_t> want;
  for (std::int64_t i = 0; i < kPurchases; ++i) {
    customers.push_back(static_cast<std::int32_t>(random() % kCustomers));
    cents.push_back(static_cast<std::int64_t>(random() % 100'000));
    want[customers.back()] += cents.back();
  }

  System system;
  const Device device = value(system.device(0));
  const Array<std::int32_t> who = value(device.array<std::int32_t>({kPurchases}));
  const Array<std::int64_t> amounts = value(device.array<std::int64_t>({kPurchases}));
  value(device.write(who, std::span<const std::int32_t>(customers)).get());
  value(device.write(amounts, std::span<const std::int64_t>(cents)).get());
  const Best best = value(system.run(best_customers(device, who, amounts)));

  std::vector<std::int64_t> sums;
  for (const auto& [customer, sum] : want) sums.push_back(sum);
  std::ranges::sort(sums, std::greater{});
  bool is_right = best.cents.size() == static_cast<std::size_t>(kBest);
  for (std::size_t i = 0; i < best.cents.size(); ++i) {
    std::printf("customer %d: %lld.%02lld\n", best.customers[i], static_cast<long long>(best.cents[i] / 100),
                static_cast<long long>(best.cents[i] % 100));
    is_right = is_right && best.cents[i] == sums[i] && want[best.customers[i]] == sums[i];
  }
  return is_right ? 0 : 1;
}
