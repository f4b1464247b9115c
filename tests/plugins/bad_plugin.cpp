// A plugin that does what bad code does, one function for each way to end a worker, and a few functions that behave, to
// see that everybody else's work goes on. Everything bad goes through volatile, so that no compiler sees it coming.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "troupe/plugin.h"

namespace {

TroupeStatus fail(const TroupeCall* call, const char* text) {
  call->set_error(call, 0, text);
  return TROUPE_FAILED;
}

/// The `T` at that byte of the parameters, if it is there.
template <class T>
std::optional<T> parameter(const TroupeCall* call, std::uint64_t offset = 0) {
  if (call->parameter_bytes < offset + sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, static_cast<const char*>(call->parameters) + offset, sizeof(T));
  return value;
}

bool has(const TroupeCall* call, std::uint32_t array, std::uint32_t dtype) {
  return array < call->array_count && call->arrays[array].dtype == dtype;
}

std::int64_t count(const TroupeArray& array) {
  std::int64_t elements = 1;
  for (std::uint32_t d = 0; d < array.rank; ++d) elements *= array.shape[d];
  return elements;
}

/// How far element `index`, in row-major order, is from the first one, in elements.
std::int64_t offset(const TroupeArray& array, std::int64_t index) {
  std::int64_t sum = 0;
  for (std::uint32_t d = array.rank; d-- > 0;) {
    sum += index % array.shape[d] * array.strides[d];
    index /= array.shape[d];
  }
  return sum;
}

template <class T>
T& element(const TroupeArray& array, std::int64_t index) {
  return static_cast<T*>(array.data)[offset(array, index)];
}

std::int64_t element_bytes(std::uint32_t dtype) {
  switch (dtype) {
    case TROUPE_C128: return 16;
    case TROUPE_F64:
    case TROUPE_I64:
    case TROUPE_U64:
    case TROUPE_C64: return 8;
    case TROUPE_F32:
    case TROUPE_I32:
    case TROUPE_U32: return 4;
    case TROUPE_F16:
    case TROUPE_BF16:
    case TROUPE_I16:
    case TROUPE_U16: return 2;
    default: return 1;
  }
}

// --- Bad ------------------------------------------------------------------------------------------------------------

TroupeStatus null(const TroupeCall*) {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
  return TROUPE_OK;
}

TroupeStatus abort_now(const TroupeCall*) { std::abort(); }

TroupeStatus divide(const TroupeCall*) {
  volatile int zero = 0;
  volatile int quotient = 1;
  quotient = quotient / zero;  // SIGFPE on x86
  // An ARM gives 0 and goes on, so there the second look at the divisor traps. It is a second look, of a volatile,
  // because after a division a compiler takes the divisor for something other than 0.
  if (zero == 0) __builtin_trap();
  return TROUPE_OK;
}

TroupeStatus loop(const TroupeCall*) {
  volatile std::uint32_t turns = 0;
  for (;;) turns = turns + 1;
}

/// Leaves this process a little more address space than it has, until the end of the scope. Linux promises more memory
/// than there is: without a limit an allocation never fails, and the kernel kills whomever it likes instead.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::int64_t more_bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    if (std::FILE* statm = std::fopen("/proc/self/statm", "r")) {
      char line[32] = {};
      if (std::fgets(line, sizeof(line), statm) != nullptr) pages = std::strtoull(line, nullptr, 10);
      std::fclose(statm);
    }
    constexpr std::uint64_t kPageBytes = 4096;  // where pages are larger, the limit is lower than it could be
    rlimit scarce = before_;
    scarce.rlim_cur = std::min<rlim_t>(before_.rlim_cur, pages * kPageBytes + static_cast<std::uint64_t>(more_bytes));
    setrlimit(RLIMIT_AS, &scarce);
  }
  ~ScarceMemory() { setrlimit(RLIMIT_AS, &before_); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

 private:
  rlimit before_{};
};

constexpr std::size_t kBlockBytes = std::size_t{8} << 20;
constexpr std::int64_t kDefaultBytes = std::int64_t{256} << 20;

/// Writes to every page, so that the memory is really taken.
void touch(volatile char* block) {
  for (std::size_t i = 0; i < kBlockBytes; i += 4096) block[i] = 1;
}

/// Takes memory until there is none, and lets the exception go. Parameter: int64, how many bytes there are; they are
/// counted too, for machines that heed no limit.
TroupeStatus memory(const TroupeCall* call) {
  const std::int64_t bytes = parameter<std::int64_t>(call).value_or(kDefaultBytes);
  const ScarceMemory scarce(bytes);
  std::vector<std::unique_ptr<char[]>> blocks;
  while (blocks.size() < static_cast<std::size_t>(bytes) / kBlockBytes) {
    blocks.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    touch(blocks.back().get());
  }
  throw std::bad_alloc();
}

/// The same in C, by somebody who does not look at what malloc gives.
TroupeStatus memory_null(const TroupeCall* call) {
  const std::int64_t bytes = parameter<std::int64_t>(call).value_or(kDefaultBytes);
  const ScarceMemory scarce(bytes);
  for (std::int64_t taken = 0;; taken += static_cast<std::int64_t>(kBlockBytes)) {
    touch(taken < bytes ? static_cast<char*>(std::malloc(kBlockBytes)) : nullptr);
  }
}

TroupeStatus exit_now(const TroupeCall*) { std::exit(7); }  // NOLINT(concurrency-mt-unsafe): that is what is bad

/// Writes over where its frame says to return to, and returns. The address is one that no process has mapped.
__attribute__((noinline)) TroupeStatus stack(const TroupeCall* call) {
  // The saved frame pointer comes first and the return address next to it, on x86-64 as on aarch64.
  auto* volatile frame = static_cast<volatile std::uintptr_t*>(__builtin_frame_address(0));
  call->log(call, TROUPE_LOG_DEBUG, "a call, so that the return address is on the stack and not in a register");
  for (int i = 0; i < 4; ++i) frame[i] = std::uintptr_t{0x4141'4141'4140};
  return TROUPE_OK;
}

/// Writes far outside of the vault.
TroupeStatus wild(const TroupeCall* call) {
  const void* start = call->array_count > 0 ? call->arrays[0].data : call;
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(start) + (std::uintptr_t{1} << 45);
  *reinterpret_cast<volatile char*>(address) = 1;  // NOLINT(performance-no-int-to-ptr): that is what is wild
  return TROUPE_OK;
}

/// Writes zeros over an array, whatever it was said to do with it: over array `parameter` (int32), or all of them.
TroupeStatus scribble(const TroupeCall* call) {
  const std::int32_t only = parameter<std::int32_t>(call).value_or(-1);
  for (std::uint32_t i = 0; i < call->array_count; ++i) {
    if (only >= 0 && i != static_cast<std::uint32_t>(only)) continue;
    auto* const bytes = static_cast<volatile char*>(call->arrays[i].data);
    for (std::int64_t at = 0, n = count(call->arrays[i]) * element_bytes(call->arrays[i].dtype); at < n; ++at)
      bytes[at] = 0;
  }
  return TROUPE_OK;
}

/// Writes one element, inside its array or not. Parameters: int64, which element of the array, counted from its first
/// one; int32, which array; int32, which status to return.
TroupeStatus overrun(const TroupeCall* call) {
  const auto index = parameter<std::int64_t>(call, 0);
  const auto which = parameter<std::int32_t>(call, 8);
  const auto status = parameter<std::int32_t>(call, 12);
  if (!index || !which || !status) return fail(call, "overrun needs an int64 and two int32");
  const TroupeArray& array = call->arrays[*which];
  const std::int64_t bytes = element_bytes(array.dtype);
  auto* const at = static_cast<volatile unsigned char*>(array.data) + *index * bytes;
  for (std::int64_t i = 0; i < bytes; ++i) at[i] = 7;
  return *status;
}

/// The same by somebody who is told that it cannot be written, and asks the kernel to change that.
TroupeStatus insist(const TroupeCall* call) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(call->arrays[0].data) / page_bytes * page_bytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the page that the array begins in
  if (mprotect(reinterpret_cast<void*>(page), page_bytes, PROT_READ | PROT_WRITE) != 0)
    return fail(call, "the kernel said no");
  return scribble(call);
}

/// Stops the thread that listens to the app, which is the process's first, for good.
TroupeStatus stun(const TroupeCall*) {
  struct sigaction action{};
  action.sa_handler = [](int) {
    for (;;) pause();
  };
  sigaction(SIGUSR1, &action, nullptr);
  return tgkill(getpid(), getpid(), SIGUSR1) == 0 ? TROUPE_OK : TROUPE_FAILED;
}

/// Says no, with a text and a code; or, given an int32, returns that and says nothing.
TroupeStatus error(const TroupeCall* call) {
  if (const auto status = parameter<std::int32_t>(call)) return *status;
  call->log(call, TROUPE_LOG_WARNING, "about to say no");
  call->set_error(call, 42, "the plugin said no");
  return TROUPE_FAILED;
}

/// Writes nothing, and says so.
TroupeStatus refuse(const TroupeCall* call) {
  call->set_error(call, 7, "refuse takes one array");
  return TROUPE_REFUSED;
}

TroupeStatus throw_error(const TroupeCall*) { throw std::runtime_error("nobody catches this"); }

/// Leaves a process behind that has a session of its own and all of the vault. Array 0 (i32, write), if there is one,
/// gets its number; it has the name that the parameters are, if there are any.
TroupeStatus leave_process(const TroupeCall* call) {
  volatile std::int32_t unused = 0;
  auto* const number = has(call, 0, TROUPE_I32) ? static_cast<volatile std::int32_t*>(call->arrays[0].data) : &unused;
  char name[16] = {};
  if (call->parameter_bytes > 0)
    std::memcpy(name, call->parameters, std::min<std::size_t>(call->parameter_bytes, sizeof(name) - 1));
  const pid_t parent = fork();
  if (parent == 0) {
    if (name[0] != 0) prctl(PR_SET_NAME, name);
    setsid();
    const pid_t left = fork();
    if (left == 0)
      for (;;) pause();
    *number = left;
    _exit(0);
  }
  if (parent < 0) return fail(call, "the machine gave no process");
  waitpid(parent, nullptr, 0);
  return TROUPE_OK;
}

/// Prints "line 0", "line 1", ... Parameter: int64, how many.
TroupeStatus print(const TroupeCall* call) {
  const std::int64_t lines = parameter<std::int64_t>(call).value_or(1);
  for (std::int64_t i = 0; i < lines; ++i) std::printf("line %lld\n", static_cast<long long>(i));
  std::fflush(stdout);
  return TROUPE_OK;
}

/// The same, and the worker dies of it.
TroupeStatus print_and_abort(const TroupeCall* call) {
  print(call);
  std::printf("and one without a line end");
  std::fflush(stdout);
  std::abort();
}

TroupeStatus print_for_ever(const TroupeCall*) {
  for (;;) std::printf("on and on\n");
}

// --- Good -----------------------------------------------------------------------------------------------------------

/// array 0 (f32, update) *= parameter (f32).
TroupeStatus scale(const TroupeCall* call) {
  const auto factor = parameter<float>(call);
  if (!has(call, 0, TROUPE_F32) || !factor) return fail(call, "scale needs an f32 array and a float");
  const TroupeArray& array = call->arrays[0];
  for (std::int64_t i = 0, n = count(array); i < n; ++i) element<float>(array, i) *= *factor;
  return TROUPE_OK;
}

TroupeStatus copy_elements(const TroupeCall* call, const TroupeArray& from, const TroupeArray& to) {
  if (from.dtype != to.dtype || count(from) != count(to)) return fail(call, "copy needs two arrays that are alike");
  const std::int64_t bytes = element_bytes(from.dtype);
  for (std::int64_t i = 0, n = count(from); i < n; ++i) {
    std::memcpy(static_cast<char*>(to.data) + offset(to, i) * bytes,
                static_cast<const char*>(from.data) + offset(from, i) * bytes, static_cast<std::size_t>(bytes));
  }
  return TROUPE_OK;
}

/// array 1 (write) = array 0 (read), of any one type.
TroupeStatus copy(const TroupeCall* call) {
  if (call->array_count != 2) return fail(call, "copy needs two arrays");
  return copy_elements(call, call->arrays[0], call->arrays[1]);
}

/// Keeps its core busy for parameter (int32) milliseconds; then array 0 (f32, write), if there is one, = the parameter
/// behind it (f32).
TroupeStatus spin_ms(const TroupeCall* call) {
  const auto duration_ms = parameter<std::int32_t>(call);
  if (!duration_ms) return fail(call, "spin_ms needs an int32");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(*duration_ms);
  while (std::chrono::steady_clock::now() < end) {
  }
  if (call->array_count == 0) return TROUPE_OK;
  const auto value = parameter<float>(call, sizeof(std::int32_t));
  if (!has(call, 0, TROUPE_F32) || !value) return fail(call, "spin_ms fills an f32 array with a float");
  const TroupeArray& array = call->arrays[0];
  for (std::int64_t i = 0, n = count(array); i < n; ++i) element<float>(array, i) = *value;
  return TROUPE_OK;
}

TroupeStatus abort_after_ms(const TroupeCall* call) {
  (void)spin_ms(call);
  std::abort();
}

/// array 1 (one f64, write) = sum of array 0 (f32, read).
TroupeStatus sum(const TroupeCall* call) {
  if (!has(call, 0, TROUPE_F32) || !has(call, 1, TROUPE_F64) || count(call->arrays[1]) != 1) {
    return fail(call, "sum needs an f32 array and one f64");
  }
  double total = 0;
  for (std::int64_t i = 0, n = count(call->arrays[0]); i < n; ++i) total += element<float>(call->arrays[0], i);
  element<double>(call->arrays[1], 0) = total;
  return TROUPE_OK;
}

/// Waits until array 0 (u32) is not 0, whoever writes it; then array 2 (write) = array 1 (read), if they are there.
TroupeStatus wait_for_flag(const TroupeCall* call) {
  if (!has(call, 0, TROUPE_U32)) return fail(call, "wait_for_flag needs a u32");
  std::atomic_ref<std::uint32_t> flag(element<std::uint32_t>(call->arrays[0], 0));
  if (call->arrays[0].rank == 1 && call->arrays[0].shape[0] == 2)  // a second one, to say that it has begun
    std::atomic_ref(element<std::uint32_t>(call->arrays[0], 1)).store(1, std::memory_order_release);
  while (flag.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  return call->array_count == 3 ? copy_elements(call, call->arrays[1], call->arrays[2]) : TROUPE_OK;
}

/// Says the parameters to the app, where the worker itself speaks to it; hangs up without any.
TroupeStatus say(const TroupeCall* call) {
  constexpr int kSocket = 3;
  if (call->parameter_bytes == 0)
    shutdown(kSocket, SHUT_RDWR);
  else
    (void)send(kSocket, call->parameters, call->parameter_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  return TROUPE_OK;
}

constexpr TroupeFunction kFunctions[] = {
    {"null", null},
    {"abort", abort_now},
    {"divide", divide},
    {"loop", loop},
    {"memory", memory},
    {"exit", exit_now},
    {"stack", stack},
    {"wild", wild},
    {"scribble", scribble},
    {"insist", insist},
    {"overrun", overrun},
    {"stun", stun},
    {"error", error},
    {"memory_null", memory_null},
    {"throw", throw_error},
    {"leave_process", leave_process},
    {"print", print},
    {"print_and_abort", print_and_abort},
    {"print_for_ever", print_for_ever},
    {"scale", scale},
    {"copy", copy},
    {"sum", sum},
    {"wait_for_flag", wait_for_flag},
    {"spin_ms", spin_ms},
    {"abort_after_ms", abort_after_ms},
    {"say", say},
    {"refuse", refuse},
};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "bad_plugin", std::size(kFunctions),
                                  kFunctions};

}  // namespace

extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }  // NOLINT(modernize-redundant-void-arg)
