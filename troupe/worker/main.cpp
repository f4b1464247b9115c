// The executable `troupe-worker`: one worker, for the app that started it. Nobody calls it by hand.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "troupe/worker/compile.hpp"
#include "troupe/worker/facts.hpp"
#include "troupe/worker/serve.hpp"

namespace {

constexpr const char* kHelp =
    "usage: troupe-worker --socket DESCRIPTOR [ROOM]\n"
    "Executes ops for a Troupe program, which starts it and talks to it through DESCRIPTOR.\n"
    "It shows in ps what it is for, in the place of its arguments; ROOM makes that longer.\n"
    "  --version   what it speaks: a program needs a worker of its own version\n"
    "  --devices   the accelerators it can open, a line each\n"
    "  --doctor    what it finds on this machine, for `troupe doctor`\n"
    "  --compile C compiles CUDA C++ from standard input for compute capability C (90: 9.0): lines with flags,\n"
    "              instances and headers (name, tab, size), then the headers and the source;\n"
    "              `--compile cpu FOLDER` for this machine, with what the compiler writes in an empty folder;\n"
    "              `--compile-checked` in its place compiles kernels that find accesses outside their arrays\n";

/// The app reads what we print.
void log_to_app(const troupe::LogRecord& record) {
  std::fprintf(stderr, "troupe:%s:%.*s\n", std::string(name(record.level)).c_str(),
               static_cast<int>(record.message.size()), record.message.data());
}

}  // namespace

/// Replaces OpenBLAS's own function of this name, which OpenBLAS calls when it is loaded and which makes every fork
/// stop its threads first, even while lanes use them: after a plugin's fork, other ops would wait for ever.
extern "C" [[gnu::visibility("default")]] void openblas_fork_handler() {}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts(troupe::wire::protocol_version().c_str());
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--devices") == 0) return troupe::worker::print_devices();
  const bool is_checked = argc > 1 && std::strcmp(argv[1], "--compile-checked") == 0;
  if ((argc == 3 || argc == 4) && (is_checked || std::strcmp(argv[1], "--compile") == 0))
    return troupe::worker::answer_compile(argv[2], argc == 4 ? argv[3] : "", is_checked);
  if (argc == 2 && std::strcmp(argv[1], "--doctor") == 0) {
    troupe::worker::print_facts(stdout);
    _exit(0);  // what the libraries do at the end of a process is not worth waiting for
  }
  if ((argc != 3 && argc != 4) || std::strcmp(argv[1], "--socket") != 0) {
    std::fputs(kHelp, argc == 2 && std::strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  setpgid(0, 0);  // Ctrl-C is for the app; we end when it does. (Not by ignoring SIGINT: OpenBLAS raises it to die.)
  troupe::wire::Descriptor socket(std::atoi(argv[2]));
  troupe::worker::Title title(argc, argv);
  const troupe::Result<void> end = troupe::worker::serve(troupe::wire::Socket(std::move(socket)),
                                                         {.owns_process = true, .log = log_to_app, .title = &title});
  return end ? 0 : 1;
}
