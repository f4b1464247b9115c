// The kernels of expressions that NVRTC has compiled in one worker: a cache, and the thread that fills it. No op waits
// for a compiler: until its kernel is there, or when there will be none, the kernel that interprets runs it, and gives
// the same. A worker that is replaced begins anew; that costs its thread a tenth of a second for each expression.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"

namespace troupe::cuda {

/// Of the kernels that a worker keeps; beyond it, the one that was not used for longest goes.
inline constexpr std::size_t kMaxCompiledExpressions = 256;
/// Of the expressions that wait for the compiler; one that finds no place is asked for again when it is next used.
inline constexpr std::size_t kMaxWaitingExpressions = 32;

class CompiledExpressions {
 public:
  /// What $TROUPE_EXPRESSIONS says: nothing, "interpreted" or "compiled".
  enum class Mode : std::uint8_t {
    in_background,  // from its second use on an expression is compiled; until then it is interpreted
    interpreted,    // nothing is compiled
    at_once,        // an op waits until its kernel is compiled, and fails when that fails: for tests and measurements
  };
  static Mode mode_of(const char* text) noexcept;

  CompiledExpressions(const CudaContext& context, const backend::Setup& setup);
  /// Waits for the expression that is being compiled, and for no other.
  ~CompiledExpressions();
  CompiledExpressions(const CompiledExpressions&) = delete;
  CompiledExpressions& operator=(const CompiledExpressions&) = delete;

  /// The kernel of an expression that is known by `key`; null: interpret it. `make_source` gives its source and is
  /// called at most once for a key. Only from the thread that drains the ring. The kernel is good until the next call,
  /// and what is launched until then is never unloaded before its end. An error only where ops wait.
  template <class MakeSource>
  Result<CUfunction> find(std::string_view key, const MakeSource& make_source) {
    if (mode_ == Mode::interpreted) return nullptr;
    const auto found = kernels_.find(key);
    const KernelPointer& kernel = found != kernels_.end() ? found->second : add(key);
    kernel->last_use = ++uses_;
    // Whoever sees the function sees what the driver did to load it (acquire).
    if (CUfunction function = kernel->function.load(std::memory_order_acquire)) [[likely]]
      return function;
    if (mode_ == Mode::in_background && !std::exchange(kernel->was_used, true)) return nullptr;
    if (!kernel->is_asked_for && has_room()) ask_for(kernel, make_source());
    return mode_ == Mode::at_once ? wait_for(*kernel) : Result<CUfunction>(nullptr);
  }

 private:
  struct Kernel {
    // ---- the thread that drains the ring ----
    std::uint64_t last_use = 0;
    bool was_used = false;
    bool is_asked_for = false;
    // ---- the compiling thread, then everyone ----
    std::atomic<CUfunction> function{nullptr};
    CUmodule module = nullptr;  // the compiling thread's alone
    // ---- under the lock ----
    bool is_done = false;  // with a function or without
    bool is_dropped = false;
    std::string problem;
  };
  using KernelPointer = std::shared_ptr<Kernel>;  // the cache has it, and the thread as long as it works on it
  struct Job {
    KernelPointer kernel;
    std::string source;  // empty: its module is to be unloaded
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept { return std::hash<std::string_view>()(key); }
  };

  const KernelPointer& add(std::string_view key);
  void drop_oldest();
  bool has_room();
  void ask_for(const KernelPointer& kernel, std::string source);
  Result<void> start_thread();
  Result<CUfunction> wait_for(Kernel& kernel);
  void put(Job job);
  void work() noexcept;
  void run(Job& job, const Result<void>& current);
  Result<void> compile_and_load(Kernel& kernel, const std::string& source) const;
  Result<void> unload(Kernel& kernel) const;
  void report(const Error& problem);

  const CudaContext& context_;
  const backend::Setup& setup_;
  const Mode mode_;
  std::unordered_map<std::string, KernelPointer, Hash, std::equal_to<>> kernels_;
  std::uint64_t uses_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t waiting_ = 0;  // of the jobs, those for the compiler
  bool has_compiler_ = true;
  bool is_reported_ = false;
  bool stopping_ = false;
  std::thread thread_;  // made when an expression is first asked for
};

}  // namespace troupe::cuda
