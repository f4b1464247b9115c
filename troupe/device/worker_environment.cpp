#include "troupe/device/worker_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace troupe::inline v0 {
namespace {

using namespace std::string_view_literals;

constexpr std::array kNames{"PATH"sv,     "HOME"sv, "USER"sv,   "LOGNAME"sv,        "LANG"sv,
                            "LANGUAGE"sv, "TZ"sv,   "TMPDIR"sv, "GLIBC_TUNABLES"sv, "LLVM_PROFILE_FILE"sv};
constexpr std::array kPrefixes{"LC_"sv,     "LD_"sv,   "MALLOC_"sv,   "CUDA_"sv, "CUBLAS"sv, "CUDNN_"sv,
                               "NVIDIA_"sv, "NCCL_"sv, "OPENBLAS_"sv, "GOTO_"sv, "OMP_"sv,   "GOMP_"sv,
                               "KMP_"sv,    "MKL_"sv,  "TROUPE_"sv,   "GCOV_"sv};
constexpr std::string_view kSanitizerOptions = "SAN_OPTIONS";

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

void put(std::vector<std::string>& environment, std::string_view variable) {
  std::erase_if(environment, [&](const std::string& other) { return name_of(other) == name_of(variable); });
  environment.emplace_back(variable);
}

}  // namespace

bool is_usual_variable(std::string_view name) noexcept {
  return std::ranges::find(kNames, name) != kNames.end() || name.ends_with(kSanitizerOptions) ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<std::vector<std::string>> worker_environment(std::span<const std::string_view> added) {
  std::vector<std::string> environment;
  for (const std::string_view variable : added) {
    if (name_of(variable).empty())
      return fail(ErrorKind::invalid_argument,
                  "worker_environment has \"" + std::string(variable) + "\"; it must be NAME or NAME=value");
  }
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view name = name_of(*variable);
    if (is_usual_variable(name) || std::ranges::find(added, name) != added.end()) put(environment, *variable);
  }
  for (const std::string_view variable : added)
    if (name_of(variable) != variable) put(environment, variable);
  return environment;
}

}  // namespace troupe::inline v0
