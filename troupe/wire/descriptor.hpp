// Owns a file descriptor, so that every path out of a function closes it, and turns what the kernel answers into
// errors. Everything between app and worker is a descriptor: memory, sockets, processes.
#pragma once

#include <string_view>
#include <utility>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

/// Move-only; closes what it owns. Safe to hand to another thread, not to share between threads while it changes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  /// The number, -1 when it owns none.
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

  /// Gives the number away: the caller must close it.
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept;

  /// A second descriptor of the same file, closed on exec. `out_of_memory` when the process has none left.
  Result<Descriptor> duplicate() const;

 private:
  int number_ = -1;
};

/// "what: Too many open files (EMFILE)", with origin "linux" and the number. Where a limit of the process is the
/// cause, the message names it.
Error errno_error(ErrorKind kind, std::string_view what, int errno_value);
/// The same, of the kind that `kind_of_errno` gives.
Error errno_error(std::string_view what, int errno_value);

/// The kind for calls of our own making: limits and shortages are `out_of_memory`, names that lead nowhere
/// `invalid_argument`, a peer that is gone `stopped`, calls the kernel does not have `unsupported`; the rest should
/// not happen and is `internal`.
ErrorKind kind_of_errno(int errno_value) noexcept;

}  // namespace troupe::inline v0::wire
