// What every function of the fake begins with: the call is counted, and may fail. Exported by the fake driver, used by
// the fake libraries, too, so that a process is poisoned for all of them at once.
#pragma once

#include "tests/fake_cuda/control.hpp"

namespace fake_cuda {

/// The codes after which nothing in the process works any more.
constexpr bool is_sticky(int code) noexcept { return code == 700 || (code >= 714 && code <= 719) || code == 710; }

}  // namespace fake_cuda

extern "C" {
/// What the call answers: 0, or a code of the driver's.
int fake_cuda_enter(const char* function);
/// The same for a question, which is asked again and again and so has no number.
int fake_cuda_ask(const char* function);
/// Something of a kind was made (1) or is gone (-1).
void fake_cuda_alive(fake_cuda::Kind kind, int difference);
}
