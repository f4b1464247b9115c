#include "tests/chaos/gpu_memory.hpp"

#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "troupe/wire/run_child.hpp"

namespace troupe::chaos {
namespace {

using namespace std::chrono_literals;

/// A chunk of a vault, and all the more a worker's context, is larger.
constexpr std::uint64_t kToleranceMib = 8;
/// Starting it initializes the driver, where nobody else keeps it so.
constexpr Duration kAnswerLimit = 20s;
constexpr auto kSettled = 10s;
constexpr auto kLookAgain = 200ms;

std::optional<std::string> find_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = std::filesystem::path(folder) / program;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace

GpuMemory gpu_memory_in_use() {
  const std::optional<std::string> program = find_in_path("nvidia-smi");
  if (!program) return {};
  const Result<wire::ChildAnswer> answer =
      wire::run_child(*program, {"--query-gpu=uuid,memory.used", "--format=csv,noheader,nounits"}, {}, kAnswerLimit);
  if (!answer || !answer->end || answer->end->signalled || answer->end->code != 0) return {};
  GpuMemory memory;
  std::istringstream lines(answer->printed);
  for (std::string line; std::getline(lines, line);) {  // "GPU-..., 1234"
    const std::size_t comma = line.find(", ");
    if (comma == std::string::npos) continue;
    std::uint64_t used_mib = 0;
    if (std::from_chars(line.data() + comma + 2, line.data() + line.size(), used_mib).ec == std::errc())
      memory[line.substr(0, comma)] = used_mib;
  }
  return memory;
}

void check_gpu_memory(const std::string& uuid, const GpuMemory& before, Ledger& ledger) {
  const auto was = before.find(uuid);
  GpuMemory after = gpu_memory_in_use();
  if (was == before.end() || !after.contains(uuid)) {
    std::printf("%-28s %10s: nvidia-smi was not found, or does not say\n", "GPU memory in use, MiB", "skipped");
    return;
  }
  const auto is_back = [&] { return after.contains(uuid) && after[uuid] <= was->second + kToleranceMib; };
  for (const auto until = std::chrono::steady_clock::now() + kSettled;
       !is_back() && std::chrono::steady_clock::now() < until; after = gpu_memory_in_use())
    std::this_thread::sleep_for(kLookAgain);
  std::printf("%-28s %10" PRIu64 ", %" PRIu64 " before\n", "GPU memory in use, MiB", after[uuid], was->second);
  if (!is_back()) ledger.complain(Complaint::byte_leaked, "of the GPU's memory", (after[uuid] - was->second) << 20);
}

}  // namespace troupe::chaos
