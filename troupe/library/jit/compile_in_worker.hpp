// Asks a worker's executable to compile a kernel, and waits: a compiler that crashes or hangs costs only the one who
// asked.
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::inline v0 {

/// Starts that worker and gives what it answers: the image, or `invalid_argument` with the compiler's words, or
/// `unsupported`; `timeout`; `worker_crashed`.
Result<wire::CompiledImage> compile_in_worker(const std::string& executable, const std::string& source,
                                              std::string_view flags, int capability, Duration limit);

}  // namespace troupe::inline v0
