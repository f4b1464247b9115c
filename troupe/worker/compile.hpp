// The worker's side of wire/compiled_image.hpp: a process of its own for each compilation, so that a compiler that
// crashes or hangs takes nothing with it.
#pragma once

namespace troupe::worker {

/// Compiles the source on standard input, and answers on standard output. Gives the exit code. `target` is a compute
/// capability, "90", or "cpu"; then `folder` is an empty one for what the compiler writes. In checked mode pointers
/// know their arrays (backend/host/jit/checked_source.hpp).
int answer_compile(const char* target, const char* folder, bool is_checked);

}  // namespace troupe::worker
