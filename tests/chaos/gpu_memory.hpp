// How much of each GPU's memory is in use, by anybody: what nvidia-smi says. This program opens no driver itself, so
// that nothing can poison it, and so that it has no memory there that would count.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/chaos/ledger.hpp"

namespace troupe::chaos {

/// In MiB, by the GPU's UUID; empty when there is no nvidia-smi in the folders of PATH, or it does not answer.
using GpuMemory = std::map<std::string, std::uint64_t>;
GpuMemory gpu_memory_in_use();

/// Waits until no more is in use than was before, give or take what the driver itself rounds to; complains when that
/// does not come. Prints both figures, or that nobody could be asked.
void check_gpu_memory(const std::string& uuid, const GpuMemory& before, Ledger& ledger);

}  // namespace troupe::chaos
