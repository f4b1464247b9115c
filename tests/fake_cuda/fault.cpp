#include "tests/fake_cuda/fault.hpp"

#include "tests/fake_cuda/stream.hpp"

namespace fake_cuda {

Page& page() {
  static Page& page = map_page(std::getenv(kPageVariable));
  return page;
}

}  // namespace fake_cuda

namespace {

using namespace fake_cuda;

int enter(const char* function, bool is_question) {
  if (const int code = poison_code()) return code;
  Page& page = fake_cuda::page();
  const std::uint64_t hash = hash_of(function);
  if (CallCount* const count = count_of(page, hash)) count->count.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t only = page.fail_only.load(std::memory_order_acquire);
  if (only == 0 ? is_question : only != hash) return 0;
  if (const int process = page.fail_process.load(std::memory_order_acquire); process != 0 && process != getpid())
    return 0;
  const std::uint64_t number = page.numbered.fetch_add(1) + 1;
  if (page.fail_only.load(std::memory_order_acquire) != only) {  // it has been changed meanwhile, for calls to come
    page.numbered.fetch_sub(1);
    return 0;
  }
  if (number != page.fail_at.load(std::memory_order_acquire)) return 0;
  const int code = page.fail_code.load(std::memory_order_acquire);
  page.failed.fetch_add(1);
  if (is_sticky(code)) poison(code);
  return code;
}

}  // namespace

int fake_cuda_enter(const char* function) { return enter(function, false); }
int fake_cuda_ask(const char* function) { return enter(function, true); }
void fake_cuda_alive(Kind kind, int difference) {
  page().alive[static_cast<std::size_t>(kind)].fetch_add(difference, std::memory_order_relaxed);
}
