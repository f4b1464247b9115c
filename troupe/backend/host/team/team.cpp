#include "troupe/backend/host/team/team.hpp"

#include <pthread.h>

#include <algorithm>
#include <string>

#include "troupe/core/assert.hpp"

namespace troupe::host {
namespace {

/// This thread runs a block: what it starts in there it does alone.
constinit thread_local bool is_in_block = false;

}  // namespace

Team::Team(int size, std::function<void()> in_new_thread) : size_(size), in_new_thread_(std::move(in_new_thread)) {
  TROUPE_ASSERT(size >= 1, "a team has at least its caller");
}

Team& Team::of_one() {
  static auto* const kOne = new Team(1);  // never destroyed: a lane may still compute while the process ends
  return *kOne;
}

Team::~Team() {
  TROUPE_ASSERT(fork_mark_.is_forked() || taken_.load(std::memory_order_acquire) == 0, "nobody is in a run");
  if (!helpers_) return;
  if (fork_mark_.is_forked()) {
    detail::leave_in_fork(helpers_.release());
    return;
  }
  stopping_.store(true, std::memory_order_seq_cst);
  for (int i = 0; i < threads(); ++i) {
    helpers_[static_cast<std::size_t>(i)].parker.unpark();
    helpers_[static_cast<std::size_t>(i)].thread.join();
  }
}

void Team::start() noexcept {
  const std::unique_lock lock(starting_, std::try_to_lock);
  if (!lock || has_started_.load(std::memory_order_relaxed)) return;
  try {
    helpers_ = std::make_unique<Helper[]>(static_cast<std::size_t>(size_ - 1));
    for (int i = 0; i < size_ - 1; ++i) {
      helpers_[static_cast<std::size_t>(i)].thread = std::thread([this, i] { help(i); });
      started_.store(i + 1, std::memory_order_release);
    }
  } catch (...) {
    // Goes on with the threads that it has: callers work, too.
  }
  has_started_.store(true, std::memory_order_release);
}

int Team::take_place() noexcept {
  std::uint32_t taken = taken_.load(std::memory_order_relaxed);
  for (;;) {
    const int free = std::countr_one(taken);
    if (free >= kPlaces) return -1;
    if (taken_.compare_exchange_weak(taken, taken | 1U << free, std::memory_order_acquire, std::memory_order_relaxed))
      return free;
  }
}

void Team::run_call(std::int64_t blocks, CallBlock call, const void* work) noexcept {
  const bool is_alone = size_ == 1 || is_in_block || fork_mark_.is_forked();
  if (!is_alone && !has_started_.load(std::memory_order_acquire)) start();
  const int number = is_alone || threads() == 0 ? -1 : take_place();
  if (number >= 0) return run_together(number, blocks, call, work);
  for (std::int64_t i = 0; i < blocks; ++i) call(work, i);
}

void Team::run_together(int number, std::int64_t blocks, CallBlock call, const void* work) noexcept {
  Place& place = places_[static_cast<std::size_t>(number)];
  const std::uint32_t bit = 1U << number;
  place.call = call;
  place.work = work;
  place.blocks = blocks;
  place.has_note = backend::op_noted(place.note);
  place.unfinished.store(blocks, std::memory_order_relaxed);
  place.untaken.store(blocks, std::memory_order_release);
  // First the run is opened, then looked for sleepers. Who goes to sleep does the same in the opposite order (`sleep`),
  // so one of the two sees the other.
  open_.fetch_or(bit, std::memory_order_seq_cst);
  wake(static_cast<int>(std::min<std::int64_t>(kWakes, blocks - 1)));

  is_in_block = true;
  for (std::int64_t block; (block = take_block(place)) >= 0;) {
    call(work, block);
    place.unfinished.fetch_sub(1, std::memory_order_relaxed);
  }
  is_in_block = false;

  // One thread less is at work from here on: another one may be, if there are more runs.
  if ((open_.fetch_and(~bit, std::memory_order_seq_cst) & ~bit) != 0) wake(1);
  const auto is_done = [&] { return place.unfinished.load(std::memory_order_acquire) == 0; };
  if (!spin_until(is_done))
    while (!is_done()) place.caller.park();
  taken_.fetch_and(~bit, std::memory_order_release);
}

/// The block's number; -1 when all are taken. Acquires what the caller wrote before it opened the run: whatever changed
/// `untaken` since then only lowered it.
std::int64_t Team::take_block(Place& place) noexcept {
  std::int64_t untaken = place.untaken.load(std::memory_order_relaxed);
  while (untaken > 0)
    if (place.untaken.compare_exchange_weak(untaken, untaken - 1, std::memory_order_acquire, std::memory_order_relaxed))
      return place.blocks - untaken;
  return -1;
}

void Team::wake(int most) noexcept {
  const int all = threads();
  for (int i = 0; i < all && most > 0 && sleepers_.load(std::memory_order_seq_cst) > 0; ++i) {
    if (!is_wanted(i, open_.load(std::memory_order_seq_cst))) return;
    Helper& helper = helpers_[static_cast<std::size_t>(i)];
    if (!helper.sleeps.load(std::memory_order_seq_cst) || !get_up(helper)) continue;
    helper.parker.unpark();
    --most;
  }
}

/// True for the one who ends this sleep.
bool Team::get_up(Helper& helper) noexcept {
  if (!helper.sleeps.exchange(false, std::memory_order_seq_cst)) return false;
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  return true;
}

bool Team::has_work(int number) const noexcept {
  const std::uint32_t open = open_.load(std::memory_order_seq_cst);
  if (!is_wanted(number, open)) return false;
  for (std::uint32_t left = open; left != 0; left &= left - 1)
    if (places_[static_cast<std::size_t>(std::countr_zero(left))].untaken.load(std::memory_order_relaxed) > 0)
      return true;
  return false;
}

void Team::help(int number) noexcept {
  pthread_setname_np(pthread_self(), ("team-" + std::to_string(number)).c_str());
  in_new_thread_();
  is_in_block = true;
  const auto is_called = [&] { return has_work(number) || stopping_.load(std::memory_order_seq_cst); };
  Helper& self = helpers_[static_cast<std::size_t>(number)];
  while (!stopping_.load(std::memory_order_seq_cst)) {
    if (help_with_all(number) || spin_until(is_called)) continue;
    self.sleeps.store(true, std::memory_order_seq_cst);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!is_called()) self.parker.park();
    get_up(self);
  }
}

/// Works until there is nothing left to take, or nothing for this thread. False when there was nothing.
bool Team::help_with_all(int number) noexcept {
  bool has_helped = false;
  for (;;) {
    const std::uint32_t open = open_.load(std::memory_order_acquire);
    if (!is_wanted(number, open)) return has_helped;
    std::uint32_t left = open;
    std::int64_t block = -1;
    Place* place = nullptr;
    for (; left != 0 && block < 0; left &= left - 1) {
      place = &places_[static_cast<std::size_t>(std::countr_zero(left))];
      block = take_block(*place);
    }
    if (block < 0) return has_helped;
    if (!has_helped) wake(static_cast<int>(std::min<std::int64_t>(kWakes, place->blocks - block - 1)));
    has_helped = true;
    help_with(*place, block);
  }
}

void Team::help_with(Place& place, std::int64_t block) noexcept {
  if (place.has_note) backend::at_static_op(place.note.lane, place.note.ticket, place.note.name);
  place.call(place.work, block);
  backend::at_no_op();
  if (place.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) place.caller.unpark();
}

}  // namespace troupe::host
