#include "troupe/wire/descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace troupe::inline v0::wire {
namespace {

std::string too_few_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return "; this process has too few descriptors: its limit RLIMIT_NOFILE is " + std::to_string(limit.rlim_cur);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

void Descriptor::reset() noexcept {
  if (number_ >= 0) close(release());  // also after EINTR the number is free: closing again would hit a stranger's
}

Result<Descriptor> Descriptor::duplicate() const {
  const int copy = fcntl(number_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return fail(errno_error("duplicating descriptor " + std::to_string(number_), errno));
  return Descriptor(copy);
}

Error errno_error(ErrorKind kind, std::string_view what, int errno_value) {
  const char* name = strerrorname_np(errno_value);
  const char* sentence = strerrordesc_np(errno_value);
  std::string message(what);
  message += ": ";
  message += sentence ? sentence : "unknown error";
  message += " (" + (name ? std::string(name) : std::to_string(errno_value)) + ")";
  if (errno_value == EMFILE) message += too_few_descriptors();
  return Error(kind, std::move(message), ErrorOrigin{.library = "linux", .native_code = errno_value, .op = {}});
}

Error errno_error(std::string_view what, int errno_value) {
  return errno_error(kind_of_errno(errno_value), what, errno_value);
}

ErrorKind kind_of_errno(int errno_value) noexcept {
  switch (errno_value) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOBUFS:
    case ETOOMANYREFS:
    case EAGAIN: return ErrorKind::out_of_memory;  // where something is created: a limit of processes or locked memory
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENOEXEC:
    case ELOOP:
    case ENAMETOOLONG:
    case E2BIG:
    case EACCES:
    case EPERM: return ErrorKind::invalid_argument;
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
    case ENOTCONN:
    case ESRCH: return ErrorKind::stopped;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorKind::unsupported;
    case ETIMEDOUT: return ErrorKind::timeout;
    default: return ErrorKind::internal;
  }
}

}  // namespace troupe::inline v0::wire
