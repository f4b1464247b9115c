// The command line tool `troupe`.
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/troupe/render.hpp"
#include "troupe/wire/protocol.hpp"

namespace troupe::tool {
namespace {

constexpr int kOk = 0;
constexpr int kBroken = 1;
constexpr int kBadUse = 2;

constexpr const char* kHelp =
    "usage: troupe <command>\n"
    "  doctor       says what this machine has of what Troupe uses, what it lacks, and what to do about it\n"
    "  --version    prints the version; programs need a worker of the same\n"
    "  --help       prints this; `troupe <command> --help` says more of a command\n";

constexpr const char* kDoctorHelp =
    "usage: troupe doctor [--json]\n"
    "Says what this machine has of what Troupe uses, what it lacks, and what to do about it: the worker executable,\n"
    "limits, the NVIDIA driver, GPUs, libraries. Devices are opened and have to compute something.\n"
    "  --json       prints the same as one JSON object\n"
    "\n"
    "Each line is one of: ok; note, which works; missing, which programs do without; broken, which they cannot.\n"
    "Exit code: 0 when a GPU can be used, or when there is none and the host device works; 1 when something is\n"
    "broken; 2 for a wrong use of this command.\n"
    "\n"
    "Environment: TROUPE_WORKER, TROUPE_CUDA_LIBRARIES, TROUPE_BLAS, CUDA_VISIBLE_DEVICES, CUDA_HOME.\n";

int doctor(std::span<const std::string_view> arguments) {
  const bool json = arguments.size() == 1 && arguments[0] == "--json";
  if (!arguments.empty() && !json) {
    const bool help = arguments[0] == "--help";
    std::fputs(kDoctorHelp, help ? stdout : stderr);
    return help ? kOk : kBadUse;
  }
  const Report report = judge(find_out());
  std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout);
  return report.works() ? kOk : kBroken;
}

int run(std::span<const std::string_view> arguments) {
  const std::string_view command = arguments.empty() ? "" : arguments[0];
  if (command == "doctor") return doctor(arguments.subspan(1));
  if (command == "--version") {
    std::puts(wire::protocol_version().c_str());
    return kOk;
  }
  if (command == "--help") {
    std::fputs(kHelp, stdout);
    return kOk;
  }
  if (!command.empty()) std::fprintf(stderr, "troupe: no command \"%s\"\n", std::string(command).c_str());
  std::fputs(kHelp, stderr);
  return kBadUse;
}

}  // namespace
}  // namespace troupe::tool

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return troupe::tool::run(arguments);
}
