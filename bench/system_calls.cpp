#include "bench/system_calls.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "bench/bench.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::bench {
namespace {

/// From now on every system call of this thread waits for whoever holds the descriptor; negative when that cannot be.
int report_system_calls_of_this_thread() {
  sock_filter report_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
  const sock_fprog program{.len = 1, .filter = report_all};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

/// Lets the system calls go on until the thread has ended; returns how many came while `counts`.
int answer(const wire::Descriptor& reports, const std::atomic<bool>& counts) {
  int counted = 0;
  for (;;) {
    pollfd ready{.fd = reports.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, -1) < 0) continue;
    if ((ready.revents & POLLIN) == 0) return counted;  // nobody is left
    seccomp_notif report{};
    if (::ioctl(reports.get(), SECCOMP_IOCTL_NOTIF_RECV, &report) != 0) continue;
    if (counts.load(std::memory_order_acquire)) ++counted;
    seccomp_notif_resp go_on{.id = report.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ::ioctl(reports.get(), SECCOMP_IOCTL_NOTIF_SEND, &go_on);
  }
}

}  // namespace

double system_calls_when_warm(const std::function<void()>& operation) {
  constexpr int kNotYet = -2;
  std::atomic<int> reports{kNotYet};
  std::atomic<bool> counts{true};
  std::jthread counted([&] {
    operation();
    const int descriptor = report_system_calls_of_this_thread();
    reports.store(descriptor, std::memory_order_release);  // no `notify_one`: that may be a system call
    if (descriptor >= 0) operation();
    counts.store(false, std::memory_order_release);
  });
  while (reports.load(std::memory_order_acquire) == kNotYet) std::this_thread::yield();
  if (reports < 0) return kNotMeasured;
  return answer(wire::Descriptor(reports), counts);
}

}  // namespace troupe::bench
