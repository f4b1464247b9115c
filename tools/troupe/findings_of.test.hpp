// Findings of machines that are not at hand, as their workers would report them, for the tests of what the doctor makes
// of them.
#pragma once

#include "tools/troupe/findings.hpp"

namespace troupe::tool {

inline wire::FoundLibrary library_of(std::string name, std::string version, std::string path) {
  return {
      .name = std::move(name), .version = std::move(version), .path = std::move(path), .problem = {}, .source = "it"};
}

/// A laptop: no GPU, no driver, two of NVIDIA's libraries looked for and one found.
inline Findings laptop() {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  Machine machine;
  machine.kernel = "Linux 6.1.0";
  machine.cores = 8;
  machine.memory = {.total_bytes = 16 * kGiB, .available_bytes = 12 * kGiB};
  machine.open_files_limit = 65536;
  machine.locked_memory_limit_bytes = Machine::kUnlimited;
  machine.sandbox = {.landlock = 6, .seccomp = true};
  wire::Facts facts;
  facts.backends = {"host", "cuda"};
  facts.blas = library_of("OpenBLAS", "0.3.21", "/lib/libopenblas.so.0");
  facts.lapack = facts.blas;
  facts.other_blas = {library_of("MKL", "", ""), library_of("Arm PL", "", ""), library_of("BLIS", "", "")};
  facts.cpu_threads = "8";
  facts.sleef = library_of("SLEEF", "avx2 vectors", "/lib/libsleef.so.3");
  facts.driver = library_of("driver", "", "");
  facts.libraries = {library_of("cuBLAS", "13.1.0", "/cuda/libcublas.so.13"), library_of("cuTENSOR", "", "")};
  facts.complete = true;
  return {.version = "troupe 1",
          .machine = machine,
          .worker = "/opt/troupe-worker",
          .worker_version = "troupe 1",
          .facts = facts,
          .why_facts_end = {},
          .trials = {{.device = "host", .outcome = {}}}};
}

/// A server with that many GPUs, all in order.
inline Findings server(int gpus) {
  Findings findings = laptop();
  findings.machine.control_node = ControlNode::open;
  findings.facts->driver = library_of("driver", "13.0", "/lib/libcuda.so.580.65.06");
  for (int i = 0; i < gpus; ++i) {
    const std::string uuid = "GPU-" + std::to_string(i);
    findings.facts->gpus.push_back({.uuid = uuid,
                                    .name = "NVIDIA H200",
                                    .memory_bytes = std::uint64_t{140} << 30,
                                    .capability = "9.0",
                                    .can_export_memory = true,
                                    .is_exclusive = false});
    findings.trials.push_back({.device = uuid, .outcome = {}});
  }
  return findings;
}

}  // namespace troupe::tool
