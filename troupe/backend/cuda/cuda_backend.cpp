#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cuda_backend.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "troupe/backend/cuda/memory/cuda_fences.hpp"
#include "troupe/core/park.hpp"
#include "troupe/op/families.hpp"

namespace troupe::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// For an app that sleeps, the watcher spins for so long after something has moved, and looks every so often after
/// that.
constexpr auto kWatchSpin = std::chrono::microseconds(50);
constexpr auto kWatchPause = std::chrono::microseconds(20);
/// For one that looks for itself, it only looks whether it still does, and for errors.
constexpr auto kLongWatchPause = std::chrono::microseconds(50);
/// To wake it costs the thread that submits as much as a launch, so it does not sleep between one op and the next.
constexpr auto kIdleBeforeSleep = std::chrono::milliseconds(5);
/// Between two looks whether a full lane has room again; its ops take longer together.
constexpr auto kFullPause = std::chrono::microseconds(20);
/// How often the driver is asked whether something has failed, while work is under way and nothing moves.
constexpr auto kErrorPeriod = std::chrono::milliseconds(1);

std::uint64_t page_up(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

// ---- lanes ----

CudaLane::~CudaLane() { (void)TROUPE_CUDA(context_.driver(), cuStreamDestroy, stream_); }

Result<void> CudaLane::wait_for(CudaLane& other, wire::Ticket ticket) {
  if (other.completed({ticket})) return {};
  TROUPE_TRY(other.flush());
  // "Greater or equal" is meant as `wire::reached` means it: by the difference, so that tickets may wrap.
  return TROUPE_CUDA(context_.driver(), cuStreamWaitValue32, stream_,
                     other.timeline_on_gpu_ + wire::Timeline::kTicketOffset, ticket, CU_STREAM_WAIT_VALUE_GEQ);
}

Result<void> CudaLane::added(const backend::Work& work, bool raise_now) {
  word_ = timeline_.word_for(work.ticket, work.failure);
  added_.store(work.ticket, std::memory_order_seq_cst);
  return raise_now || work.ticket - raised_ >= wire::kMaxOpsPerFlag ? flush() : Result<void>();
}

Result<void> CudaLane::flush() {
  const wire::Ticket last = added_.load(std::memory_order_relaxed);
  if (last == raised_) return {};
  raised_ = last;
  return completion_->raise_to(word_);
}

Result<void> CudaLane::flush_before_next() {
  TROUPE_TRY(flush());
  if (!completion_->lags() || completed({raised_})) return {};
  return TROUPE_CUDA(context_.driver(), cuStreamWaitValue32, stream_, timeline_on_gpu_ + wire::Timeline::kTicketOffset,
                     raised_, CU_STREAM_WAIT_VALUE_GEQ);
}

Result<void> CudaLane::query() const {
  const CUresult answer = context_.driver().table().cuStreamQuery(stream_);
  if (answer == CUDA_ERROR_NOT_READY) return {};
  return checked(answer, "cuStreamQuery");
}

// ---- the backend ----

Result<std::unique_ptr<CudaBackend>> CudaBackend::open(const backend::Setup& setup) {
  std::unique_ptr<CudaContext> context = TROUPE_TRY(CudaContext::create(setup.device));
  wire::Status& status = setup.channel.status();
  RegisteredMemory registered = TROUPE_TRY(
      RegisteredMemory::register_with(*context, reinterpret_cast<std::byte*>(&status), page_up(sizeof(wire::Status))));
  return std::unique_ptr<CudaBackend>(new CudaBackend(setup, std::move(context), std::move(registered)));
}

CudaBackend::CudaBackend(const backend::Setup& setup, std::unique_ptr<CudaContext> context, RegisteredMemory status)
    : setup_(setup),
      context_(std::move(context)),
      status_(std::move(status)),
      memory_(*context_),
      ops_(*context_, memory_, setup_),
      watcher_([this] { watch(); }) {}

CudaBackend::~CudaBackend() {
  stopping_.store(true, std::memory_order_seq_cst);
  watcher_sleeps_.unpark();
  watcher_.join();
}

Result<CudaLane*> CudaBackend::lane(std::uint32_t number) {
  if (CudaLane* const made = lanes_[number].load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(making_lanes_);
  std::unique_ptr<CudaLane>& lane = made_lanes_[number];
  if (!lane) {
    TROUPE_TRY(context_->make_current());
    int least = 0, greatest = 0;  // to CUDA, a smaller number is the greater priority
    TROUPE_TRY(TROUPE_CUDA(context_->driver(), cuCtxGetStreamPriorityRange, &least, &greatest));
    const int priority = std::clamp(-int{setup_.priorities[number]}, greatest, least);
    CUstream stream = nullptr;
    TROUPE_TRY(TROUPE_CUDA(context_->driver(), cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, priority));
    wire::Timeline& timeline = setup_.channel.timeline(number);
    const auto offset = static_cast<CUdeviceptr>(reinterpret_cast<const std::byte*>(timeline.address()) -
                                                 reinterpret_cast<const std::byte*>(&setup_.channel.status()));
    const LaneCompletion::Parts parts{.context = *context_,
                                      .stream = stream,
                                      .timeline = timeline,
                                      .timeline_on_gpu = status_.base() + offset,
                                      .bell = setup_.bell,
                                      .poisoned = [this](const Error& why) { poisoned(why); }};
    lane = std::make_unique<CudaLane>(parts, setup_.completion);
    lanes_[number].store(lane.get(), std::memory_order_release);
  }
  return lane.get();
}

Result<void*> CudaBackend::lane_for_plugins(std::uint32_t number) {
  TROUPE_TRY(context_->make_current());
  return static_cast<void*>(TROUPE_TRY(lane(number))->stream());
}

Result<void> CudaBackend::wait_for_others(CudaLane& home, const backend::Work& work) {
  for (std::uint32_t left = work.waits; left != 0; left &= left - 1) {
    const auto other = static_cast<std::uint32_t>(__builtin_ctz(left));
    TROUPE_TRY(home.wait_for(*TROUPE_TRY(lane(other)), work.after[other]));
  }
  return {};
}

/// Says that the op is handed in, and that it waits for what it must: true when it is to be put on its lane now.
Result<bool> CudaBackend::begin(CudaLane& home, backend::Work& work) {
  if (work.alone || work.begins_anew) TROUPE_TRY(home.flush_before_next());
  while (home.is_full() && !is_poisoned_.load(std::memory_order_acquire) &&
         !stopping_.load(std::memory_order_acquire)) {
    TROUPE_TRY(home.flush());
    std::this_thread::sleep_for(kFullPause);
  }
  // First it is said that the op is handed in, then looked whether it is wanted; the app does the same in the opposite
  // order.
  setup_.channel.begin(work.lane, work.ticket);
  if (work.refused) return false;
  if (work.cancelled->load(std::memory_order_seq_cst) != 0) {
    work.failure = setup_.channel.write_reply(work.position, work.units, Error(ErrorKind::cancelled));
    return false;
  }
  TROUPE_TRY(wait_for_others(home, work));
  return true;
}

Result<void> CudaBackend::submit_guarded(CudaLane& home, const backend::Work& work, const op::AnyOp& op,
                                         bool& has_begun) noexcept {
  try {
    CudaFences fences(*context_, memory_, work.fenced, home.stream());
    TROUPE_TRY(fences.fill());
    const Result<void> result = ops_.submit(work, op, home.stream(), has_begun);
    if (!result && !has_begun) return result;
    if (!result && result.error().kind() == ErrorKind::context_poisoned) return result;
    return fences.compare(op, result);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::out_of_memory);
  }
}

Result<void> CudaBackend::finish(CudaLane& home, backend::Work& work, const Result<void>& result, bool has_begun) {
  if (!result && result.error().kind() == ErrorKind::context_poisoned) return result;
  if (!result && result.error().kind() == ErrorKind::library_error) TROUPE_TRY(home.query());  // or is it all of CUDA?
  if (!result) work.failure = setup_.channel.write_reply(work.position, work.units, result.error(), has_begun);
  const bool is_last = !setup_.channel.ring().has(work.position + work.units);
  TROUPE_TRY(home.added(work, work.alone || (is_last && home.is_near_its_flag())));
  unraised_ |= 1U << work.lane;
  if (watcher_is_asleep_.load(std::memory_order_seq_cst) && watcher_is_asleep_.exchange(false))
    watcher_sleeps_.unpark();
  return {};
}

void CudaBackend::warm() noexcept {
  const std::uint32_t number = op::lane_of(op::Family::blas);
  const Result<CudaLane*> blas_lane = lane(number);
  const Result<void> warmed = blas_lane ? ops_.warm(number, (*blas_lane)->stream()) : fail(blas_lane.error());
  if (warmed) return;
  if (warmed.error().kind() == ErrorKind::context_poisoned) return poisoned(warmed.error());
  if (const Result<void> well = blas_lane ? (*blas_lane)->query() : Result<void>(); !well)
    return poisoned(well.error());  // a standby that takes over must not find out then
  if (setup_.log)
    setup_.log({.level = LogLevel::warning,
                .time = Clock::now(),
                .source = "cuda",
                .message = "not everything could be made ready: " + warmed.error().to_string()});
}

// ---- watching ----

bool CudaBackend::any_under_way() const noexcept {
  for (const auto& lane : lanes_)
    if (const CudaLane* made = lane.load(std::memory_order_acquire); made && !made->idle()) return true;
  return false;
}

/// Whether a timeline has come further than the app has seen.
bool CudaBackend::look_for_news() noexcept {
  bool any = false;
  for (std::uint32_t i = 0; i < wire::kMaxLanes; ++i) {
    CudaLane* const made = lanes_[i].load(std::memory_order_acquire);
    if (!made) continue;
    if (const Result<void> polled = made->poll(); !polled) {
      poisoned(polled.error());
      return false;
    }
    any |= !wire::reached(setup_.channel.status().lanes[i].seen.load(std::memory_order_seq_cst), made->now());
  }
  return any;
}

void CudaBackend::watch() noexcept {
  pthread_setname_np(pthread_self(), "troupe-watch");
  prctl(PR_SET_TIMERSLACK, 1);  // its pauses are as short as it says
  setup_.in_new_thread();
  if (const Result<void> current = context_->make_current(); !current) return poisoned(current.error());
  Clock::time_point asked = Clock::now();
  Clock::time_point spins_until = asked;
  Clock::time_point idle_since = asked;
  while (!stopping_.load(std::memory_order_acquire) && !is_poisoned_.load(std::memory_order_acquire)) {
    // As long as the app looks for itself, nobody has to ring, and looking here, too, would only be in its way.
    const bool looks = setup_.bell.listening() || setup_.completion == CompletionPolicy::polled;
    if (looks && look_for_news()) {
      setup_.bell.ring();
      spins_until = Clock::now() + kWatchSpin;
    }
    const Clock::time_point now = Clock::now();
    if (any_under_way()) {
      idle_since = now;
    } else if (now - idle_since > kIdleBeforeSleep) {
      if (setup_.bell.listening() && look_for_news()) setup_.bell.ring();  // the last of it came just now
      watcher_is_asleep_.store(true, std::memory_order_seq_cst);
      if (!any_under_way() && !stopping_.load(std::memory_order_seq_cst)) watcher_sleeps_.park();
      watcher_is_asleep_.store(false, std::memory_order_seq_cst);
      idle_since = asked = Clock::now();
      continue;
    }
    if (now - asked > kErrorPeriod) {
      look_for_errors();
      asked = now;
    }
    if (!looks)
      std::this_thread::sleep_for(kLongWatchPause);
    else if (now > spins_until)
      std::this_thread::sleep_for(kWatchPause);
    else
      relax_core();
  }
}

void CudaBackend::look_for_errors() noexcept {
  for (const auto& lane : lanes_) {
    const CudaLane* const made = lane.load(std::memory_order_acquire);
    if (!made || made->idle()) continue;
    if (const Result<void> well = made->query(); !well) return poisoned(well.error());
  }
}

void CudaBackend::poisoned(const Error& why) noexcept {
  if (!is_poisoned_.exchange(true)) setup_.poisoned(why);
}

}  // namespace troupe::cuda

#endif
