#include "troupe/wire/thread_worker.hpp"

#include "troupe/worker/serve.hpp"

void troupe_serve_in_thread(troupe::wire::Descriptor& socket, const troupe::LogSink& log) {
  (void)troupe::worker::serve(troupe::wire::Socket(std::move(socket)), {.owns_process = false, .log = log});
}
