#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/tensor/compiled_expressions.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "troupe/backend/cuda/jit/nvrtc.hpp"
#include "troupe/backend/cuda/tensor/expression_source.hpp"

namespace troupe::cuda {

CompiledExpressions::Mode CompiledExpressions::mode_of(const char* text) noexcept {
  const std::string_view said = text ? text : "";
  if (said == "interpreted") return Mode::interpreted;
  return said == "compiled" ? Mode::at_once : Mode::in_background;
}

CompiledExpressions::CompiledExpressions(const CudaContext& context, const backend::Setup& setup)
    : context_(context),
      setup_(setup),
      mode_(mode_of(std::getenv("TROUPE_EXPRESSIONS"))) {}  // NOLINT(concurrency-mt-unsafe): workers set nothing

CompiledExpressions::~CompiledExpressions() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// ---- the thread that drains the ring ----

const CompiledExpressions::KernelPointer& CompiledExpressions::add(std::string_view key) {
  if (kernels_.size() >= kMaxCompiledExpressions) drop_oldest();
  return kernels_.emplace(key, std::make_shared<Kernel>()).first->second;
}

void CompiledExpressions::drop_oldest() {
  const auto oldest = std::ranges::min_element(kernels_, {}, [](const auto& entry) { return entry.second->last_use; });
  KernelPointer kernel = std::move(oldest->second);
  kernels_.erase(oldest);
  if (!kernel->is_asked_for) return;
  {
    const std::lock_guard lock(mutex_);
    kernel->is_dropped = true;
  }
  put({std::move(kernel), {}});
}

bool CompiledExpressions::has_room() {
  const std::lock_guard lock(mutex_);
  return mode_ == Mode::at_once || (has_compiler_ && waiting_ < kMaxWaitingExpressions);
}

void CompiledExpressions::ask_for(const KernelPointer& kernel, std::string source) {
  const Result<void> started = start_thread();
  {
    const std::lock_guard lock(mutex_);
    if (started) ++waiting_;
    kernel->is_done = !started;
    if (!started) kernel->problem = started.error().to_string();
  }
  if (!started) return report(started.error());  // the next use asks again
  kernel->is_asked_for = true;
  put({kernel, std::move(source)});
}

Result<void> CompiledExpressions::start_thread() {
  if (thread_.joinable()) return {};
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& problem) {
    return fail(ErrorKind::out_of_memory, std::string("no thread for the compiler: ") + problem.what());
  }
  return {};
}

void CompiledExpressions::put(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

Result<CUfunction> CompiledExpressions::wait_for(Kernel& kernel) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return kernel.is_done; });
  if (CUfunction function = kernel.function.load(std::memory_order_relaxed)) return function;
  return fail(ErrorKind::library_error, "the expression was not compiled: " + kernel.problem);
}

// ---- the compiling thread ----

void CompiledExpressions::work() noexcept {
  pthread_setname_np(pthread_self(), "troupe-compile");
  setup_.in_new_thread();
  const Result<void> current = context_.make_current();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;  // whoever waits for a kernel drains the ring, and that is over
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    run(job, current);
    lock.lock();
  }
}

void CompiledExpressions::run(Job& job, const Result<void>& current) {
  Kernel& kernel = *job.kernel;
  if (job.source.empty()) {
    if (const Result<void> unloaded = unload(kernel); !unloaded) report(unloaded.error());
    return;
  }
  bool is_wanted = false;
  {
    const std::lock_guard lock(mutex_);
    --waiting_;
    is_wanted = !kernel.is_dropped && (has_compiler_ || mode_ == Mode::at_once);
  }
  Result<void> loaded = current;
  try {
    if (loaded && is_wanted) loaded = compile_and_load(kernel, job.source);
  } catch (...) {
    loaded = fail(detail::current_exception_as_error());
  }
  if (!loaded) report(loaded.error());
  {
    const std::lock_guard lock(mutex_);
    kernel.is_done = true;
    if (!loaded) kernel.problem = loaded.error().to_string();
  }
  changed_.notify_all();
}

Result<void> CompiledExpressions::compile_and_load(Kernel& kernel, const std::string& source) const {
  const Driver& driver = context_.driver();
  int major = 0, minor = 0;
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                         context_.device()));
  TROUPE_TRY(TROUPE_CUDA(driver, cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                         context_.device()));
  const CompiledCode code = TROUPE_TRY(compile(source, kExpressionFlags, major * 10 + minor, source_headers()));
  TROUPE_TRY(TROUPE_CUDA(driver, cuModuleLoadData, &kernel.module, code.image.data()));
  CUfunction function = nullptr;
  const Result<void> found = TROUPE_CUDA(driver, cuModuleGetFunction, &function, kernel.module, kExpressionKernel);
  if (!found) {
    (void)TROUPE_CUDA(driver, cuModuleUnload, kernel.module);
    kernel.module = nullptr;
    return found;
  }
  kernel.function.store(function, std::memory_order_release);
  return {};
}

/// What was launched of it has ended when all that is under way now has; more is not launched.
Result<void> CompiledExpressions::unload(Kernel& kernel) const {
  if (!kernel.module) return {};
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuCtxSynchronize));
  return TROUPE_CUDA(context_.driver(), cuModuleUnload, kernel.module);
}

void CompiledExpressions::report(const Error& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (problem.kind() == ErrorKind::unsupported) has_compiler_ = false;  // and will have none
    if (std::exchange(is_reported_, true)) return;
  }
  const std::string why = problem.to_string();  // its first line; a compiler has many
  const std::string message = "expressions are interpreted, which takes longer: " + why.substr(0, why.find('\n'));
  if (setup_.log)
    setup_.log(
        {.level = LogLevel::warning, .time = std::chrono::steady_clock::now(), .source = "cuda", .message = message});
}

}  // namespace troupe::cuda

#endif
