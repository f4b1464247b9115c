#include "bench/actors/asio.hpp"

#if TROUPE_HAS_ASIO

#include <memory>
#include <vector>

#include "bench/actors/sizes.hpp"
#include "bench/heap.hpp"

namespace troupe::bench::actors::with_asio {
namespace {

struct Object {
  Strand strand;
  Finish* finish;

  void run() { finish->arrive(); }
};

/// Objects that have said, on their strands, that they have started.
std::vector<std::unique_ptr<Object>> make_idle(Pool& pool, int count, Finish& finish) {
  std::vector<std::unique_ptr<Object>> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Object>(pool.strand(), &finish));
    asio::post(all.back()->strand, [object = all.back().get()] { object->run(); });
  }
  return all;
}

}  // namespace

Figures fork_join_creation(const Setting& setting) {
  Finish finish(setting.count);
  double ns = 0;
  {
    Pool pool(setting.threads);
    ns = ns_each(finish, setting.count, [&] {
      for (int i = 0; i < setting.count; ++i) {
        auto object = std::make_shared<Object>(pool.strand(), &finish);  // shared: its message keeps it alive
        const Strand strand = object->strand;
        asio::post(strand, [object = std::move(object)] { object->run(); });
      }
    });
    pool.join();
  }
  finish.check();
  return {ns};
}

Figures idle_spawn(const Setting& setting) {
  Finish finish(setting.count);
  double ns = 0;
  {
    Pool pool(setting.threads);
    std::vector<std::unique_ptr<Object>> all;
    ns = ns_each(finish, setting.count, [&] { all = make_idle(pool, setting.count, finish); });
    pool.join();
  }
  finish.check();
  return {ns};
}

Figures idle_bytes(const Setting& setting) {
  Finish finish(setting.count);
  Pool pool(setting.threads);
  const HeapMeter heap;
  const std::vector<std::unique_ptr<Object>> all = make_idle(pool, setting.count, finish);
  finish.wait();
  pool.join();
  return {(heap.grown_bytes() - static_cast<double>(all.capacity() * sizeof all[0])) / setting.count};
}

}  // namespace troupe::bench::actors::with_asio

#endif  // TROUPE_HAS_ASIO
