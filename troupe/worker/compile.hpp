// The worker's side of wire/compiled_image.hpp: a process of its own for each compilation, so that a compiler that
// crashes or hangs takes nothing with it.
#pragma once

namespace troupe::worker {

/// Compiles the source on standard input, and answers on standard output. Gives the exit code.
int answer_compile(int capability);

}  // namespace troupe::worker
