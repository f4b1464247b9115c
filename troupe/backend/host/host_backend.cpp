#include "troupe/backend/host/host_backend.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/team/team_size.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"

namespace troupe::host {
namespace {

/// Work below this many elements or multiplications takes a few microseconds at most: less than waking a thread.
constexpr std::uint64_t kShortWork = 16384;

}  // namespace

HostBackend::HostBackend(const backend::Setup& setup, int team_size)
    : channel_(setup.channel),
      bell_(setup.bell),
      team_(team_size, setup.in_new_thread),
      ops_(memory_, team_, setup),
      hooks_{.execute = [this](const backend::Work& work, const op::AnyOp& op) { execute(work, op); },
             .ready = [this](const backend::Work& work) { return ready(work); },
             .in_new_thread = setup.in_new_thread} {}

Result<std::unique_ptr<HostBackend>> HostBackend::open(const backend::Setup& setup) {
  const int limit = team_size_limit();
  const int size = setup.cpu_threads ? TROUPE_TRY(check_team_size(*setup.cpu_threads, limit)) : limit;
  return std::unique_ptr<HostBackend>(new HostBackend(setup, size));
}

void HostBackend::warm() noexcept {
  (void)open_blas();
  vector_rows();
}

HostLane& HostBackend::lane(std::uint32_t number) {
  std::unique_ptr<HostLane>& lane = lanes_[number];
  if (!lane) lane = std::make_unique<HostLane>(number, channel_.timeline(number), progress_, hooks_);
  return *lane;
}

bool HostBackend::ready(const backend::Work& work) const noexcept {
  for (std::uint32_t left = work.waits; left != 0; left &= left - 1) {
    const auto other = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (!channel_.timeline(other).done(work.after[other])) return false;
  }
  return true;
}

void HostBackend::submit(backend::Work& work, op::AnyOp& op) {
  HostLane& home = lane(work.lane);
  const bool is_short = work.estimate < kShortWork || work.refused;
  if (is_short && home.idle_before(work.ticket) && ready(work))
    execute(work, op);
  else
    home.push(work, std::move(op));
}

void HostBackend::execute(const backend::Work& work, const op::AnyOp& op) noexcept {
  // First it is said that the op begins, then looked whether it is wanted. The app does the same in the opposite order,
  // so an op that the app saw as not begun is never run.
  channel_.begin(work.lane, work.ticket);
  std::uint16_t failure = work.failure;
  if (!work.refused) {
    const bool wanted = work.cancelled->load(std::memory_order_seq_cst) == 0;
    bool has_begun = false;
    const Result<void> result = !wanted                   ? fail(ErrorKind::cancelled)
                                : work.fenced.size() == 0 ? ops_.run(work, op, has_begun)
                                                          : run_guarded(work, op, has_begun);
    if (!result) failure = channel_.write_reply(work.position, work.units, result.error(), has_begun);
  }
  channel_.timeline(work.lane).raise_to(work.ticket, failure);
  bell_.ring();
  progress_.made();
}

Result<void> HostBackend::run_guarded(const backend::Work& work, const op::AnyOp& op, bool& has_begun) noexcept {
  const auto bytes_of = [&](const op::Range& fence) {
    return std::span(memory_.at(fence.begin), static_cast<std::size_t>(fence.end - fence.begin));
  };
  work.fenced.for_each_fence([&](const op::Range& fence) { std::ranges::fill(bytes_of(fence), op::kFencePattern); });
  Result<void> result = ops_.run(work, op, has_begun);
  if (!result && !has_begun) return result;
  try {
    op::Views views;
    op.info().views(op.get(), views);
    if (std::optional<Error> overrun = op::find_overrun(work.fenced, views, result, bytes_of))
      return fail(*std::move(overrun));
    return result;
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::out_of_memory);
  }
}

Error HostBackend::to_error(Signal signal) {
  const int number = static_cast<int>(signal);
  const char* text = sigdescr_np(number);
  return Error(ErrorKind::worker_crashed, text ? text : "signal " + std::to_string(number),
               ErrorOrigin{.library = "linux", .native_code = number});
}

}  // namespace troupe::host
