// What a worker process may do besides computing. docs/security.md says what each level guarantees and what it does
// not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a worker process may do besides computing. Numbers travel: append, never reorder.
enum class Sandbox : std::uint8_t {
  none,      // whatever the app may do
  standard,  // not look into other processes, gain rights, read the app's input or its secret variables
  strict,    // also no network, no processes of its own, and no files but those that are named
  kLast = strict,
};

/// As spelled above.
constexpr std::string_view name(Sandbox level) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"none", "standard", "strict"};
  return kNames[static_cast<std::size_t>(level)];
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
