// The fences of guard mode: bytes in front of and behind each array that nobody may write. They are filled with a
// pattern before an op begins and compared after it has ended, so an op that runs over an array is told so. The app
// says with each op where they are, behind the op's own bytes in the ring; without guard mode there is nothing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "troupe/core/result.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

/// On each side of an array. An op that writes farther away than that is not noticed.
inline constexpr std::uint64_t kFenceBytes = 4096;
inline constexpr std::byte kFencePattern{0xa5};
/// The library in the origin of an error that a fence has shown.
inline constexpr std::string_view kGuardLibrary = "guard";

/// An array that an op uses, and its fences.
struct FencedArray {
  Range elements;        // all of them, also when the op uses a part
  Range with_fences;     // the same with the fences
  std::uint64_t view{};  // which of the op's views, from 0

  Range before() const noexcept { return {with_fences.begin, elements.begin}; }
  Range behind() const noexcept { return {elements.end, with_fences.end}; }
};

/// The fenced arrays of one op, as they stand in its record.
class FencedArrays {
 public:
  FencedArrays() = default;
  explicit FencedArrays(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::size_t size() const noexcept { return bytes_.size() / sizeof(FencedArray); }
  FencedArray operator[](std::size_t i) const noexcept {
    FencedArray array;
    std::memcpy(&array, bytes_.data() + i * sizeof array, sizeof array);
    return array;
  }
  /// Calls `f(range)` for each fence; one that several views share comes several times.
  template <class F>
  void for_each_fence(const F& f) const {
    for (std::size_t i = 0; i < size(); ++i) {
      f((*this)[i].before());
      f((*this)[i].behind());
    }
  }

 private:
  std::span<const std::byte> bytes_;  // not aligned
};

/// The bytes of a record with an op of so many bytes and up to so many fenced arrays.
std::size_t guarded_record_bytes(std::size_t op_bytes, std::size_t arrays) noexcept;
/// The largest of them.
inline constexpr std::size_t kMaxGuardedBytes = kMaxOpBytes + kMaxViews * sizeof(FencedArray) + 1024;
/// Writes such a record into all of `record`, which has as many bytes as `guarded_record_bytes` says, or more.
void write_guarded_record(std::span<std::byte> record, std::span<const std::byte> op,
                          std::span<const FencedArray> arrays) noexcept;
struct GuardedRecord {
  std::span<const std::byte> op;
  FencedArrays arrays;
};
/// `invalid_argument` when it is no such record.
Result<GuardedRecord> read_guarded_record(std::span<const std::byte> record);

/// How whoever compares a fence sees it; empty when it cannot be seen.
using FenceReader = std::function<std::span<const std::byte>(const Range& fence)>;
/// What the op has written outside its arrays: a `library_error` that names each array, and says what else the op ended
/// in if it has failed. None when all fences that can be seen are whole.
std::optional<Error> find_overrun(const FencedArrays& arrays, const Views& views, const Result<void>& end,
                                  const FenceReader& read);

}  // namespace troupe::inline v0::op
