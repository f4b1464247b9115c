// Landlock is the part of the kernel with which a process gives up access to files. A process that has entered a
// Landlock domain also cannot look into processes outside of it (ptrace, /proc/PID/mem), whatever user it runs as; that
// alone is worth a domain.
#pragma once

#include <cstdint>
#include <string>

#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::worker {

enum class FileAccess : std::uint8_t { read, read_write };

/// The rules of a domain, until it is entered. What an older kernel does not know is left out.
class LandlockDomain {
 public:
  /// `processes` closes only the way to other processes; `files` closes all files, too.
  enum class Closes : std::uint8_t { processes, files };
  /// `unsupported` when the kernel refuses.
  static Result<LandlockDomain> make(int version, Closes closes);

  /// Opens a file, or a folder and all below it, for this domain. False when it does not exist.
  Result<bool> allow(const std::string& path, FileAccess access);
  /// From now on the calling thread and all that it makes are in the domain. The process must have given up new
  /// privileges before.
  Result<void> enter();

 private:
  LandlockDomain(wire::Descriptor ruleset, std::uint64_t handled) noexcept
      : ruleset_(std::move(ruleset)), handled_(handled) {}

  wire::Descriptor ruleset_;
  std::uint64_t handled_;
};

}  // namespace troupe::worker
