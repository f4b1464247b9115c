// The two sides of a checkpoint's file. Both wait for the disk: they are used on the thread that a system has for that
// (`in_file_thread`), by one call at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "troupe/actor/task.hpp"
#include "troupe/library/checkpoint/checksum.hpp"
#include "troupe/library/checkpoint/format.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0 {

namespace detail {
class SystemCore;
}  // namespace detail

/// Runs work that waits for a file where it holds up nobody but other such work. A task that is cut off does not stop
/// what has begun: so `work` owns what it uses.
Task<Result<void>> in_file_thread(detail::SystemCore& system, std::function<Result<void>()> work);

/// A file that takes the place of another one when it is complete, and never before. It is written beside it, under a
/// name of its own; dropping it before `finish` removes it.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Makes the file, with these bytes first.
  Result<void> begin(std::span<const std::byte> opening);
  /// The next bytes of an array. All but the last of one array come in multiples of `Checksum::kStripeBytes`.
  Result<void> append(std::span<const std::byte> bytes);
  /// After the last bytes of an array: their checksum.
  Result<void> end_array();
  /// Everything is on the disk, and the file has its name.
  Result<void> finish();

 private:
  Result<void> make_beside();
  Result<void> write(std::span<const std::byte> bytes);
  Error error(std::string_view what, int errno_value) const;

  std::string path_;
  std::string temporary_;  // empty: there is none
  wire::Descriptor file_;
  std::int64_t size_bytes_ = 0;
  Checksum sum_;
};

/// A file that was written so, whatever became of it since.
class SavedFile {
 public:
  explicit SavedFile(std::string path) : path_(std::move(path)) {}

  /// Opens the file and reads what it says of its arrays. After this its size fits them.
  Result<void> begin();
  const std::vector<SavedArray>& arrays() const noexcept { return arrays_; }
  /// The next bytes of array `index`, in the file's order; as many at a time as for `NewFile::append`.
  Result<void> read(std::size_t index, std::span<std::byte> into);
  /// After the last bytes of an array: compares their checksum.
  Result<void> end_array(std::size_t index);

 private:
  Result<void> read(std::span<std::byte> into);
  Error error(std::string_view what, int errno_value) const;
  Unexpected refuse(const Error& why) const;
  Unexpected damaged(const std::string& how) const;

  const std::string path_;
  wire::Descriptor file_;
  std::vector<SavedArray> arrays_;
  Checksum sum_;
};

}  // namespace troupe::inline v0
