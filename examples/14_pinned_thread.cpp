// A pinned thread: actors that must share one thread, because a library wants to be called from one, are spawned with
// its dispatcher. They may block it as they like; the pool does not notice.
#include <cstdio>
#include <thread>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Where {
  using Reply = std::thread::id;
};

class Driver {
 public:
  std::thread::id on(Where) { return std::this_thread::get_id(); }
};

int main() {
  System system;
  Dispatcher* lab = value(system.pinned_thread("lab"));  // pinned_thread("lab", 1) would bind it to core 1, too
  Ref<Driver> camera = value(system.spawn<Driver>({.name = "camera", .dispatcher = lab}));
  Ref<Driver> laser = value(system.spawn<Driver>({.name = "laser", .dispatcher = lab}));
  Ref<Driver> other = value(system.spawn<Driver>({.name = "other"}));

  const std::thread::id lab_thread = value(camera.ask<Where>().get());
  bool shared = true;
  for (int i = 0; i < 100; ++i)
    shared &= value(camera.ask<Where>().get()) == lab_thread && value(laser.ask<Where>().get()) == lab_thread;
  const bool apart = value(other.ask<Where>().get()) != lab_thread;
  std::printf("camera and laser share a thread: %s; the pool has others: %s\n", shared ? "yes" : "no",
              apart ? "yes" : "no");

  const Result<Dispatcher*> nowhere = system.pinned_thread("nowhere", 100'000);
  std::printf("core 100000: %s\n", nowhere ? "found" : nowhere.error().to_string().c_str());
  return shared && apart && !nowhere && nowhere.error().kind() == ErrorKind::invalid_argument ? 0 : 1;
}
