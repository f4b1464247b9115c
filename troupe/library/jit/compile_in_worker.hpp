// Asks a worker's executable to compile a kernel, in a process of its own, and waits: a compiler that crashes or hangs
// costs only its caller.
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/wire/compiled_image.hpp"

namespace troupe::inline v0 {

/// Starts that executable and gives its answer: the image, or `invalid_argument` with the compiler's log, or
/// `unsupported`. `timeout` or `worker_crashed` when it gives none.
Result<wire::CompiledImage> compile_in_worker(const std::string& executable, const std::string& source,
                                              std::string_view flags, int capability, Duration limit);

}  // namespace troupe::inline v0
