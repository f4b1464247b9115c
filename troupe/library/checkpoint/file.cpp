#include "troupe/library/checkpoint/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "troupe/actor/context.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/wire/encoding.hpp"

namespace troupe::inline v0 {
namespace {

/// So many files of one name can be written at a time, or were left behind by a process that was killed.
constexpr int kMaxBeside = 64;

/// Does one piece of work, on a thread that has nothing else to do. Whoever made it stops it.
struct FileWorker {
  struct Work {
    using Reply = void;
    std::function<Result<void>()> work;
  };
  Result<void> on(const Work& m) { return m.work(); }
};

/// The thread of a system's files, made when it is first needed.
struct FileThread {
  std::mutex mutex;
  Dispatcher* dispatcher = nullptr;  // the system's
};

Result<Ref<FileWorker>> file_worker_of(detail::SystemCore& system) {
  FileThread& thread = system.extension<FileThread>();
  const std::lock_guard lock(thread.mutex);
  if (!thread.dispatcher) thread.dispatcher = TROUPE_TRY(system.pinned_thread("troupe-files", std::nullopt));
  return detail::spawn_under<FileWorker>(system, system.internals(), SpawnOptions{.dispatcher = thread.dispatcher});
}

Error file_error(const std::string& what, int errno_value) {
  ErrorKind kind = wire::kind_of_errno(errno_value);
  if (kind == ErrorKind::internal) kind = ErrorKind::library_error;
  if (errno_value == EROFS) kind = ErrorKind::invalid_argument;
  return wire::errno_error(kind, what, errno_value);
}

Result<void> check_path(std::string_view call, const std::string& path) {
  if (!path.empty() && path.find('\0') == std::string::npos) return {};
  return fail(ErrorKind::invalid_argument,
              std::string(call) + ": a path " + (path.empty() ? "must not be empty" : "has no zero bytes"));
}

}  // namespace

Task<Result<void>> in_file_thread(detail::SystemCore& system, std::function<Result<void>()> work) {
  const Result<Ref<FileWorker>> worker = file_worker_of(system);
  if (!worker) co_return fail(worker.error());
  // When this is cut off before the work begins, the actor never hears of it.
  const struct Stop {
    const Ref<FileWorker>& worker;
    ~Stop() { worker.stop(); }
  } stop{*worker};
  co_return co_await worker->ask<FileWorker::Work>(std::move(work));
}

// ---- writing ----

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Error NewFile::error(std::string_view what, int errno_value) const {
  return file_error("save: " + shown(path_) + ": " + std::string(what), errno_value);
}

Result<void> NewFile::begin(std::span<const std::byte> opening) {
  TROUPE_TRY(check_path("save", path_));
  struct stat there{};
  const bool is_there = ::stat(path_.c_str(), &there) == 0;
  if (is_there && !S_ISREG(there.st_mode))
    return fail(ErrorKind::invalid_argument, "save: " + shown(path_) + " is there, and is no regular file");
  std::error_code unknown;  // then the file has the name as it was given
  if (std::filesystem::path target = std::filesystem::canonical(path_, unknown); is_there && !unknown)
    path_ = target.string();  // where a symbolic link leads
  TROUPE_TRY(make_beside());
  if (is_there && ::fchmod(file_.get(), there.st_mode & 0777) != 0) return fail(error("fchmod", errno));
  return write(opening);
}

Result<void> NewFile::make_beside() {
  for (int i = 0; i < kMaxBeside; ++i) {
    std::string name = path_ + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    file_ = wire::Descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) return fail(error("no file can be made beside it", errno));
  }
  return fail(error("files of earlier saves lie beside it; remove " + path_ + ".new-*", EEXIST));
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  const std::int64_t begin = size_bytes_;
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error("write", errno));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_bytes_ += count;
  }
  // The disk begins now, so that nobody waits for all of the file at its end. It is only a hint.
  (void)::sync_file_range(file_.get(), begin, size_bytes_ - begin, SYNC_FILE_RANGE_WRITE);
  return {};
}

Result<void> NewFile::append(std::span<const std::byte> bytes) {
  sum_.add(bytes);
  return write(bytes);
}

Result<void> NewFile::end_array() {
  const std::uint64_t sum = std::exchange(sum_, {}).value();
  return write(std::as_bytes(std::span(&sum, 1)));
}

Result<void> NewFile::finish() {
  if (::fsync(file_.get()) != 0) return fail(error("fsync", errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail(error("rename", errno));
  temporary_.clear();
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const wire::Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return errno == EACCES ? Result<void>() : fail(error("its folder", errno));  // may be written, not read
  if (::fsync(opened.get()) != 0 && errno != EINVAL) return fail(error("fsync of its folder", errno));
  return {};
}

// ---- reading ----

Error SavedFile::error(std::string_view what, int errno_value) const {
  return file_error("load: " + shown(path_) + ": " + std::string(what), errno_value);
}

Unexpected SavedFile::refuse(const Error& why) const {
  return fail(why.kind(), "load: " + shown(path_) + " " + std::string(why.message()));
}

Unexpected SavedFile::damaged(const std::string& how) const {
  return refuse(Error(ErrorKind::invalid_argument, "is damaged: " + how));
}

Result<void> SavedFile::begin() {
  TROUPE_TRY(check_path("load", path_));
  file_ = wire::Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe is not waited for
  if (!file_) return fail(error("it cannot be opened", errno));
  struct stat opened{};
  if (::fstat(file_.get(), &opened) != 0) return fail(error("fstat", errno));
  if (!S_ISREG(opened.st_mode)) return refuse(Error(ErrorKind::invalid_argument, "is no regular file"));
  const auto size = static_cast<std::uint64_t>(opened.st_size);
  std::vector<std::byte> opening(std::min<std::uint64_t>(size, kPreambleBytes));
  TROUPE_TRY(read(opening));
  const Result<std::size_t> header = check_preamble(opening);
  if (!header) return refuse(header.error());
  if (size - kPreambleBytes < *header) return damaged("it ends within its header");
  opening.resize(kPreambleBytes + *header);
  TROUPE_TRY(read(std::span(opening).subspan(kPreambleBytes)));
  Result<std::vector<SavedArray>> arrays = decode_opening(opening);
  if (!arrays) return refuse(arrays.error());
  if (const std::uint64_t expected = file_bytes(opening.size(), *arrays); size != expected)
    return damaged("it has " + std::to_string(size) + " bytes; it must have " +
                   (expected ? std::to_string(expected) : "more than any file has"));
  arrays_ = std::move(*arrays);
  return {};
}

Result<void> SavedFile::read(std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t count = ::read(file_.get(), into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error("read", errno));
    if (count == 0) return damaged("it became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> SavedFile::read(std::size_t index, std::span<std::byte> into) {
  TROUPE_TRY(read(into));
  sum_.add(into);
  const bool is_bool = arrays_[index].dtype == DType::boolean;
  if (is_bool && std::ranges::any_of(into, [](std::byte byte) { return byte > std::byte{1}; }))
    return damaged(shown(arrays_[index].name) + " has a bool that is neither 0 nor 1");
  return {};
}

Result<void> SavedFile::end_array(std::size_t index) {
  std::uint64_t expected = 0;
  TROUPE_TRY(read(std::as_writable_bytes(std::span(&expected, 1))));
  if (std::exchange(sum_, {}).value() != expected)
    return damaged("the checksum of " + shown(arrays_[index].name) + " is wrong");
  return {};
}

}  // namespace troupe::inline v0
