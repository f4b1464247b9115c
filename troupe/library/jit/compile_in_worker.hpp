// Asks a worker's executable to compile a kernel, in a process of its own, and waits: a compiler that crashes or hangs
// costs only its caller.
#pragma once

#include "troupe/core/clock.hpp"
#include "troupe/library/jit/program_cache.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::inline v0 {

/// Starts the worker's executable and gives its answer: the image, or `invalid_argument` with the compiler's log, or
/// `unsupported`. `timeout` or `worker_crashed` when it gives none.
Result<wire::CompiledImage> compile_in_worker(const ProgramKey& program, Duration limit);

}  // namespace troupe::inline v0
