#include "troupe/worker/last_words.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>

#include "troupe/backend/op_notes.hpp"
#include "troupe/wire/backtrace.hpp"

namespace troupe::worker {
namespace {

constexpr std::array kLethalSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
constexpr int kMaxFrames = 16;
constexpr int kPoisonedExit = 86;
constexpr unsigned kBacktraceSeconds = 1;
constexpr std::size_t kAlternateStackBytes = std::size_t{64} << 10;  // the unwinder takes about 10 KiB

// A signal handler gets no argument of ours, so what it needs is global.
constinit std::atomic<LastWords*> words_of_process{nullptr};
constinit std::atomic<void (*)() noexcept> crash_hook{nullptr};
constinit std::atomic<pid_t> process{0};
constinit std::atomic<pid_t> dying_thread{0};
// The loader calls the program by its first argument, which may have become a title (title.hpp). Written before there
// are threads.
constinit void* program_base = nullptr;
constinit char program_name[64] = {};

/// Writes text into a fixed array; what does not fit is cut off, and the text is always terminated. Async-signal-safe.
class Appender {
 public:
  explicit Appender(std::span<char> place) noexcept : place_(place) {}

  void text(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), place_.size() - 1 - used_);
    std::memcpy(place_.data() + used_, text.data(), size);
    used_ += size;
    place_[used_] = '\0';
  }
  void hex(std::uint64_t number) noexcept {
    char digits[16];
    std::size_t first = sizeof(digits);
    do {
      digits[--first] = "0123456789abcdef"[number & 15];
      number >>= 4;
    } while (number != 0);
    text("0x");
    text(std::string_view(digits + first, sizeof(digits) - first));
  }

 private:
  std::span<char> place_;
  std::size_t used_ = 0;
};

/// True for the first thread that dies, and only the first time. False for that thread when it crashes again, in its
/// handler. All other threads wait here until the process ends.
bool first_to_die() noexcept {
  const pid_t self = gettid();
  pid_t first = 0;
  if (dying_thread.compare_exchange_strong(first, self)) return true;
  if (first == self) return false;
  for (;;) pause();
}

void default_action(int signal) noexcept {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

[[noreturn]] void die_of(int signal) noexcept {
  default_action(signal);
  raise(signal);
  _exit(128 + signal);
}

/// The kernel gives an address for faults that it found itself, except where the processor does not tell it.
bool has_address(int signal, const siginfo_t& info) noexcept {
  const bool fault = signal != SIGABRT && signal != SIGSYS;
  return fault && info.si_code > 0 && info.si_code != SI_KERNEL;
}

void write_op(LastWords& words) noexcept {
  backend::OpNoted noted;
  if (!backend::op_noted(noted)) return;
  words.lane = noted.lane;
  words.ticket = noted.ticket;
  Appender(words.op).text(noted.name);
  words.has_op = 1;
}

std::uintptr_t faulting_instruction(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.pc);
#else
  static_cast<void>(machine);
  return 0;
#endif
}

void remember_program() noexcept {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&remember_program), &info) != 0) program_base = info.dli_fbase;
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  std::string_view name(path, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  name.remove_prefix(name.rfind('/') + 1);  // all of it, when there is none
  Appender(program_name).text(name);
}

/// The return address of a function that has been called and has done nothing yet.
std::uintptr_t caller(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the stack pointer
  return *reinterpret_cast<const std::uintptr_t*>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.regs[30]);
#else
  static_cast<void>(machine);
  return 0;
#endif
}

/// "plugin.so+0x1234(symbol)", or "plugin.so+0x1234" where there is no symbol; where there is no code, the bare
/// address, and false. A return address lies after the call, perhaps already in the next line or function, so the byte
/// before it is looked up.
bool write_frame(Appender& out, std::uintptr_t address, bool is_return_address) noexcept {
  Dl_info info = {};
  const std::uintptr_t inside = is_return_address ? address - 1 : address;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of code
  if (dladdr(reinterpret_cast<void*>(inside), &info) == 0 || info.dli_fname == nullptr) {
    out.hex(address);
    return false;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  if (info.dli_fbase == program_base)
    out.text(program_name);
  else
    out.text(slash != nullptr ? slash + 1 : info.dli_fname);
  out.text("+");
  out.hex(inside - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  if (info.dli_sname == nullptr) return true;
  const std::size_t size = strnlen(info.dli_sname, wire::kMaxSymbolBytes + 1);
  if (size > wire::kMaxSymbolBytes) return true;
  out.text("(");
  out.text(std::string_view(info.dli_sname, size));
  out.text(")");
  return true;
}

/// Neither the unwinder nor `dladdr` is async-signal-safe: they may take a lock that is held, or fault on a broken
/// stack. So this comes last, and under an alarm.
void write_backtrace(LastWords& words, const void* context) noexcept {
  Appender out(words.text);
  const std::uintptr_t instruction = faulting_instruction(context);
  if (!write_frame(out, instruction, false)) {
    // A jump to a place without code (a null function, a smashed stack): the unwinder would read there, and fault.
    out.text(wire::kFrameSeparator);
    write_frame(out, caller(context), true);
    return;
  }
  std::array<void*, kMaxFrames + 8> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto frame = [&](int i) { return reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]); };
  int next = 0;
  while (next < count && frame(next) != instruction) ++next;
  ++next;  // the frames before it are this handler
  for (int written = 1; next < count && written < kMaxFrames; ++next, ++written) {
    out.text(wire::kFrameSeparator);
    write_frame(out, frame(next), true);
  }
}

void on_signal(int signal, siginfo_t* info, void* context) noexcept {
  LastWords* words = words_of_process.load();
  if (words == nullptr || process.load() != getpid() || !first_to_die()) die_of(signal);
  words->state.store(LastWords::being_written);
  words->signal = static_cast<std::uint32_t>(signal);
  words->has_address = has_address(signal, *info);
  words->fault_address = words->has_address != 0 ? reinterpret_cast<std::uintptr_t>(info->si_addr) : 0;
  write_op(*words);
  std::atomic_signal_fence(std::memory_order_seq_cst);

  default_action(SIGALRM);
  alarm(kBacktraceSeconds);
  if (void (*const crashing)() noexcept = crash_hook.load()) crashing();
  write_backtrace(*words, context);
  words->state.store(LastWords::complete);
  die_of(signal);
}

void on_exit_called(int code, void*) noexcept {
  LastWords* words = words_of_process.load();
  backend::OpNoted noted;
  if (words == nullptr || process.load() != getpid() || !backend::op_noted(noted)) return;
  if (first_to_die()) {
    words->state.store(LastWords::being_written);
    words->exit_code = code;
    write_op(*words);
    words->state.store(LastWords::complete);
  }
  _exit(code);
}

/// A thread's stack for signal handlers, with a page below it that nobody may touch.
class AlternateStack {
 public:
  AlternateStack() noexcept {
    stack_t current = {};
    if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t frame = getauxval(AT_MINSIGSTKSZ);  // for the registers; newer processors have more
    const std::size_t size = (kAlternateStackBytes + frame + page - 1) / page * page;
    void* memory = mmap(nullptr, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = std::span(static_cast<char*>(memory), page + size);
    stack_t ours = {};
    ours.ss_sp = memory_.data() + page;
    ours.ss_size = size;
    if (mprotect(ours.ss_sp, size, PROT_READ | PROT_WRITE) == 0 && sigaltstack(&ours, nullptr) == 0) return;
    munmap(memory_.data(), memory_.size());
    memory_ = {};
  }
  ~AlternateStack() {
    if (memory_.empty()) return;
    stack_t current = {};
    sigaltstack(nullptr, &current);
    const auto* start = static_cast<const char*>(current.ss_sp);
    if (memory_.data() <= start && start < memory_.data() + memory_.size()) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      if (sigaltstack(&none, nullptr) != 0) return;
    }
    munmap(memory_.data(), memory_.size());
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  std::span<char> memory_;
};

}  // namespace

void install_last_words(LastWords& words, void (*crashing)() noexcept) {
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder now, while loading is possible
  remember_program();
  use_alternate_stack();
  dying_thread.store(0);
  crash_hook.store(crashing);
  process.store(getpid());
  words_of_process.store(&words);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // Not SA_RESETHAND: a second thread that crashes meanwhile would end the process in the middle of the first one's
  // words. `first_to_die` prevents what that flag is for: a handler that crashes again and again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal : kLethalSignals) sigaction(signal, &action, nullptr);
}

void die_with_words(const Error& why) noexcept {
  LastWords* words = words_of_process.load();
  if (words != nullptr && first_to_die()) {
    words->state.store(LastWords::being_written);
    words->exit_code = static_cast<std::int32_t>(why.origin().native_code);
    words->error_kind_plus_one = static_cast<std::uint32_t>(why.kind()) + 1;
    Appender(words->text).text(why.message());
    words->state.store(LastWords::complete);
  }
  _exit(kPoisonedExit);
}

void exit_with_words(int code) noexcept {
  on_exit_called(code, nullptr);
  _exit(code);
}

void install_exit_words() { on_exit(on_exit_called, nullptr); }

void use_alternate_stack() noexcept {
  static thread_local const AlternateStack kStack;
  static_cast<void>(kStack);
}

}  // namespace troupe::worker
