// PageRank: the importance of pages by the links between them, with a sparse matrix that stays on the device. Each
// round is one product; only how much has changed comes back.
#include <cmath>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr const char* kPages[] = {"home", "docs", "blog", "shop", "about"};
constexpr std::int64_t kCount = 5;
constexpr double kDamping = 0.85;

/// Column j has the pages to which page j links, with equal shares.
Result<SparseMatrix> link_matrix(const Device& device) {
  const std::vector<std::vector<std::int64_t>> links{{1, 2, 3, 4}, {0, 2}, {0, 1}, {0}, {0, 3}};
  std::vector<Triplet<double>> elements;
  for (std::int64_t from = 0; from < kCount; ++from) {
    const auto& targets = links[static_cast<std::size_t>(from)];
    for (const std::int64_t to : targets) elements.push_back({to, from, 1.0 / static_cast<double>(targets.size())});
  }
  return device.sparse().from_triplets(kCount, kCount, elements);
}

Task<Result<HostArray<double>>> page_ranks(Device device) {
  const SparseMatrix links = CO_TRY(link_matrix(device));
  Array<double> ranks = CO_TRY(device.array<double>({kCount}));
  Array<double> next = CO_TRY(device.array<double>({kCount}));
  CO_TRY(co_await device.fill(ranks, 1.0 / kCount));
  double change = 1;
  for (int round = 0; round < 100 && change > 1e-12; ++round) {
    // next = damping links ranks + (1 - damping) / n, and then ranks becomes what has changed.
    CO_TRY(device.fill(next, (1 - kDamping) / kCount).submit());
    CO_TRY(device.sparse().multiply(links, ranks, next, {.alpha = kDamping, .beta = 1.0}).submit());
    CO_TRY(device.blas().axpy(-1.0, next, ranks).submit());
    const HostArray<double> changes = CO_TRY(co_await device.read(ranks));
    change = 0;
    for (const double one : changes) change += std::abs(one);
    std::swap(ranks, next);
  }
  co_return co_await device.read(ranks);
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const Result<HostArray<double>> ranks = system.run(page_ranks(device));
  if (!ranks) return std::printf("%s\n", ranks.error().to_string().c_str()), 1;
  double sum = 0;
  std::int64_t best = 0;
  for (std::int64_t page = 0; page < kCount; ++page) {
    std::printf("%-6s %.4f\n", kPages[page], (*ranks)[page]);
    sum += (*ranks)[page];
    if ((*ranks)[page] > (*ranks)[best]) best = page;
  }
  std::printf("together %.4f, on %s\n", sum, device.info().name.c_str());
  return std::abs(sum - 1) < 1e-9 && best == 0 ? 0 : 1;
}
