// A service: clients ask for images in grey, with a mean of 0 and a deviation of 1. Each request is a scope with a
// deadline of its own. Meanwhile somebody kills workers; clients notice nothing but time.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Standardise {
  using Reply = std::vector<float>;
  std::vector<float> pixels;  // red, green, blue, ...
  std::int64_t count = 0;
};

class ImageService {
 public:
  explicit ImageService(Device device) : device_(std::move(device)) {}

  Task<Result<std::vector<float>>> on(Standardise request) {
    Scope on(device_, {.deadline = 20s});
    const auto pixels = on.from(request.pixels, {request.count, 3});
    const auto grey = on.matmul(pixels, on.from(std::array{0.299f, 0.587f, 0.114f}, {3}));
    const auto centred = on.eval(grey - on.mean(grey));
    const auto deviation = sqrt(on.mean(square(centred)));
    const HostArray<float> out = CO_TRY(co_await on.read(centred / deviation));
    co_return std::vector<float>(out.begin(), out.end());
  }

 private:
  Device device_;
};

/// Asks 20 times, and gives how many answers were wrong.
int client(const Ref<ImageService>& service, int number) {
  int wrong = 0;
  for (int i = 0; i < 20; ++i) {
    Standardise request{.pixels = {}, .count = 1000 + number};
    for (std::int64_t p = 0; p < 3 * request.count; ++p)
      request.pixels.push_back(static_cast<float>((p * (i + 7) + number) % 251));
    const std::int64_t count = request.count;
    const Result<std::vector<float>> image = service.ask<Standardise>(std::move(request)).get();
    if (!image) std::printf("client %d: %s\n", number, image.error().to_string().c_str());
    double sum = 0, squares = 0;
    for (const float pixel : image.value_or(std::vector<float>())) {
      sum += static_cast<double>(pixel);
      squares += static_cast<double>(pixel) * static_cast<double>(pixel);
    }
    const auto n = static_cast<double>(count);
    wrong += !(std::abs(sum / n) < 1e-3 && std::abs(squares / n - 1) < 1e-3);
  }
  return wrong;
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0, {.max_restarts = 100'000}));  // however long it takes
  const Ref<ImageService> service = value(system.spawn<ImageService>({}, device));
  std::atomic<int> wrong = 0;
  int kills = 0;
  {
    std::jthread killer([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(20ms)) kills += device.kill_worker();
    });
    std::vector<std::jthread> clients;
    for (int number = 0; number < 32; ++number) clients.emplace_back([&, number] { wrong += client(service, number); });
  }
  std::printf("640 requests of 32 clients, %d kills, %d wrong\n", kills, wrong.load());
  return wrong == 0 ? 0 : 1;
}
