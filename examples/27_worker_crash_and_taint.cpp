// A worker that crashes takes nothing with it but the op that crashed it: arrays stay, the standby goes on, and the
// array that the op was writing is tainted until it is written whole again.
#include <cstdio>
#include <filesystem>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

std::string text_of(const Result<HostArray<float>>& read) {
  return read ? std::to_string((*read)[0]) : read.error().to_string();
}

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  System system({.log = log_nothing()});
  Device device = value(system.device("host"));
  Array<float> kept = value(device.array<float>({1000}));
  Array<float> written = value(device.array<float>({1000}));
  value(device.fill(kept, 1.0f).get());
  value(device.fill(written, 2.0f).get());

  const int pid = device.worker_pid();
  const Result<void> crash = device.call_plugin(plugin, "crash", {reads(kept), updates(written)}).get();
  std::printf("the op that crashed:  %s, generation %ld, native code %ld\n",
              crash ? "a value" : std::string(name(crash.error().kind())).c_str(),
              crash ? 0L : static_cast<long>(crash.error().origin().generation),
              crash ? 0L : static_cast<long>(crash.error().origin().native_code));
  value(device.nop().get());  // the next op finds the next worker
  std::printf("worker %d is gone:  generation %ld is another process\n", pid, static_cast<long>(device.generation()));
  bool holds = !crash && crash.error().kind() == ErrorKind::worker_crashed && device.worker_pid() != pid;

  const Result<HostArray<float>> read_kept = device.read(kept).get();
  const Result<HostArray<float>> read_written = device.read(written).get();
  std::printf("what it only read:    %s\n", text_of(read_kept).c_str());
  std::printf("what it was writing:  %s\n", text_of(read_written).c_str());
  holds &= read_kept && (*read_kept)[0] == 1.0f && !read_written;
  holds &= !read_written && read_written.error().kind() == ErrorKind::buffer_tainted;

  value(device.fill(written, 3.0f).get());
  const Result<HostArray<float>> rewritten = device.read(written).get();
  std::printf("written whole again:  %s\n", text_of(rewritten).c_str());
  return holds && rewritten && (*rewritten)[0] == 3.0f ? 0 : 1;
}
