// Landlock, the part of the kernel in which a process gives up access to files. A process that has entered such a
// domain also cannot look into processes outside of it (ptrace, /proc/PID/mem), whoever it is: that alone is worth one.
#pragma once

#include <cstdint>
#include <string>

#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::worker {

enum class FileAccess : std::uint8_t { read, read_write };

/// The rules of a domain, until it is entered. Versions of the interface differ; what a kernel does not know is left
/// out.
class LandlockDomain {
 public:
  /// One that closes nothing but the way to other processes, or one that also closes all files.
  enum class Closes : std::uint8_t { processes, files };
  /// `unsupported` when the kernel refuses.
  static Result<LandlockDomain> make(int version, Closes closes);

  /// Opens a file, or a folder and all below it, for this domain. False when it is not there.
  Result<bool> allow(const std::string& path, FileAccess access);
  /// The calling thread and all that it makes are in it from now on. The process has given up new privileges before.
  Result<void> enter();

 private:
  LandlockDomain(wire::Descriptor ruleset, std::uint64_t handled) noexcept
      : ruleset_(std::move(ruleset)), handled_(handled) {}

  wire::Descriptor ruleset_;
  std::uint64_t handled_;
};

}  // namespace troupe::worker
