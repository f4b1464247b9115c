// How a worker leaves its last words (wire/last_words.hpp): from a signal handler, from an `exit()` that it did not ask
// for, or before it ends itself. The essentials are written first and with nothing that could fail; the backtrace is an
// attempt, bounded by an alarm. Whatever happens, the process ends, and with the signal that it crashed with.
#pragma once

#include "troupe/core/error.hpp"
#include "troupe/wire/last_words.hpp"

namespace troupe::worker {

using wire::LastWords;

/// From now on a crash of this process leaves its last words in `words`, which must stay mapped for ever. Gives the
/// calling thread an alternate stack. Not in effect for processes that this one forks. Call it before there are
/// threads.
void install_last_words(LastWords& words);

/// An `exit()` by a thread that is at an op leaves last words too, and ends the process at once, with the same code:
/// other threads are at work on what static destructors would destroy. Needs `install_last_words`. The C library runs
/// first what was registered last, so code that is loaded later may get in before: call it again after loading any.
void install_exit_words();

/// Gives the calling thread a stack for signal handlers until it ends, so that it can report even the overflow of its
/// own. A thread that has one (a sanitizer's, say) keeps that. Without memory for it the thread goes without.
void use_alternate_stack() noexcept;

/// Ends this process because of an error that nothing in it can cure, and leaves the error behind.
[[noreturn]] void die_with_words(const Error& why) noexcept;
}  // namespace troupe::worker
