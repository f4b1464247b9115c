// The users' kernels that a worker on the CPU has loaded: a cache by a hash of their image, which the op itself names.
// A worker that has never seen a program finds it, and nothing is lost with a worker that dies.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/host/jit/include/kernel_abi.h"
#include "troupe/backend/host/memory/host_memory.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::host {

/// A program that was loaded. It stays loaded while somebody has it.
class KernelProgram {
 public:
  /// `unsupported` for what was compiled for a GPU.
  static Result<std::shared_ptr<const KernelProgram>> load(std::span<const std::byte> image);
  ~KernelProgram();
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;

  /// Null when there is none of that name.
  const troupe_kernel_record* find(const std::string& symbol) const;

  /// A variable becomes what is in `kept`. `invalid_argument` when there is none of that symbol, or of another size;
  /// the call and the name are for the sentence.
  Result<void> set(std::string_view call, std::string_view name, const std::string& symbol,
                   std::span<const std::byte> kept) const;
  /// The same unless it was set before. Any thread.
  Result<void> set_once(std::string_view name, const std::string& symbol, std::span<const std::byte> kept) const;
  /// `kept` becomes what a kernel has made of the variable, which was set.
  void read_back(const std::string& symbol, std::span<std::byte> kept) const;
  troupe_run_blocks_function run_blocks() const noexcept { return run_blocks_; }

 private:
  KernelProgram() = default;
  void* handle_ = nullptr;
  troupe_run_blocks_function run_blocks_ = nullptr;
  std::unordered_map<std::string, const troupe_kernel_record*> kernels_;
  std::unordered_map<std::string, const troupe_variable_record*> variables_;
  mutable std::mutex setting_;
  mutable std::mutex mutex_;                         // over the next
  mutable std::unordered_set<std::string> are_set_;  // here, in this worker
};

class KernelPrograms {
 public:
  /// A worker that has loaded more programs than this forgets them, and loads again those that are used.
  static constexpr std::size_t kMaxPrograms = 128;

  KernelPrograms(HostMemory& memory, const backend::Setup& setup)
      : memory_(memory), log_(setup.log), after_loading_(setup.after_loading) {}

  /// The program that the op names. `invalid_argument` when there is none that can be read. Any thread.
  Result<std::shared_ptr<const KernelProgram>> find(const op::ProgramImage& image);
  /// What a kernel prints.
  void print(std::string_view kernel, std::string_view text) const;

 private:
  HostMemory& memory_;
  const LogSink log_;
  const std::function<void()> after_loading_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const KernelProgram>> programs_;
};

}  // namespace troupe::host
