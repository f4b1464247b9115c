// How a worker leaves its last words (wire/last_words.hpp): from a signal handler, from an `exit()` inside an op, or
// before it ends itself. The essentials are written first, by code that cannot fail; the backtrace is an attempt,
// limited by an alarm. Whatever happens, the process ends, after a crash with the signal that it crashed with.
#pragma once

#include "troupe/core/result.hpp"
#include "troupe/wire/last_words.hpp"

namespace troupe::worker {

using wire::LastWords;

/// From now on a crash of this process leaves its last words in `words`, which must stay mapped for ever. Gives the
/// calling thread an alternate stack. Processes that this one forks leave none. Call it before there are threads of
/// ours. `crashing`, unless it is null, is called by the handler once the essentials are written, under an alarm.
void install_last_words(LastWords& words, void (*crashing)() noexcept = nullptr);

/// An `exit()` inside an op leaves last words, too, and ends the process at once, with the same code: static
/// destructors would destroy what other threads are using. Needs `install_last_words`. The C library runs first what
/// was registered last, so call it again after loading code, which may have registered something.
void install_exit_words();
/// Does what that does, for an end that the C library does not see: `_exit` inside an op.
[[noreturn]] void exit_with_words(int code) noexcept;

/// Gives the calling thread a stack for signal handlers until it ends, so that it can report even the overflow of its
/// own. A thread that has one (a sanitizer's, say) keeps it. Without memory the thread has none.
void use_alternate_stack() noexcept;

/// Ends this process because of an error that nothing in it can cure, and leaves the error behind.
[[noreturn]] void die_with_words(const Error& why) noexcept;
}  // namespace troupe::worker
