// A worker inside the app, for `Isolation::thread`. Programs do not link the backends; the target troupe::thread brings
// them, and this function with them. Without that target the function is null.
#pragma once

#include "troupe/core/log.hpp"
#include "troupe/wire/descriptor.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): outside of every namespace, so that a linker can be told its name
extern "C" [[gnu::weak]] void troupe_serve_in_thread(troupe::wire::Descriptor& socket, const troupe::LogSink& log);
