#include "troupe/device/copy_team.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace troupe::inline v0 {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

unsigned CopyTeam::usual_helpers() noexcept { return std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U); }

CopyTeam::CopyTeam(unsigned helpers) {
  try {
    for (unsigned i = 0; i < helpers; ++i) {
      helpers_.emplace_back([this] { help(); });
      pthread_setname_np(helpers_.back().native_handle(), "troupe-copy");
    }
  } catch (const std::system_error&) {
    // Goes on with the threads that it has: the caller works, too.
  }
}

CopyTeam::~CopyTeam() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void CopyTeam::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || job_; });
    if (stopping_) return;
    Job& job = *job_;
    ++job.helpers;
    lock.unlock();
    job.work();
    lock.lock();
    --job.helpers;
    if (job_ == &job) job_ = nullptr;  // there is nothing left to begin
    changed_.notify_all();
  }
}

void CopyTeam::run(std::size_t count, const std::function<void(std::size_t)>& piece) {
  Job job{.piece = piece, .count = count};
  const std::unique_lock serving(serving_, std::try_to_lock);
  if (!serving) return job.work();
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
  }
  changed_.notify_all();
  job.work();
  std::unique_lock lock(mutex_);
  job_ = nullptr;
  changed_.wait(lock, [&] { return job.helpers == 0; });
}

void CopyTeam::copy(void* to, const void* from, std::size_t size_bytes) {
  if (size_bytes <= kPieceBytes) {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
    return;
  }
  run((size_bytes + kPieceBytes - 1) / kPieceBytes, [&](std::size_t i) {
    const std::size_t begin = i * kPieceBytes;
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                std::min(kPieceBytes, size_bytes - begin));
  });
}

}  // namespace troupe::inline v0
