// A few threads that copy ordinary memory: one core moves about 10 GB/s, and a GPU takes five times that. They sleep
// until there is something large to copy.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::inline v0 {

class CopyTeam {
 public:
  /// As many threads as help on this machine: half of its cores, and no more than 8.
  static unsigned usual_helpers() noexcept;

  explicit CopyTeam(unsigned helpers = usual_helpers());
  ~CopyTeam();
  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;

  /// Calls `piece(i)` for every i below `count`, on several threads, the calling one among them, and returns when all
  /// have returned. Pieces begin in their order. A caller that comes while another is served does its pieces alone.
  void run(std::size_t count, const std::function<void(std::size_t)>& piece);
  /// `memcpy` by all threads together.
  void copy(void* to, const void* from, std::size_t size_bytes);

 private:
  struct Job {
    const std::function<void(std::size_t)>& piece;
    const std::size_t count;
    std::atomic<std::size_t> next{0};
    int helpers = 0;  // working on it now
    void work() {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) piece(i);
    }
  };
  void help();

  std::mutex serving_;  // held by the caller that is served
  std::mutex mutex_;    // of what follows
  std::condition_variable changed_;
  Job* job_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace troupe::inline v0
