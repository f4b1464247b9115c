// Kernels compiled in a process of their own: `troupe-worker --compile CAPABILITY` reads the compiler's flags (a line)
// and the source from its standard input, and answers on its standard output. Here are both sides of that.
#pragma once

#include <string>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/core/result.hpp"

namespace troupe::worker {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

struct CompiledImage {
  std::string bytes;
  std::string log;  // what the compiler said all the same
};

/// The app's side; the calling thread waits. Starts that worker and gives what it answers: the image, or
/// `invalid_argument` with the compiler's words, or `unsupported`; `timeout`; `worker_crashed`.
Result<CompiledImage> compile_in_worker(const std::string& executable, const std::string& source,
                                        std::string_view flags, int capability, Duration limit);

/// The worker's side. Gives the exit code.
int answer_compile(int capability);

}  // namespace troupe::worker
