#include "troupe/worker/last_words.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "troupe/backend/op_notes.hpp"
#include "troupe/backend/plugin/plugins.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe::worker {
namespace {

using backend::at_no_op;
using backend::at_op;
using backend::at_static_op;

class SharedWords {
 public:
  SharedWords() {
    void* memory = mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) words_ = new (memory) LastWords;
  }
  ~SharedWords() { munmap(words_, sizeof(LastWords)); }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;
  LastWords& operator*() { return *words_; }
  LastWords* operator->() { return words_; }

 private:
  LastWords* words_ = nullptr;
};

/// Runs a function in a child process, as a worker would run it, until that ends; gives its wait status.
template <class F>
int status_of_child(LastWords& words, F function) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    install_last_words(words);
    install_exit_words();
    function();
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

class Dying : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer catches crashes itself, before or instead of the worker's handlers";
  }

  /// Expects that the child died of a signal and said so, with those parts in its words.
  void expect_words(int status, int signal, const std::vector<std::string>& parts) {
    ASSERT_TRUE(WIFSIGNALED(status)) << "status " << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(words->state.load(), LastWords::complete);
    EXPECT_EQ(words->signal, static_cast<std::uint32_t>(signal));
    expect_parts(parts);
  }
  void expect_parts(const std::vector<std::string>& parts) {
    const std::string text = wire::read_last_words(*words);
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
    }
  }

  SharedWords words;
};

void dereference_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

int deeper(volatile int* turns) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(*turns);
  *turns = *turns + 1;
  if (*turns == -1) return 0;  // never, but the compiler cannot know
  return deeper(turns) + frame[0];
}

void overflow_the_stack() {
  volatile int turns = 0;
  deeper(&turns);
}

void call_bad_plugin(const std::string& function) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbad_plugin.so";
  backend::Plugins plugins;
  at_op(1, 7, op::PluginCall::kName, function);
  bool has_refused = false;
  const Result<void> result =
      plugins.call({.path = path, .function = function, .arrays = {}, .parameters = {}}, {}, nullptr, {}, has_refused);
  if (!result) FAIL() << result.error().to_string();
}

TEST_F(Dying, a_null_dereference_leaves_the_address_and_the_op) {
  const int status = status_of_child(*words, [] {
    at_static_op(1, 7, "memory.fill");
    dereference_null();
  });
  expect_words(status, SIGSEGV, {"SIGSEGV at address 0x0 in memory.fill (lane 1, ticket 7)\n  #0 "});
}

TEST_F(Dying, an_abort_leaves_the_op_and_no_address) {
  const int status = status_of_child(*words, [] {
    at_op(2, 8, "blas.gemm");
    std::abort();
  });
  expect_words(status, SIGABRT, {"SIGABRT in blas.gemm (lane 2, ticket 8)\n  #0 ", " abort, libc.so.6+0x"});
}

TEST_F(Dying, a_crash_outside_of_any_op_says_so) {
  const int status = status_of_child(*words, [] {
    at_op(2, 8, "blas.gemm");
    at_no_op();
    dereference_null();
  });
  expect_words(status, SIGSEGV, {"SIGSEGV at address 0x0 outside of any op\n  #0 "});
}

TEST_F(Dying, an_overflow_of_the_main_threads_stack_is_told) {
  const int status = status_of_child(*words, [] {
    at_op(0, 1, "plugin.call", "deep");
    overflow_the_stack();
  });
  expect_words(status, SIGSEGV, {"SIGSEGV at address ", " in plugin.call deep (lane 0, ticket 1)\n  #0 "});
}

TEST_F(Dying, an_overflow_of_another_threads_stack_is_told) {
  const int status = status_of_child(*words, [] {
    std::jthread([] {
      use_alternate_stack();
      at_op(3, 1, "plugin.call", "deep");
      overflow_the_stack();
    }).join();
  });
  expect_words(status, SIGSEGV, {"SIGSEGV at address ", " in plugin.call deep (lane 3, ticket 1)\n  #0 "});
}

TEST_F(Dying, a_call_of_a_null_function_leaves_its_caller) {
  const int status = status_of_child(*words, [] {
    at_op(1, 7, "memory.fill");
    void (*volatile nothing)() = nullptr;
    nothing();
  });
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
  expect_words(status, SIGSEGV, {"SIGSEGV at address 0x0 in memory.fill", "\n  #0 0x0\n  #1 ", program + "+0x"});
}

/// A crash hook gets no argument, so where it writes is global.
LastWords* hooked_words = nullptr;

TEST_F(Dying, a_crash_calls_the_hook_in_the_thread_that_crashes_and_still_leaves_its_words) {
  hooked_words = &*words;
  const int status = status_of_child(*words, [&] {
    install_last_words(*hooked_words, []() noexcept { hooked_words->exit_code = gettid(); });
    std::thread([&] {
      use_alternate_stack();
      at_static_op(1, static_cast<std::uint32_t>(gettid()), "memory.fill");
      dereference_null();
    }).join();
  });
  expect_words(status, SIGSEGV, {"SIGSEGV at address 0x0 in memory.fill"});
  EXPECT_EQ(static_cast<std::uint32_t>(words->exit_code), words->ticket);
}

TEST_F(Dying, an_end_that_the_c_library_does_not_see_is_told_and_has_its_code) {
  const int status = status_of_child(*words, [] {
    at_static_op(1, 7, "memory.fill");
    exit_with_words(5);
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_NE(wire::read_last_words(*words).find("memory.fill"), std::string::npos);
}

TEST_F(Dying, a_plugin_is_named_in_the_backtrace) {
  const int status = status_of_child(*words, [] { call_bad_plugin("null"); });
  expect_words(status, SIGSEGV,
               {"at address 0x0 in plugin.call null (lane 1, ticket 7)\n  #0 ", "libbad_plugin.so+0x"});
}

TEST_F(Dying, a_plugin_that_divides_by_zero_is_told) {
  const int status = status_of_child(*words, [] { call_bad_plugin("divide"); });
  ASSERT_TRUE(WIFSIGNALED(status));
  expect_words(status, WTERMSIG(status), {" in plugin.call divide (lane 1, ticket 7)\n  #0 ", "libbad_plugin.so+0x"});
  EXPECT_TRUE(WTERMSIG(status) == SIGFPE || WTERMSIG(status) == SIGTRAP) << WTERMSIG(status);
}

TEST_F(Dying, a_plugin_that_writes_outside_of_the_vault_is_told) {
  const int status = status_of_child(*words, [] { call_bad_plugin("wild"); });
  expect_words(status, SIGSEGV, {" in plugin.call wild (lane 1, ticket 7)\n  #0 ", "libbad_plugin.so+0x"});
}

TEST_F(Dying, a_plugin_that_ignores_an_exhausted_memory_is_told) {
  const int status = status_of_child(*words, [] { call_bad_plugin("memory_null"); });
  expect_words(status, SIGSEGV, {"at address 0x0 in plugin.call memory_null (lane 1, ticket 7)"});
}

TEST_F(Dying, a_smashed_stack_still_leaves_the_op) {
  const int status = status_of_child(*words, [] { call_bad_plugin("stack"); });
  ASSERT_TRUE(WIFSIGNALED(status));
  // With a stack protector it aborts, and the unwinder may fault on the broken stack; then the words end there.
  EXPECT_NE(words->state.load(), LastWords::none);
  EXPECT_EQ(words->signal, static_cast<std::uint32_t>(WTERMSIG(status)));
  EXPECT_TRUE(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGABRT) << WTERMSIG(status);
  expect_parts({" in plugin.call stack (lane 1, ticket 7)"});
}

TEST_F(Dying, an_exit_during_an_op_ends_at_once_with_its_code_and_is_told) {
  const int status = status_of_child(*words, [] { call_bad_plugin("exit"); });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(words->state.load(), LastWords::complete);
  EXPECT_EQ(wire::read_last_words(*words), "exit(7) called in plugin.call exit (lane 1, ticket 7)");
}

TEST_F(Dying, an_exit_outside_of_any_op_is_an_ordinary_one) {
  const int status = status_of_child(*words, [] {
    at_op(1, 7, "memory.fill");
    at_no_op();
    std::exit(3);  // NOLINT(concurrency-mt-unsafe): the only thread
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(wire::read_last_words(*words), "");
}

TEST_F(Dying, of_threads_that_crash_at_once_one_says_all_and_the_others_nothing) {
  const int status = status_of_child(*words, [] {
    constexpr int threads = 4;
    std::barrier all(threads);
    std::vector<std::jthread> running;
    for (std::uint32_t lane = 0; lane < threads; ++lane) {
      running.emplace_back([&all, lane] {
        use_alternate_stack();
        at_op(lane, 100 + lane, "memory.copy", std::to_string(lane));
        all.arrive_and_wait();
        dereference_null();
      });
    }
  });
  const std::string lane = std::to_string(words->lane);
  expect_words(status, SIGSEGV, {"in memory.copy " + lane + " (lane " + lane + ", ticket 10" + lane + ")\n  #0 "});
}

TEST_F(Dying, a_crash_of_a_process_that_the_worker_forked_is_not_the_workers) {
  const int status = status_of_child(*words, [] {
    at_op(1, 7, "memory.fill");
    const pid_t child = fork();
    if (child == 0) dereference_null();
    int child_status = 0;
    waitpid(child, &child_status, 0);
    _exit(WIFSIGNALED(child_status) ? WTERMSIG(child_status) : 0);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SIGSEGV);
  EXPECT_EQ(wire::read_last_words(*words), "");
}

stack_t current_alternate_stack() {
  stack_t current = {};
  sigaltstack(nullptr, &current);
  return current;
}

TEST_F(Dying, of_an_error_that_nothing_cures_leaves_the_error) {
  const int status = status_of_child(*words, [] {
    die_with_words(Error(ErrorKind::context_poisoned, "cuStreamQuery answered 700", ErrorOrigin{.native_code = 700}));
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  const std::optional<Error> error = wire::read_last_error(*words);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::context_poisoned);
  EXPECT_EQ(error->message(), "cuStreamQuery answered 700");
  EXPECT_EQ(error->origin().native_code, 700);
}

TEST(AlternateStack, is_given_once_and_a_thread_that_has_one_keeps_it) {
  std::jthread([] {
    use_alternate_stack();
    const stack_t first = current_alternate_stack();
    EXPECT_EQ(first.ss_flags & SS_DISABLE, 0);
    EXPECT_GE(first.ss_size, static_cast<std::size_t>(MINSIGSTKSZ));
    use_alternate_stack();
    EXPECT_EQ(current_alternate_stack().ss_sp, first.ss_sp);
  }).join();
  std::jthread([] {
    const stack_t before = current_alternate_stack();
    constexpr std::size_t own_bytes = 65536;
    const auto memory = std::make_unique<char[]>(own_bytes);
    stack_t own = {};
    own.ss_sp = memory.get();
    own.ss_size = own_bytes;
    sigaltstack(&own, nullptr);
    use_alternate_stack();
    EXPECT_EQ(current_alternate_stack().ss_sp, memory.get());
    sigaltstack(&before, nullptr);
  }).join();
}

TEST(LastWords, of_a_worker_that_left_none_are_empty) { EXPECT_EQ(wire::read_last_words(LastWords{}), ""); }

TEST(LastWords, of_a_crash_are_no_error_of_its_own) {
  LastWords words;
  EXPECT_FALSE(wire::read_last_error(words));
  words.state = LastWords::complete;
  words.signal = SIGSEGV;
  EXPECT_FALSE(wire::read_last_error(words));
  words.error_kind_plus_one = 1000;
  EXPECT_FALSE(wire::read_last_error(words)) << "garbage";
}

TEST(LastWords, that_were_cut_off_say_what_there_is) {
  LastWords words;
  words.state = LastWords::being_written;
  words.signal = SIGBUS;
  words.has_address = 1;
  words.fault_address = 0xffffdeadbeef0000;
  EXPECT_EQ(wire::read_last_words(words),
            "SIGBUS at address 0xffffdeadbeef0000 outside of any op; it died before it had said all");
}

TEST(LastWords, that_are_garbage_stay_within_their_place_and_printable) {
  LastWords words;
  words.state = 0x41414141;
  words.signal = 0x41414141;
  words.has_address = 0x41414141;
  words.has_op = 0x41414141;
  std::fill(std::begin(words.op), std::end(words.op), '\xc3');
  std::fill(std::begin(words.text), std::end(words.text), '\n');
  const std::string text = wire::read_last_words(words);
  EXPECT_LT(text.size(), sizeof(LastWords) + 200);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (' ' <= c && c <= '~'); }));
  EXPECT_TRUE(text.starts_with("signal 1094795585 at address 0x0 in ????"));
}

}  // namespace
}  // namespace troupe::worker
