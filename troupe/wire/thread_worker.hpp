// A worker inside the app, for `Isolation::thread`. The backends are not part of what programs link; the target
// troupe::thread brings them, and with them this function. Without it the function is null.
#pragma once

#include "troupe/core/log.hpp"
#include "troupe/wire/descriptor.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): outside of every namespace, so that a linker can be told its name
extern "C" [[gnu::weak]] void troupe_serve_in_thread(troupe::wire::Descriptor& socket, const troupe::LogSink& log);
