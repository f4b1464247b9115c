#include "bench/doomed.hpp"

#include <filesystem>

#include "bench/worker_processes.hpp"

namespace troupe::bench::ours {
namespace {

constexpr std::int64_t kElements = 1024;
constexpr std::uint64_t kBadAddress = 16;  // below every address that is ever mapped
constexpr std::uint64_t kNoAddress = 0;    // writes nowhere: for a first launch that ends well

constexpr char kSource[] = R"(
extern "C" __global__ void write_at(float* array, unsigned long long address) {
  if (address != 0) *reinterpret_cast<float*>(address) = array[0];
}
extern "C" __global__ void wait_for(const int* flag) {
  while (*static_cast<const volatile int*>(flag) == 0) {}
}
extern "C" __global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
)";

/// The plugin that does what bad code does. It lies beside this program.
std::string bad_plugin() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbad_plugin.so").string();
}

template <class T>
Array<T> filled(const Device& device, std::int64_t elements, T with) {
  Array<T> array = value(device.array<T>({elements}));
  value(device.fill(array, with).get());
  return array;
}

}  // namespace

Doomed::Doomed(const std::string& device_name, Standby with_standby)
    : standby(with_standby),
      system({.threads = 1, .log = log_nothing()}),
      device(value(system.device(device_name, {.standby = with_standby}))),
      untouched(filled(device, kElements, 1.0F)),
      copied(filled(device, kElements, 0.0F)),
      lost(filled(device, kElements, 1.0F)),
      never_set(filled(device, 1, 1)) {
  if (device.info().backend == "cuda") {
    program = value(device.jit().compile(kSource).get());
    value(device.jit().launch(*program, "write_at", {}, updates(lost), kNoAddress).get());
    value(hang().get());  // it is set yet
  }
  value(device.fill(never_set, 0).get());
  value(copy().get());
}

Call<void> Doomed::fault(const ArrayUse& array) const {
  if (program) return device.jit().launch(*program, "write_at", {}, array, kBadAddress);
  return device.call_plugin(bad_plugin(), "null", {array});
}

Call<void> Doomed::hang() const {
  if (program) return device.jit().launch(*program, "wait_for", {}, reads(never_set));
  return device.call_plugin(bad_plugin(), "loop", {reads(never_set)});
}

Call<void> Doomed::copy() const {
  if (program) {
    const Grid one_thread_each{.threads = static_cast<std::uint32_t>(kElements)};
    return device.jit().launch(*program, "copy", one_thread_each, reads(untouched), writes(copied));
  }
  return device.call_plugin(bad_plugin(), "copy", {reads(untouched), writes(copied)});
}

void Doomed::wait_until_all_rest() const {
  const int standbys = program ? 2 : 1;  // as the device has them unless it is told otherwise
  wait_until_workers_rest(standby == Standby::warm ? 1 + standbys : 1);
}

void Doomed::wait_until_next_serves() const {
  spin_for("the next worker serves", [this] { return device.generation() > 1; });
}

void expect_error(const Result<void>& end, ErrorKind kind) {
  if (!end && end.error().kind() == kind) return;
  throw std::runtime_error("it should end in " + std::string(name(kind)) + ", and ended in " +
                           (end ? "a value" : end.error().to_string()));
}

}  // namespace troupe::bench::ours
